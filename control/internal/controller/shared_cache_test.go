package controller

import (
	"strings"
	"testing"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

// newSharedCacheWorld is newLevelsWorld with stores of which all tables share a cache, and have latencies of their own.
func newSharedCacheWorld(t *testing.T) (*world, *service) {
	t.Helper()
	w, s := newLevelsWorld(t)
	for _, agent := range w.agents {
		instance := agent.instances["main"]
		instance.sharesCache = true
		instance.figures = map[string]float64{
			"cache_reservable_bytes": 1e9, "cache_capacity_bytes": 1e8, "cache_used_bytes": 1e8,
			"cache_shop_2eorders_hits_total": 0, "cache_shop_2eorders_misses_total": 0,
		}
	}
	return w, s
}

// loadTables lets a second of requests pass on each node: slow ones for the one table, as fast ones for another as make
// the mean of all good.
func (w *world) loadTables() {
	slow := store.Latency{
		Class: "read", Interval: time.Second, Count: 100, Mean: 80 * time.Millisecond, P50: 60 * time.Millisecond,
		P99: 200 * time.Millisecond, P999: 300 * time.Millisecond, Max: 300 * time.Millisecond,
	}
	fast := store.Latency{Class: "read", Interval: time.Second, Count: 1e6, Mean: 1000, P50: 1000, P99: 1000, P999: 1000, Max: 1000}
	for _, agent := range w.agents {
		instance := agent.instances["main"]
		instance.figures["cache_shop_2eorders_misses_total"] += 100
		instance.latencies = []store.Latency{fast}
		instance.scopeLatencies = []store.ScopeLatency{
			{Scope: "shop.orders", Latency: slow}, {Scope: "shop.carts", Latency: fast},
		}
	}
}

// From the order to the lease: a table's own response is what counts, and the cache that all share is made larger for it.
func TestAServiceLevelOnACacheThatIsShared(t *testing.T) {
	w, s := newSharedCacheWorld(t)
	w.loadTables()
	w.step()
	level := ordersLevel()
	level.Scope = "shop.orders"
	admission := apply(t, s, level)
	if lines := strings.Join(admission.GetLines(), "\n"); !admission.GetIsAdmitted() || !strings.Contains(lines, "one for all objects") {
		t.Fatalf("the admission is %v", admission)
	}
	for range 7 {
		w.loadTables()
		w.step()
	}
	want := store.Setting{Name: store.AddedBytes, Number: 1e8}
	for name, agent := range w.agents {
		if lease := agent.lease("main"); lease == nil || lease.Setting != want || lease.Scope != "shop.orders" {
			t.Errorf("the lease on %s is %+v", name, lease)
		}
	}
	explained, err := s.ExplainServiceLevel(t.Context(), &sluicev1.ExplainServiceLevelRequest{Name: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	state := explained.GetState()
	if state.GetState() != "missed" || state.GetActualSeconds() != 0.08 || state.GetIsEstimated() || state.GetOperationsPerSecond() != 200 {
		t.Errorf("it fares as %v", state)
	}
	if _, err := s.DeleteServiceLevel(t.Context(), &sluicev1.DeleteServiceLevelRequest{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		w.loadTables()
		w.step()
	}
	if lease := w.agents["n1"].lease("main"); lease != nil {
		t.Errorf("after it is deleted there is %+v", lease)
	}
}
