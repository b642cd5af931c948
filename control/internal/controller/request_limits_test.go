package controller

import (
	"testing"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/store"
)

// Beside the policy that decides about the cache of a family, one holds its table to the load that it was promised for.
func TestAServiceLevelIsHeldToItsLoad(t *testing.T) {
	w, s := newLevelsWorld(t)
	decider, err := policies.New(requestLimitType, map[string]any{"tolerance_share": 0.0})
	if err != nil {
		t.Fatal(err)
	}
	w.policies = append(w.policies, newActivePolicy(Policy{
		Name: "limits", Type: requestLimitType, Targets: Targets{Store: "reference", Kind: "requests"},
	}, decider))
	w.step()
	apply(t, s, ordersLevel())
	var made []*sluicev1.Decision
	for range 7 {
		made = w.stepUnderLoad()
	}
	byScope := map[string][]*sluicev1.Decision{}
	for _, decision := range made {
		byScope[decision.GetScope()] = append(byScope[decision.GetScope()], decision)
	}
	if len(byScope["orders/cf"]) != 2 || len(byScope["orders"]) != 2 {
		t.Fatalf("the decisions are %v", made)
	}
	want := store.Setting{Name: store.RateOperationsPerSecond, Number: 100}
	for name, agent := range w.agents {
		lease := agent.leaseOn("main", store.Requests)
		if lease == nil || lease.Setting != want || lease.Owner != "policy/limits" || lease.Scope != "orders" {
			t.Errorf("the lease on %s is %+v", name, lease)
		}
	}
	// How it fares is told by the other policy.
	listed, err := s.ListServiceLevels(t.Context(), &sluicev1.ListServiceLevelsRequest{})
	if err != nil || listed.GetServiceLevels()[0].GetState() != "missed" {
		t.Errorf("it fares as %v, %v", listed, err)
	}
}
