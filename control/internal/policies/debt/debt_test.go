package debt_test

import (
	"math"
	"testing"
	"time"

	"sluice.dev/control/internal/policies/debt"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const megabyte = 1000 * 1000

func bound() debt.Bound {
	return debt.Bound{
		ReserveShare: 0.1, GrowthMemory: 30 * time.Second, UrgentFromShare: 0.5, CeilingBytesPerSecond: 10 * megabyte,
	}
}

// checkpoint is a target with a debt, of at most 100 MB, and with a running task if bytes are left.
func checkpoint(debtBytes, left uint64) policy.Target {
	target := policy.Target{Kind: store.Checkpoint, Fresh: true}
	target.Snapshot.Debts = []store.Debt{{Kind: store.Checkpoint, Bytes: debtBytes, LimitBytes: 100 * megabyte}}
	if left > 0 {
		target.Snapshot.Tasks = []store.Task{{
			Kind: store.Checkpoint, State: store.Running, BytesDone: 1000*megabyte - left, BytesTotal: 1000 * megabyte,
		}}
	}
	return target
}

// grown observes a debt that has grown to what it is at the given rate.
func grown(target policy.Target, bytesPerSecond uint64) debt.Estimate {
	memory := &debt.Memory{}
	before := target
	before.Snapshot.Debts = []store.Debt{target.Snapshot.Debts[0]}
	before.Snapshot.Debts[0].Bytes -= bytesPerSecond
	bound().Observe(memory, before, time.Second)
	return bound().Observe(memory, target, 2*time.Second)
}

func TestFloorOfADebtThatFallsAtTheEndOfItsTask(t *testing.T) {
	for name, test := range map[string]struct {
		debt, left, growth uint64
		floor              float64
	}{
		// 100 MB in the 50 s that 40 MB at 0.8 MB/s take: 2 MB/s, a fifth of the ceiling.
		"there is time": {50 * megabyte, 100 * megabyte, 800 * 1000, 0},
		// Needed are 6.25 MB/s, half of the way from 0.5 to 0.75 of the ceiling.
		"the ramp": {50 * megabyte, 250 * megabyte, 1 * megabyte, 6.25 * megabyte * 0.5},
		// Needed are 8 MB/s, beyond the ramp: all of it.
		"urgent": {50 * megabyte, 320 * megabyte, 1 * megabyte, 8 * megabyte},
		// 20 MB/s would keep the reserve free, 16 MB/s finish before the limit itself.
		"more than the ceiling":       {50 * megabyte, 800 * megabyte, 1 * megabyte, 16 * megabyte},
		"in the reserve":              {92 * megabyte, 200 * megabyte, 1 * megabyte, 25 * megabyte},
		"in the reserve, little left": {92 * megabyte, 60 * megabyte, 1 * megabyte, 10 * megabyte},
		"at the limit":                {100 * megabyte, 60 * megabyte, 1 * megabyte, 10 * megabyte},
		"no task":                     {92 * megabyte, 0, 1 * megabyte, 0},
	} {
		t.Run(name, func(t *testing.T) {
			estimate := grown(checkpoint(test.debt, test.left), test.growth)
			if got := estimate.FloorBytesPerSecond(); math.Abs(got-test.floor) > 1 {
				t.Errorf("the floor is %v, want %v", got, test.floor)
			}
		})
	}
}

func TestSyncStillCountsAsWork(t *testing.T) {
	target := checkpoint(50*megabyte, 1)
	target.Snapshot.Tasks[0].BytesDone = target.Snapshot.Tasks[0].BytesTotal
	if left := grown(target, megabyte).RemainingBytes; left != 50*megabyte {
		t.Errorf("%v bytes remain, want 5 %% of the total", left)
	}
}

func TestFloorOfADebtThatDrains(t *testing.T) {
	for name, test := range map[string]struct{ debt, floor float64 }{
		"little":         {45 * megabyte, 0},
		"the ramp":       {56.25 * megabyte, 1.5 * megabyte},
		"what comes in":  {67.5 * megabyte, 3 * megabyte},
		"twice as much":  {89.999 * megabyte, 6 * megabyte},
		"in the reserve": {95 * megabyte, 10 * megabyte},
	} {
		t.Run(name, func(t *testing.T) {
			target := checkpoint(uint64(test.debt), 1)
			target.Kind, target.Snapshot.Debts[0].Kind = store.Compaction, store.Compaction
			target.Snapshot.Tasks = []store.Task{{
				Kind: store.Compaction, State: store.Running, RateBytesPerSecond: 2 * megabyte,
			}}
			// It grows by 1 MB/s while 2 MB/s are done: 3 MB/s come in.
			estimate := grown(target, megabyte)
			if got := estimate.FloorBytesPerSecond(); math.Abs(got-test.floor) > 1000 {
				t.Errorf("the floor is %v, want %v", got, test.floor)
			}
			if estimate.RemainingBytes != float64(uint64(test.debt)) {
				t.Errorf("%v bytes remain, want the debt where no total is known", estimate.RemainingBytes)
			}
		})
	}
}

func TestGrowthIsAMeanThatIgnoresFalls(t *testing.T) {
	memory := &debt.Memory{}
	observe := func(at time.Duration, bytes uint64) debt.Estimate {
		return bound().Observe(memory, checkpoint(bytes, 0), at)
	}
	if observe(0, 10*megabyte).IsGrowthKnown {
		t.Error("growth is known after one snapshot")
	}
	if got := observe(time.Second, 12*megabyte).GrowthBytesPerSecond; got != 2*megabyte {
		t.Errorf("growth is %v, want 2 MB/s", got)
	}
	if got := observe(2*time.Second, 1*megabyte).GrowthBytesPerSecond; got != 2*megabyte {
		t.Errorf("growth is %v after the end of a task, want 2 MB/s as before", got)
	}
	if got := observe(2*time.Second, 50*megabyte).GrowthBytesPerSecond; got != 2*megabyte {
		t.Errorf("growth is %v after a snapshot of the same time, want 2 MB/s as before", got)
	}
	want := 2*megabyte + (1-math.Exp(-1.0/30))*megabyte
	if got := observe(3*time.Second, 4*megabyte).GrowthBytesPerSecond; math.Abs(got-want) > 1 {
		t.Errorf("growth is %v, want %v", got, want)
	}
}

func TestIsDue(t *testing.T) {
	for name, test := range map[string]struct {
		debt, left uint64
		share      float64
		want       bool
	}{
		"below":         {29 * megabyte, 0, 0.3, false},
		"reached":       {30 * megabyte, 0, 0.3, true},
		"never":         {99 * megabyte, 0, 0, false},
		"there is task": {30 * megabyte, 100 * megabyte, 0.3, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := grown(checkpoint(test.debt, test.left), megabyte).IsDue(test.share); got != test.want {
				t.Errorf("due is %v, want %v", got, test.want)
			}
		})
	}
}

func TestWithoutALimitThereIsNoFloor(t *testing.T) {
	target := checkpoint(50*megabyte, 500*megabyte)
	target.Snapshot.Debts[0].LimitBytes = 0
	estimate := grown(target, 10*megabyte)
	if estimate.IsBounded || estimate.IsAtLimit() || estimate.Share() != 0 || estimate.FloorBytesPerSecond() != 0 {
		t.Errorf("a debt without a limit is bounded: %+v", estimate)
	}
	target.Snapshot.Debts = nil
	if bound().Observe(&debt.Memory{}, target, 0).IsBounded {
		t.Error("a store without a debt is bounded")
	}
}

func TestActiveGoesByKindScopeAndState(t *testing.T) {
	target := policy.Target{Kind: store.Compaction, Scope: "a"}
	target.Snapshot.Tasks = []store.Task{
		{ID: "1", Kind: store.Compaction, Scope: "a", State: store.Held},
		{ID: "2", Kind: store.Compaction, Scope: "b", State: store.Running},
		{ID: "3", Kind: store.Compaction, Scope: "a", State: store.Done},
		{ID: "4", Kind: store.Flush, Scope: "a", State: store.Running},
	}
	if active := debt.Active(target); len(active) != 1 || active[0].ID != "1" {
		t.Errorf("active are %v, want task 1", active)
	}
	target.Scope = ""
	if active := debt.Active(target); len(active) != 2 {
		t.Errorf("active are %v, want tasks 1 and 2", active)
	}
	target.Snapshot.Tasks = target.Snapshot.Tasks[:2]
	if active := debt.Active(target); len(active) != 2 || active[0].ID != "1" || active[1].ID != "2" {
		t.Errorf("active are %v, want all", active)
	}
}
