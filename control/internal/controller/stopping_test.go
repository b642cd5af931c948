package controller

import (
	"testing"
	"time"

	"sluice.dev/control/internal/policies"
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
