package store_test

import (
	"testing"

	"sluice.dev/control/internal/store"
)

func TestParsedSettingsAreAsPreciseAsStoresKeepThem(t *testing.T) {
	for text, want := range map[string]float64{
		"rate_bytes_per_second=1234567.8":   1234568,
		"rate_bytes_per_second=1.2":         1,
		"rate_bytes_per_second=1e300":       1e300,
		"defer_until_debt_bytes=1000.4":     1000,
		"reserved_bytes=0.4":                0,
		"duration_seconds=0.12345678":       0.123457,
		"duration_seconds=90":               90,
		"duration_seconds=1e308":            1e308,
		"sync_gap_seconds=0.3":              0.3,
		"redirect_step_ratio=0.12345678":    0.12345678,
		"redirect_queue_requests=1.2345678": 1.2345678,
	} {
		got, err := store.ParseSetting(text)
		if err != nil || got.Number != want {
			t.Errorf("%s is read as %v, %v; want the number %v", text, got, err, want)
		}
	}
	if got, err := store.ParseSetting("rate_bytes_per_second=0.9"); err == nil {
		t.Errorf("less than a byte a second is read as %v", got)
	}
}
