package pace_test

import (
	"testing"
	"time"

	"sluice.dev/control/internal/policies/pace"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func TestNewsIsWhatIsNewerThanAllBefore(t *testing.T) {
	memory := &pace.Memory{}
	for i, test := range []struct {
		now, age time.Duration
		want     bool
	}{
		{10 * time.Second, 0, true},
		{11 * time.Second, time.Second, false},            // the same
		{11 * time.Second, 800 * time.Millisecond, false}, // the same, its age told differently
		{11 * time.Second, 500 * time.Millisecond, true},
		{12 * time.Second, 3 * time.Second, false}, // overtaken
		{12 * time.Second, 0, true},
	} {
		view := policy.View{Now: test.now, Period: time.Second}
		if got := memory.IsNews(view, policy.Target{Age: test.age}); got != test.want {
			t.Errorf("snapshot %d is news: %v, want %v", i, got, test.want)
		}
	}
}

func TestSettingIsAHoldOrWholeBytes(t *testing.T) {
	for rate, want := range map[float64]string{
		0: "hold", 0.9: "hold", 1: "rate_bytes_per_second=1", 5e6 + 0.4: "rate_bytes_per_second=5e+06",
	} {
		if got := pace.Setting(rate).String(); got != want {
			t.Errorf("%v is %s, want %s", rate, got, want)
		}
	}
}

func TestSteadyIgnoresLittleUnlessTheFloorAsks(t *testing.T) {
	for _, test := range []struct{ inForce, next, floor, want float64 }{
		{100, 104, 0, 100}, {100, 96, 0, 100}, {100, 105, 0, 105}, {100, 104, 104, 104}, {0, 1, 0, 1}, {1, 0, 0, 0},
	} {
		if got := pace.Steady(test.inForce, test.next, test.floor); got != test.want {
			t.Errorf("from %v to %v with floor %v it is %v, want %v", test.inForce, test.next, test.floor, got, test.want)
		}
	}
}

func TestRepeatGoesByWhatWasOrderedAndNotByTheLease(t *testing.T) {
	target := policy.Target{Kind: store.Checkpoint, Lease: &store.Lease{Setting: pace.Setting(9e6)}}
	memory := &pace.Memory{}
	if decision := memory.Repeat(policy.Target{}); decision.Setting != nil || decision.Verdict != policy.Keep {
		t.Errorf("without an order and a lease it is %+v", decision)
	}
	memory.Order(target, 2e6, "", nil)
	if decision := memory.Repeat(target); decision.Setting.Number != 2e6 || decision.Verdict != policy.Change {
		t.Errorf("after an order of 2 MB/s it is %+v", decision)
	}
	memory.Forget()
	if decision := memory.Repeat(target); decision.Setting != nil || decision.Verdict != policy.Stop {
		t.Errorf("after the order was forgotten it is %+v", decision)
	}
}
