package controller

import (
	"testing"
	"time"

	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// newSLOWorld has a policy that goes by latencies, which the stores report.
func newSLOWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, nil)
	decider, err := policies.New("slo", map[string]any{
		"target_seconds": 0.02, "ceiling_bytes_per_second": 1e7, "may_hold": false,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.use(decider)
	for _, agent := range w.agents {
		agent.instances["main"].latencies = []store.Latency{{
			Class: "write", Interval: time.Second, Count: 100, P99: 10 * time.Millisecond,
		}}
	}
	return w
}

// A lease that is to run out is not renewed when a snapshot comes twice.
func TestStoppedLeaseRunsOut(t *testing.T) {
	w := newSLOWorld(t)
	if decision := about(t, w.step(), "n1"); !decision.GetWasWritten() {
		t.Fatalf("no lease was given: %v", decision)
	}
	instance := w.agents["n1"].instances["main"]
	instance.latencies = nil
	for second := 1; second <= 6; second++ {
		// In each other period the snapshot is the one from before.
		instance.age = time.Duration((second+1)%2) * time.Second
		decision := about(t, w.step(), "n1")
		if decision.GetWasWritten() {
			t.Errorf("%d s after the latencies had gone an order was written: %v", second, decision)
		}
		if hasLease := w.agents["n1"].lease("main") != nil; hasLease != (second < 5) {
			t.Errorf("%d s after the latencies had gone there is a lease: %v", second, hasLease)
		}
	}
}

// A rate that was ordered before an agent fell silent says nothing of what the device takes afterwards.
func TestRateFromBeforeAGapIsNotGoneOnWith(t *testing.T) {
	w := newWorld(t, nil)
	decider, err := policies.New("opportunistic", map[string]any{
		"device": "sda", "capacity_bytes_per_second": 1e8, "ceiling_bytes_per_second": 6e7, "raise_share": 0.3,
		"floor_bytes_per_second": 1e6, "may_hold": false,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.use(decider)
	agent := w.agents["n1"]
	agent.devices = []policy.DeviceSignals{{Name: "sda"}}
	rate := func() float64 {
		lease := agent.lease("main")
		if lease == nil {
			return 0
		}
		return lease.Setting.Number
	}
	for range 20 {
		w.step()
	}
	if rate() < 5e7 {
		t.Fatalf("the rate has come to %v bytes a second only", rate())
	}
	agent.failure = errGone
	for range 60 {
		w.step()
	}
	agent.failure = nil
	w.step()
	if most := 1e6 + 0.3*(6e7-1e6); rate() == 0 || rate() > most {
		t.Errorf("after the gap the rate is %v bytes a second, want at most %v", rate(), most)
	}
}
