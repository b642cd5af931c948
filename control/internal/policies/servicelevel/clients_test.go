package servicelevel

import (
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// told is what the clients on a node tell of a second: the table takes so long there, and another one an hour.
func told(node, scope string, took time.Duration, count uint64) policy.ClientLatencies {
	return policy.ClientLatencies{
		Node: node, Store: "cassandra", Clients: 1, Latencies: []store.Latency{interval1("read", time.Hour, 1e6)},
		ScopeLatencies: []store.ScopeLatency{
			{Scope: scope, Latency: interval1("read", took, count)},
			{Scope: scope, Latency: interval1("write", time.Millisecond, 10)},
			{Scope: "shop.other", Latency: interval1("read", time.Hour, 1e6)},
		},
	}
}

func atClients(of *table) *table {
	of.object.Target.MeasuredAt = servicelevel.AtClient
	return of
}

// What clients on all nodes tell counts, those on nodes without the store as well; and that of no server.
func TestAnObjectIsJudgedByWhatItsClientsMeasure(t *testing.T) {
	atStore, object := newTable("fast", 10*time.Millisecond), atClients(newTable("slow", 10*time.Millisecond))
	s := newSharing(t, atStore, object)
	s.clients = []policy.ClientLatencies{
		told("n0", object.object.Scope, 40*time.Millisecond, 300), told("web", object.object.Scope, 80*time.Millisecond, 100),
	}
	_, statuses := s.run(11)
	if is := statuses[0]; is.State != servicelevel.Reached || is.ActualSeconds != 0.01 {
		t.Errorf("measured at the store it fares as %+v", is)
	}
	is := statuses[1]
	if is.State != servicelevel.Missed || is.IsEstimated || is.ActualSeconds != 0.05 || is.OperationsPerSecond != 420 {
		t.Errorf("measured by clients it fares as %+v", is)
	}
	if want := "mean of reads as clients measure it is 50ms, target 30ms"; !strings.Contains(is.Reason, want) {
		t.Errorf("the reason is %q, not %q", is.Reason, want)
	}
}

// Intervals are longer than a period, and those of two nodes end in turn: the load is that of both all the time.
func TestTheLoadIsThatOfAllClientsWheneverTheyTell(t *testing.T) {
	object := atClients(newTable("t", time.Millisecond))
	s := newSharing(t, object)
	last := func(node string, age int) policy.ClientLatencies {
		latency := interval1("read", 10*time.Millisecond, 200)
		latency.Interval, latency.Age = 2*time.Second, time.Duration(age)*time.Second
		return policy.ClientLatencies{
			Node: node, Store: "cassandra", Clients: 1,
			ScopeLatencies: []store.ScopeLatency{{Scope: object.object.Scope, Latency: latency}},
		}
	}
	for second := range 20 {
		s.clients = []policy.ClientLatencies{last("a", second%2), last("b", (second+1)%2)}
		if _, statuses := s.step(); second > 0 && statuses[0].OperationsPerSecond != 200 {
			t.Fatalf("after %d s it is %v operations/s", second, statuses[0].OperationsPerSecond)
		}
	}
	// What one that is gone has told counts for latency_stale_seconds; then the average begins to follow.
	s.clients = s.clients[:1]
	if _, statuses := s.run(5); statuses[0].OperationsPerSecond != 200 {
		t.Errorf("when one is gone it is %v operations/s", statuses[0].OperationsPerSecond)
	}
	if _, statuses := s.step(); statuses[0].OperationsPerSecond != 187.5 {
		t.Errorf("when that is long ago it is %v operations/s", statuses[0].OperationsPerSecond)
	}
}

func TestPercentilesOfClientsAreJoined(t *testing.T) {
	object := atClients(newTable("t", time.Millisecond))
	object.object.Target.Statistic = servicelevel.P99
	s := newSharing(t, object)
	s.clients = []policy.ClientLatencies{
		told("a", object.object.Scope, 10*time.Millisecond, 900), told("b", object.object.Scope, 80*time.Millisecond, 100),
	}
	_, statuses := s.run(11)
	if is := statuses[0]; is.State != servicelevel.Missed || is.ActualSeconds < 0.08 || is.ActualSeconds > 0.08*bucketGrowth {
		t.Errorf("it fares as %+v", is)
	}
}

// Nothing is done for an object whose clients tell nothing, however slow its servers are.
func TestWithoutReportsOfClientsNothingIsKnown(t *testing.T) {
	object := atClients(newTable("t", time.Hour))
	_, statuses := newSharing(t, object).run(30)
	is := statuses[0]
	if is.State != servicelevel.Unknown || is.ReservedBytes != 0 || !strings.Contains(is.Reason, "no client has reported") {
		t.Errorf("it fares as %+v", is)
	}
}

// Where an object is measured may change: what was measured elsewhere no longer counts.
func TestTheMeasurementFollowsTheServiceLevel(t *testing.T) {
	object := newTable("t", 10*time.Millisecond)
	s := newSharing(t, object)
	s.clients = []policy.ClientLatencies{told("a", object.object.Scope, 80*time.Millisecond, 100)}
	s.run(11)
	atClients(object)
	_, statuses := s.step()
	if is := statuses[0]; is.ActualSeconds != 0.08 {
		t.Errorf("it fares as %+v", is)
	}
	object.object.Target.MeasuredAt = servicelevel.AtStore
	_, statuses = s.step()
	if is := statuses[0]; is.ActualSeconds != 0.01 {
		t.Errorf("it fares as %+v", is)
	}
}
