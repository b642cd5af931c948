package localprotocol

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/store"
)

// someDuration is in milliseconds: what a wire in seconds as doubles carries exactly enough.
func someDuration(t *rapid.T, name string) time.Duration {
	return time.Duration(rapid.Int64Range(0, 1e9).Draw(t, name)) * time.Millisecond
}

func someCount(t *rapid.T, name string) uint64 {
	return rapid.Uint64Range(0, maxCount).Draw(t, name)
}

func someSetting(t *rapid.T) store.Setting {
	setting := store.Setting{Name: rapid.SampledFrom(store.SettingNames()).Draw(t, "setting")}
	if setting.Name.HasNumber() {
		setting.Number = float64(rapid.IntRange(1, 1e15).Draw(t, "number"))
	}
	if setting.Name.HasText() {
		setting.Text = rapid.StringMatching(`[a-z]{1,20}`).Draw(t, "text")
	}
	return setting
}

func someScope(t *rapid.T) string {
	return rapid.StringMatching(`[a-zA-Zµ" \\/]{0,20}`).Draw(t, "scope")
}

func someKind(t *rapid.T) store.Kind {
	return rapid.SampledFrom(store.Kinds()).Draw(t, "kind")
}

func someSnapshot(t *rapid.T) store.Snapshot {
	return store.Snapshot{
		Tasks: rapid.SliceOf(rapid.Custom(func(t *rapid.T) store.Task {
			return store.Task{
				ID: rapid.StringMatching(`[a-z0-9]{1,9}`).Draw(t, "id"), Kind: someKind(t), Scope: someScope(t),
				State:              rapid.SampledFrom(store.States()).Draw(t, "state"),
				Phase:              rapid.StringMatching(`[a-z]{0,9}`).Draw(t, "phase"),
				BytesDone:          someCount(t, "done"),
				BytesTotal:         someCount(t, "total"),
				RateBytesPerSecond: rapid.Float64Range(0, 1e12).Draw(t, "rate"),
				Throttled:          someDuration(t, "throttled"),
				Age:                someDuration(t, "age"),
			}
		})).Draw(t, "tasks"),
		Debts: rapid.SliceOf(rapid.Custom(func(t *rapid.T) store.Debt {
			debt := store.Debt{
				Kind: someKind(t), Scope: someScope(t), Bytes: someCount(t, "bytes"),
				TriggerBytes: someCount(t, "trigger"), LimitBytes: someCount(t, "limit"), Files: someCount(t, "files"),
				EstimatedRecovery: unknownRecovery,
			}
			if rapid.Bool().Draw(t, "known") {
				debt.EstimatedRecovery = someDuration(t, "recovery")
			}
			return debt
		})).Draw(t, "debts"),
		Leases: rapid.SliceOf(rapid.Custom(func(t *rapid.T) store.Lease {
			return store.Lease{
				Kind: someKind(t), Scope: someScope(t), Setting: someSetting(t), Owner: "o",
				TimeLeft: someDuration(t, "left"),
			}
		})).Draw(t, "leases"),
		Latencies:      rapid.SliceOf(rapid.Custom(someLatency)).Draw(t, "latencies"),
		ScopeLatencies: someScopeLatencies(t),
		Figures:        rapid.MapOf(rapid.StringMatching(`[a-z][a-z_]{0,9}`), rapid.Float64Range(-1e12, 1e12)).Draw(t, "figures"),
	}
}

func someLatency(t *rapid.T) store.Latency {
	return store.Latency{
		Class: "read", Age: someDuration(t, "age"), Interval: someDuration(t, "interval"),
		Count: someCount(t, "count"), Errors: someCount(t, "errors"),
		Mean: someDuration(t, "mean"), P50: someDuration(t, "p50"), P99: someDuration(t, "p99"),
		P999: someDuration(t, "p999"), Max: someDuration(t, "max"),
	}
}

// someScopeLatencies is nil for none, as they are left out then.
func someScopeLatencies(t *rapid.T) []store.ScopeLatency {
	made := rapid.SliceOf(rapid.Custom(func(t *rapid.T) store.ScopeLatency {
		return store.ScopeLatency{Scope: someScope(t), Latency: someLatency(t)}
	})).Draw(t, "scope latencies")
	if len(made) == 0 {
		return nil
	}
	return made
}

// nearly rounds what a double in seconds loses of nanoseconds.
func nearly(snapshot store.Snapshot) store.Snapshot {
	value := reflect.ValueOf(&snapshot).Elem()
	roundDurations(value)
	return snapshot
}

func roundDurations(value reflect.Value) {
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type() != reflect.TypeFor[time.Time]() {
				roundDurations(value.Field(i))
			}
		}
	case reflect.Slice:
		for i := range value.Len() {
			roundDurations(value.Index(i))
		}
	case reflect.Int64:
		if value.Type() == reflect.TypeFor[time.Duration]() {
			value.SetInt(int64(time.Duration(value.Int()).Round(time.Microsecond)))
		}
	}
}

// Every snapshot is valid by its schema on the wire, and the same after it.
func TestSnapshotsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := someSnapshot(t)
		text, err := json.Marshal(newSnapshotResult(want))
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate("snapshot-result", text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var result map[string]any
		if err := json.Unmarshal(text, &result); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		read, err := readResult(methodSnapshot, result, readSnapshot)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := nearly(read); !reflect.DeepEqual(got, want) {
			t.Fatalf("\n%+v became\n%+v", want, got)
		}
	})
}

// Every valid order is valid by its schema on the wire, and the same after it.
func TestOrdersSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := store.Order{
			Kind: someKind(t), Scope: someScope(t), Setting: someSetting(t), Owner: "policy/µ",
			TimeToLive: someDuration(t, "time to live") + time.Millisecond,
			Replace:    rapid.Bool().Draw(t, "replace"),
		}
		method := rapid.SampledFrom([]string{methodSet, methodStart}).Draw(t, "method")
		if method == methodStart && rapid.Bool().Draw(t, "without a setting") {
			want.Setting = store.Setting{}
		}
		if want.TimeToLive > 1e9*time.Second {
			return
		}
		text, err := json.Marshal(newOrderParams(want))
		if err != nil {
			t.Fatal(err)
		}
		params, err := readParams[orderParams](method, text)
		if err != nil {
			t.Fatal(err)
		}
		got := params.order()
		got.TimeToLive = got.TimeToLive.Round(time.Microsecond)
		if got != want {
			t.Fatalf("%+v became %+v", want, got)
		}
	})
}

func TestEmptySnapshotIsValid(t *testing.T) {
	text, err := json.Marshal(newSnapshotResult(store.Snapshot{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate("snapshot-result", text); err != nil {
		t.Errorf("%s: %v", text, err)
	}
}

func TestCodesHaveNumbers(t *testing.T) {
	codes := []store.Code{
		store.CodeInvalid, store.CodeUnsupported, store.CodeConflict, store.CodeRefused, store.CodeNotFound,
		store.CodeUnavailable, store.CodeForbidden, store.CodeIncompatible,
	}
	numbers := map[Number]store.Code{}
	for _, code := range codes {
		number := NumberOf(code)
		if other, taken := numbers[number]; taken {
			t.Errorf("%q and %q have the same number %d", code, other, number)
		}
		numbers[number] = code
		if got := number.Code(); got != code {
			t.Errorf("the number of %q stands for %q", code, got)
		}
		failure := errorFrom(store.Errorf(code, "message").WithHint("hint"))
		if got := failure.StoreError(); got.Code != code || got.Message != "message" || got.Hint != "hint" {
			t.Errorf("%q became %+v", code, got)
		}
	}
}
