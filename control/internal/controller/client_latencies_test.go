package controller

import (
	"strings"
	"testing"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// From the reports of agents to the state: a service level that is measured by clients is judged by what those of all
// nodes tell of its scope, of its own kind of store.
func TestAServiceLevelThatClientsMeasure(t *testing.T) {
	w, s := newLevelsWorld(t)
	took := func(took time.Duration) []store.ScopeLatency {
		return []store.ScopeLatency{{Scope: "orders/cf", Latency: store.Latency{
			Class: "read", Interval: time.Second, Count: 100, Mean: took, P50: took, P99: took, P999: took, Max: took,
		}}}
	}
	for _, agent := range w.agents {
		agent.clients = []policy.ClientLatencies{
			{Store: "reference", Clients: 2, ScopeLatencies: took(40 * time.Millisecond)},
			{Store: "another", Clients: 1, ScopeLatencies: took(time.Hour)},
		}
	}
	w.step()
	level := ordersLevel()
	level.Target.MeasuredAt = "client"
	if admission := apply(t, s, level); !strings.Contains(strings.Join(admission.GetLines(), "\n"), "target mean 30ms as clients measure it") {
		t.Errorf("the admission is %v", admission)
	}
	for range 7 {
		w.stepUnderLoad()
	}
	explained, err := s.ExplainServiceLevel(t.Context(), &sluicev1.ExplainServiceLevelRequest{Name: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	state := explained.GetState()
	want := 100 * float64(len(w.agents))
	if state.GetActualSeconds() != 0.04 || state.GetOperationsPerSecond() != want || state.GetIsEstimated() {
		t.Errorf("it fares as %v", state)
	}
	if state.GetServiceLevel().GetTarget().GetMeasuredAt() != "client" || !strings.Contains(state.GetReason(), "as clients measure it is 40ms") {
		t.Errorf("it fares as %v", state)
	}
}
