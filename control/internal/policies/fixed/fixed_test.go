package fixed_test

import (
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/policies/fixed"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func parameters(change func(given, window map[string]any)) map[string]any {
	window := map[string]any{"days": []any{"fri"}, "from": "22:00", "to": "06:00", "setting": "rate_bytes_per_second=5e6"}
	given := map[string]any{"time_zone": "Europe/Berlin", "windows": []any{window}}
	change(given, window)
	return given
}

func asIs(_, _ map[string]any) {}

func target() policy.Target {
	return policy.Target{
		Ref: policy.Ref{Node: "n", Store: "postgres", Instance: "main"}, Kind: store.Checkpoint, Fresh: true,
		Description: store.Description{Capabilities: []store.Capability{{
			Kind: store.Checkpoint, Settings: []store.SettingName{store.RateBytesPerSecond, store.Hold},
		}}},
	}
}

func made(t *testing.T, given map[string]any) policy.Policy {
	t.Helper()
	built, err := fixed.New(given)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func at(t *testing.T, text string) policy.View {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return policy.View{WallClock: moment}
}

func TestWindowOverMidnightBelongsToTheDayOnWhichItBegins(t *testing.T) {
	built := made(t, parameters(asIs))
	for moment, isInside := range map[string]bool{
		"2026-01-02T20:59:59Z": false, // Friday, 21:59:59
		"2026-01-02T21:00:00Z": true,
		"2026-01-03T04:59:59Z": true, // Saturday, 05:59:59
		"2026-01-03T05:00:00Z": false,
		"2026-01-03T21:00:00Z": false, // Saturday night
		"2026-01-02T04:00:00Z": false, // the night from Thursday
	} {
		decision, _ := built.Decide(at(t, moment), target(), nil)
		if isInside != (decision.Setting != nil) {
			t.Errorf("at %s: %v", moment, decision.Reason)
		}
	}
}

func TestWindowFollowsTheClockOnTheWallThroughSummerTime(t *testing.T) {
	built := made(t, parameters(func(given, window map[string]any) {
		delete(window, "days")
		window["from"], window["to"] = "02:00", "03:00"
	}))
	inside := func(day string, hours int) int {
		view, count := at(t, day), 0
		for range hours * 60 {
			if decision, _ := built.Decide(view, target(), nil); decision.Setting != nil {
				count++
			}
			view.WallClock = view.WallClock.Add(time.Minute)
		}
		return count
	}
	for day, want := range map[string]int{
		"2026-03-28T12:00:00Z": 0,   // the night in which the hour is skipped
		"2026-06-01T12:00:00Z": 60,  // any other night
		"2026-10-24T12:00:00Z": 120, // the night in which the hour comes twice
	} {
		if got := inside(day, 24); got != want {
			t.Errorf("after %s the window held for %d minutes, want %d", day, got, want)
		}
	}
}

func TestFirstWindowCountsAndDefaultFillsTheRest(t *testing.T) {
	built := made(t, parameters(func(given, window map[string]any) {
		given["default_setting"] = "rate_bytes_per_second=1e6"
		given["windows"] = []any{
			map[string]any{"from": "10:00", "to": "12:00", "setting": "hold"}, window,
			map[string]any{"from": "11:00", "to": "13:00", "setting": "rate_bytes_per_second=2e6"},
		}
	}))
	for moment, want := range map[string]string{
		"2026-01-05T10:30:00Z": "hold", // 11:30
		"2026-01-05T11:30:00Z": "rate_bytes_per_second=2e+06",
		"2026-01-05T12:30:00Z": "rate_bytes_per_second=1e+06",
	} {
		decision, _ := built.Decide(at(t, moment), target(), nil)
		if decision.Setting == nil || decision.Setting.String() != want || decision.Verdict != policy.Change {
			t.Errorf("at %s: %+v, want %s", moment, decision, want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	built := made(t, parameters(asIs))
	leased := target()
	leased.Lease = &store.Lease{Setting: store.Setting{Name: store.RateBytesPerSecond, Number: 5e6}}
	stale := target()
	stale.Fresh, stale.Missing = false, "no snapshot"
	incapable := target()
	incapable.Description = store.Description{}
	const night, day = "2026-01-02T22:00:00Z", "2026-01-02T12:00:00Z"
	for name, test := range map[string]struct {
		moment  string
		target  policy.Target
		verdict policy.Verdict
		reason  string
	}{
		"inside":                {night, target(), policy.Change, "fri 23:00 Europe/Berlin is in the window from 22:00 to 06:00"},
		"inside, with a lease":  {night, leased, policy.Keep, "is in the window"},
		"outside, with a lease": {day, leased, policy.Stop, "outside of all windows"},
		"outside":               {day, target(), policy.Keep, "outside of all windows"},
		"stale":                 {night, stale, policy.Stop, "no snapshot"},
		"not supported":         {night, incapable, policy.Stop, "cannot set rate_bytes_per_second of checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			decision, _ := built.Decide(at(t, test.moment), test.target, nil)
			if decision.Verdict != test.verdict || !strings.Contains(decision.Reason, test.reason) {
				t.Errorf("got %s: %s", decision.Verdict, decision.Reason)
			}
		})
	}
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		change func(given, window map[string]any)
		want   string
	}{
		"unknown zone":    {func(given, _ map[string]any) { given["time_zone"] = "Berlin" }, `"Berlin" is not known`},
		"the node's zone": {func(given, _ map[string]any) { given["time_zone"] = "Local" }, "Give an IANA name"},
		"no windows":      {func(given, _ map[string]any) { delete(given, "windows") }, "windows is missing"},
		"unknown day":     {func(_, window map[string]any) { window["days"] = []any{"friday"} }, `cannot be "friday"`},
		"no day":          {func(_, window map[string]any) { window["days"] = []any{} }, "days is empty"},
		"no time":         {func(_, window map[string]any) { window["from"] = "25:00" }, "from is no time of day"},
		"short time":      {func(_, window map[string]any) { window["to"] = "6:00" }, "to is no time of day"},
		"unknown key":     {func(_, window map[string]any) { window["until"] = "x" }, `windows[0]: the parameter "until"`},
		"no setting":      {func(_, window map[string]any) { window["setting"] = "fast" }, `"fast" is not known`},
		"no pace":         {func(_, window map[string]any) { window["setting"] = "concurrency=2" }, "concurrency, which is no pace"},
		"default no pace": {func(given, _ map[string]any) { given["default_setting"] = "tier=ssd" }, "default_setting is tier"},
		"default unknown": {func(given, _ map[string]any) { given["default_setting"] = "?" }, "default_setting: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fixed.New(parameters(test.change))
			if err == nil || !strings.Contains(err.Error(), test.want) || store.CodeOf(err) != store.CodeInvalid {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// PostgreSQL has whole bytes and microseconds: what it has rounded is no other setting.
func TestSettingThatAStoreRoundsIsKept(t *testing.T) {
	for text, kept := range map[string]store.Setting{
		"rate_bytes_per_second=1234567.8": {Name: store.RateBytesPerSecond, Number: 1234568},
		"duration_seconds=33.3333333333":  {Name: store.DurationSeconds, Number: 33.333333},
	} {
		built := made(t, parameters(func(given, _ map[string]any) { given["default_setting"] = text }))
		given := target()
		given.Description.Capabilities[0].Settings = store.SettingNames()
		given.Lease = &store.Lease{Setting: kept}
		if decision, _ := built.Decide(at(t, "2026-01-01T12:00:00Z"), given, nil); decision.Verdict != policy.Keep {
			t.Errorf("with %s and a lease of %s the decision is %s of %v", text, kept, decision.Verdict, decision.Setting)
		}
	}
}
