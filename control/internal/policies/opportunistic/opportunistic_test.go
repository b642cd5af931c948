package opportunistic_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/policies/opportunistic"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const megabyte = 1e6

func made(t *testing.T, more map[string]any) policy.Policy {
	t.Helper()
	given := map[string]any{
		"device": "sda", "capacity_bytes_per_second": 100 * megabyte, "ceiling_bytes_per_second": 60 * megabyte,
		"raise_share": 1, "floor_bytes_per_second": 2 * megabyte,
	}
	for name, value := range more {
		given[name] = value
	}
	built, err := opportunistic.New(given)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// writing is a target whose device writes so many MB/s, of which the running task writes some.
func writing(device, task float64) policy.Target {
	return policy.Target{
		Ref: policy.Ref{Node: "n", Store: "rocksdb", Instance: "main"}, Kind: store.Compaction, Fresh: true,
		Description: store.Description{Capabilities: []store.Capability{{
			Kind: store.Compaction, Settings: []store.SettingName{store.RateBytesPerSecond, store.Hold},
		}}},
		Snapshot: store.Snapshot{Tasks: []store.Task{{
			Kind: store.Compaction, State: store.Running, RateBytesPerSecond: task * megabyte,
		}}},
		NodeSignals: policy.NodeSignals{
			CPUPressure: -1, IOPressure: -1, MemoryPressure: -1,
			Devices: []policy.DeviceSignals{{Name: "sdb"}, {Name: "sda", WriteBytesPerSecond: device * megabyte}},
		},
	}
}

// rateOf is the decided rate in MB/s, 0 for a hold, -1 for none.
func rateOf(decision policy.Decision) float64 {
	if decision.Setting == nil {
		return -1
	}
	return decision.Setting.Number / megabyte
}

func TestBackgroundGetsWhatTheForegroundLeaves(t *testing.T) {
	for name, test := range map[string]struct {
		more   map[string]any
		change func(*policy.Target)
		device float64
		task   float64
		want   float64
	}{
		"capacity less headroom less foreground": {device: 50, task: 10, want: 40},
		"more task than device":                  {device: 10, task: 30, want: 60},
		"the ceiling":                            {device: 0, task: 0, want: 60},
		"nothing is left":                        {device: 90, task: 0, want: 0},
		"less than the floor is left":            {device: 79, task: 0, want: 0},
		"no hold allowed":                        {more: map[string]any{"may_hold": false}, device: 90, task: 0, want: 2},
		"wider headroom":                         {more: map[string]any{"headroom_share": 0.5}, device: 30, want: 20},
		"half of a limit takes nothing": {device: 40, want: 40, change: func(target *policy.Target) {
			target.NodeSignals.Devices[1].InFlight = 32
		}},
		"beyond half of a limit": {device: 40, want: 20, change: func(target *policy.Target) {
			target.NodeSignals.Devices[1].InFlight = 48
		}},
		"the worst signal counts": {device: 40, want: 10, change: func(target *policy.Target) {
			target.NodeSignals.IOPressure = 0.7
			target.NodeSignals.CPUUsed = 0.75
		}},
		"a limit is reached": {device: 40, want: 0, change: func(target *policy.Target) {
			target.NodeSignals.CPUUsed = 1
		}},
		"something more pressing": {device: 20, want: 2, change: func(target *policy.Target) {
			target.Snapshot.Tasks = append(target.Snapshot.Tasks, store.Task{Kind: store.Flush, State: store.Running})
		}},
		"another order": {device: 20, want: 60, more: map[string]any{"order": []any{"compaction", "flush"}},
			change: func(target *policy.Target) {
				target.Snapshot.Tasks = append(target.Snapshot.Tasks, store.Task{Kind: store.Flush, State: store.Running})
			}},
	} {
		t.Run(name, func(t *testing.T) {
			target := writing(test.device, test.task)
			if test.change != nil {
				test.change(&target)
			}
			decision, _ := made(t, test.more).Decide(policy.View{Period: time.Second}, target, nil)
			if got := rateOf(decision); math.Abs(got-test.want) > 1e-6 {
				t.Errorf("the rate is %v MB/s, want %v: %s", got, test.want, decision.Reason)
			}
		})
	}
}

func TestRateRisesByAShareAndFallsAtOnce(t *testing.T) {
	built := made(t, map[string]any{"raise_share": 0.5})
	var memory policy.Memory
	var decision policy.Decision
	wants := []float64{21, 30.5, 35.25, 10, 0, 2}
	for i, device := range []float64{40, 40, 40, 70, 90, 79} {
		view := policy.View{Now: time.Duration(i+1) * time.Second, Period: time.Second}
		decision, memory = built.Decide(view, writing(device, 0), memory)
		if got := rateOf(decision); math.Abs(got-wants[i]) > 1e-6 && i < 5 {
			t.Errorf("in period %d the rate is %v MB/s, want %v: %s", i, got, wants[i], decision.Reason)
		}
	}
	// The foreground has fallen to 79 MB/s, but its mean is higher: still held.
	if got := rateOf(decision); got != 0 {
		t.Errorf("the rate is %v MB/s, want a hold", got)
	}
}

func TestWithoutMemoryItGoesOnFromTheLease(t *testing.T) {
	target := writing(40, 0)
	target.Lease = &store.Lease{Setting: store.Setting{Name: store.RateBytesPerSecond, Number: 20 * megabyte}}
	decision, _ := made(t, map[string]any{"raise_share": 0.5}).Decide(policy.View{Period: time.Second}, target, nil)
	if got := rateOf(decision); got != 30 {
		t.Errorf("the rate is %v MB/s, want 30, half of the way from 20 to 40", got)
	}
}

func TestOldSnapshotChangesNothing(t *testing.T) {
	built := made(t, nil)
	first, memory := built.Decide(policy.View{Now: 10 * time.Second, Period: time.Second}, writing(60, 0), nil)
	late := writing(0, 0)
	late.Age = 2 * time.Second
	second, _ := built.Decide(policy.View{Now: 11 * time.Second, Period: time.Second}, late, memory)
	if rateOf(first) != 20 || rateOf(second) != 20 {
		t.Errorf("rates are %v and %v MB/s, want 20 twice", rateOf(first), rateOf(second))
	}
}

func TestStartIsAskedForAgainOnlyWhenNothingCameOfIt(t *testing.T) {
	built := made(t, nil)
	target := writing(10, 0)
	target.Description.Capabilities[0].CanStart = true
	target.Snapshot.Tasks = nil
	target.Snapshot.Debts = []store.Debt{{Kind: store.Compaction, Bytes: 400 * megabyte, LimitBytes: 1000 * megabyte}}
	var memory policy.Memory
	for i, want := range []bool{true, false, false, true, false} {
		var decision policy.Decision
		view := policy.View{Now: time.Duration(i) * time.Second, Period: time.Second}
		decision, memory = built.Decide(view, target, memory)
		if decision.Start != want {
			t.Errorf("in second %d start is %v, want %v: %s", i, decision.Start, want, decision.Reason)
		}
		if want && decision.Verdict != policy.Change {
			t.Errorf("in second %d a start is to %s", i, decision.Verdict)
		}
		target.Lease = &store.Lease{Setting: *decision.Setting}
	}
}

func TestTheDebtsFloorWins(t *testing.T) {
	built := made(t, nil)
	target := writing(95, 10)
	target.Snapshot.Debts = []store.Debt{{Kind: store.Compaction, Bytes: 950 * megabyte, LimitBytes: 1000 * megabyte}}
	decision, _ := built.Decide(policy.View{Period: time.Second}, target, nil)
	if got := rateOf(decision); got != 60 || !strings.Contains(decision.Reason, "debt at 95 %") {
		t.Errorf("the rate is %v MB/s, want the ceiling: %s", got, decision.Reason)
	}
	target.Snapshot.Debts[0].Bytes = 1000 * megabyte
	decision, _ = built.Decide(policy.View{Period: time.Second}, target, nil)
	if decision.Verdict != policy.Stop || !strings.Contains(decision.Reason, "reached its limit") {
		t.Errorf("got %s: %s", decision.Verdict, decision.Reason)
	}
}

func TestStops(t *testing.T) {
	for want, change := range map[string]func(*policy.Target){
		"no answer":               func(target *policy.Target) { target.Fresh, target.Missing = false, "no answer" },
		`reports no device "sda"`: func(target *policy.Target) { target.NodeSignals.Devices = nil },
		"cannot set hold": func(target *policy.Target) {
			target.Description.Capabilities[0].Settings = []store.SettingName{store.RateBytesPerSecond}
		},
		"cannot set rate_bytes_per_": func(target *policy.Target) { target.Description = store.Description{} },
	} {
		target := writing(10, 0)
		change(&target)
		decision, _ := made(t, nil).Decide(policy.View{Period: time.Second}, target, nil)
		if decision.Verdict != policy.Stop || decision.Setting != nil || !strings.Contains(decision.Reason, want) {
			t.Errorf("got %s: %s, want %q", decision.Verdict, decision.Reason, want)
		}
	}
}

func TestFloorAboveCeilingIsRefused(t *testing.T) {
	_, err := opportunistic.New(map[string]any{
		"device": "sda", "capacity_bytes_per_second": 1e8, "ceiling_bytes_per_second": 1e6, "floor_bytes_per_second": 2e6,
	})
	if err == nil || !strings.Contains(err.Error(), "Lower the floor") {
		t.Errorf("got %v", err)
	}
}

// What was ordered before a gap is no longer in force after it.
func TestAfterAGapItBeginsAnew(t *testing.T) {
	built := made(t, map[string]any{"raise_share": 0.5})
	gone := writing(0, 0)
	gone.Fresh, gone.Missing = false, "no answer"
	var memory policy.Memory
	for now := range 6 {
		_, memory = built.Decide(policy.View{Now: time.Duration(now) * time.Second, Period: time.Second}, writing(10, 0), memory)
	}
	_, memory = built.Decide(policy.View{Now: 10 * time.Second, Period: time.Second}, gone, memory)
	decision, _ := built.Decide(policy.View{Now: 70 * time.Second, Period: time.Second}, writing(10, 0), memory)
	if got := rateOf(decision); got != 31 {
		t.Errorf("the rate is %v MB/s, want 31, half of the way from the floor of 2 to 60", got)
	}
}
