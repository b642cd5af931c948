package quantity_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/store"
)

func TestParseSetting(t *testing.T) {
	for text, want := range map[string]store.Setting{
		"hold":                              {Name: store.Hold},
		"rate_bytes_per_second=6MB":         {Name: store.RateBytesPerSecond, Number: 6e6},
		"rate_bytes_per_second=6MB/s":       {Name: store.RateBytesPerSecond, Number: 6e6},
		"rate_bytes_per_second=500kB":       {Name: store.RateBytesPerSecond, Number: 5e5},
		"rate_bytes_per_second=1.5GB/s":     {Name: store.RateBytesPerSecond, Number: 1.5e9},
		"rate_bytes_per_second=6e6":         {Name: store.RateBytesPerSecond, Number: 6e6},
		"rate_bytes_per_second=6000000":     {Name: store.RateBytesPerSecond, Number: 6e6},
		"rate_bytes_per_second=7B":          {Name: store.RateBytesPerSecond, Number: 7},
		"defer_until_debt_bytes=200MB":      {Name: store.DeferUntilDebtBytes, Number: 2e8},
		"duration_seconds=2s":               {Name: store.DurationSeconds, Number: 2},
		"duration_seconds=1m30s":            {Name: store.DurationSeconds, Number: 90},
		"duration_seconds=250ms":            {Name: store.DurationSeconds, Number: 0.25},
		"sync_gap_seconds=0":                {Name: store.SyncGapSeconds},
		"concurrency=3":                     {Name: store.Concurrency, Number: 3},
		"tier=ssd":                          {Name: store.Tier, Text: "ssd"},
		"reserved_bytes=1PB":                {Name: store.ReservedBytes, Number: 1e15},
		"defer_until_debt_bytes=1.000001TB": {Name: store.DeferUntilDebtBytes, Number: 1.000001e12},
	} {
		got, err := quantity.ParseSetting(text)
		if err != nil || got != want {
			t.Errorf("ParseSetting(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseSettingRefusesAndSaysWhatToWrite(t *testing.T) {
	for text, wantHint := range map[string]string{
		"rate_bytes_per_second=6MiB":  "6MB",
		"rate_bytes_per_second=6mb":   "6MB",
		"rate_bytes_per_second=6M":    "6MB",
		"rate_bytes_per_second=-6MB":  "6MB",
		"rate_bytes_per_second=NaN":   "6MB",
		"rate_bytes_per_second=infB":  "6MB",
		"rate_bytes_per_second=":      "6MB",
		"rate_bytes_per_second=1s":    "6MB",
		"defer_until_debt_bytes=6B/s": "200MB",
		"duration_seconds=2 s":        "1.5s",
		"duration_seconds=6MB":        "1.5s",
		"duration_seconds=-2s":        "1.5s",
		"concurrency=2B":              "2",
		"glide":                       "Known settings: added_bytes",
	} {
		_, err := quantity.ParseSetting(text)
		var failure *store.Error
		if !errors.As(err, &failure) {
			t.Errorf("ParseSetting(%q) gives %v, want a *store.Error", text, err)
			continue
		}
		if failure.Code != store.CodeInvalid || !strings.Contains(failure.Hint, wantHint) {
			t.Errorf("ParseSetting(%q) gives code %s and hint %q, want a hint with %q",
				text, failure.Code, failure.Hint, wantHint)
		}
	}
}

func TestFormatBytes(t *testing.T) {
	for number, want := range map[float64]string{
		0: "0B", 0.4: "0B", 1: "1B", 999: "999B", 999.6: "1kB", 1000: "1kB", 1234: "1.23kB", 999_499: "999kB",
		999_999: "1MB", 6e6: "6MB", 1.5e9: "1.5GB", 2e12: "2TB", 3e15: "3PB", 3e19: "30000PB",
		-1: "?", math.Inf(1): "?",
	} {
		if got := quantity.FormatBytes(number); got != want {
			t.Errorf("FormatBytes(%v) = %q, want %q", number, got, want)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for duration, want := range map[time.Duration]string{
		0:                                   "0s",
		7:                                   "7ns",
		350 * time.Microsecond:              "350us",
		12_530 * time.Microsecond:           "12.5ms",
		999_900 * time.Microsecond:          "1s",
		4249 * time.Millisecond:             "4.2s",
		59 * time.Second:                    "59s",
		59_960 * time.Millisecond:           "1m0s",
		125 * time.Second:                   "2m5s",
		3*time.Hour + 20*time.Minute:        "3h20m",
		52 * time.Hour:                      "2d4h",
		-2 * time.Second:                    "-2s",
		time.Duration(math.MinInt64):        "-106751d23h",
		24*time.Hour - 600*time.Millisecond: "23h59m",
	} {
		if got := quantity.FormatDuration(duration); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", duration, got, want)
		}
	}
}

func TestFormatShare(t *testing.T) {
	for share, want := range map[float64]string{0: "0%", 0.424: "42%", 1: "100%", 12.5: "1250%", math.Inf(1): "?"} {
		if got := quantity.FormatShare(share); got != want {
			t.Errorf("FormatShare(%v) = %q, want %q", share, got, want)
		}
	}
}

// What is shown can be given to `sluice set` again, and means the same within the digits that are shown.
func TestFormattedSettingsAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(store.SettingNames()).Draw(t, "name")
		setting := store.Setting{Name: name}
		switch {
		case name.HasNumber():
			setting.Number = math.Pow(10, rapid.Float64Range(0, 9).Draw(t, "exponent"))
		case name.HasText():
			setting.Text = "ssd"
		}
		got, err := quantity.ParseSetting(quantity.FormatSetting(setting))
		if err != nil {
			t.Fatalf("%q is not read: %v", quantity.FormatSetting(setting), err)
		}
		if got.Name != name || got.Text != setting.Text || math.Abs(got.Number-setting.Number) > 0.01*setting.Number {
			t.Fatalf("%v is shown as %q, which is read as %v", setting, quantity.FormatSetting(setting), got)
		}
	})
}

func FuzzParseSetting(f *testing.F) {
	for _, text := range []string{"hold", "rate_bytes_per_second=6MB/s", "duration_seconds=1m30s", "tier=ssd", "x=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		setting, err := quantity.ParseSetting(text)
		if err != nil {
			if store.CodeOf(err) != store.CodeInvalid {
				t.Fatalf("%q gives code %s: %v", text, store.CodeOf(err), err)
			}
			return
		}
		if err := setting.Validate(); err != nil {
			t.Fatalf("%q is read as %v, which is not valid: %v", text, setting, err)
		}
	})
}
