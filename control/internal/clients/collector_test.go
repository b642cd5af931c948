package clients

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// clock is one that a test moves.
type clock struct{ now time.Time }

func newCollector(kinds ...string) (*Collector, *clock) {
	c := &clock{time.Unix(1e9, 0)}
	return NewCollector(kinds, func() time.Time { return c.now }), c
}

func (c *clock) pass(seconds float64) {
	c.now = c.now.Add(time.Duration(seconds * float64(time.Second)))
}

// client reports a second of requests.
func mustTake(t *testing.T, c *Collector, from *session, requests ...Requests) {
	t.Helper()
	if err := c.take(from, Report{Store: "hbase", IntervalSeconds: 1, Requests: requests}); err != nil {
		t.Fatal(err)
	}
}

// only gives the only latency of a scope and class.
func only(t *testing.T, all []policy.ClientLatencies, scope, class string) store.Latency {
	t.Helper()
	if len(all) != 1 {
		t.Fatalf("there are latencies of %d stores", len(all))
	}
	var found []store.Latency
	if scope == "" {
		found = all[0].Latencies
	}
	for _, latency := range all[0].ScopeLatencies {
		if latency.Scope == scope {
			found = append(found, latency.Latency)
		}
	}
	var ofClass []store.Latency
	for _, latency := range found {
		if latency.Class == class {
			ofClass = append(ofClass, latency)
		}
	}
	if len(ofClass) != 1 {
		t.Fatalf("there are %d intervals of %q %s: %+v", len(ofClass), scope, class, all)
	}
	return ofClass[0]
}

func TestReportsOfSeveralClientsAreOneInterval(t *testing.T) {
	c, clock := newCollector("hbase")
	one, other := &session{}, &session{}
	for _, seconds := range []float64{0.9, 1.1} {
		mustTake(t, c, one, requestsOf("read", "orders/cf", 10*time.Millisecond), requestsOf("write", "orders", time.Millisecond))
		if len(c.Latencies()[0].Latencies) > 0 {
			t.Error("an interval has ended too early")
		}
		mustTake(t, c, other, requestsOf("read", "orders/x", 30*time.Millisecond), requestsOf("read", "", 50*time.Millisecond))
		clock.pass(seconds)
	}
	all := c.Latencies()
	if all[0].Store != "hbase" || all[0].Clients != 2 || !all[0].TakenAt.Equal(clock.now) {
		t.Errorf("they are of %+v", all[0])
	}
	for scope, want := range map[string]struct {
		count uint64
		mean  time.Duration
	}{
		"": {6, 30 * time.Millisecond}, "orders": {4, 20 * time.Millisecond},
		"orders/cf": {2, 10 * time.Millisecond}, "orders/x": {2, 30 * time.Millisecond},
	} {
		is := only(t, all, scope, "read")
		// The first reports were of the second before them.
		if is.Count != want.count || (is.Mean-want.mean).Abs() > time.Microsecond || is.Interval != 3*time.Second || is.Age != 0 {
			t.Errorf("%q: %+v, want %+v", scope, is, want)
		}
	}
	if is := only(t, all, "orders", "write"); is.Count != 2 {
		t.Errorf("the writes are %+v", is)
	}
}

// Clients do not report in step with intervals: none of their requests is lost or counted twice, and rates are right.
func TestRatesAreThoseOfTheClients(t *testing.T) {
	c, clock := newCollector("hbase")
	from := &session{}
	counted, seconds := uint64(0), 0.0
	last := time.Time{}
	const reports, perReport = 1000, 3
	for i := range reports {
		// Every tenth report is late, the next one on time again.
		clock.pass([]float64{1, 1.9, 0.1}[min(2, i%10)])
		mustTake(t, c, from, requestsOf("read", "t", 1000, 2000, 3000))
		all := c.Latencies()
		if len(all[0].Latencies) == 0 {
			continue
		}
		newest := all[0].Latencies[len(all[0].Latencies)-1]
		if ended := clock.now.Add(-newest.Age); ended.After(last) {
			last = ended
			counted += newest.Count
			seconds += newest.Interval.Seconds()
		}
	}
	if pending := uint64(reports*perReport) - counted; pending > 30 {
		t.Errorf("%d requests are in no interval", pending)
	}
	if now := clock.now.Sub(time.Unix(1e9, 0)).Seconds(); seconds > now+1 || seconds < now-4 {
		t.Errorf("the intervals are %v s together, of %v s", seconds, now)
	}
}

// What a client could not tell for a while is no burst.
func TestALateReportIsOfAllItsTime(t *testing.T) {
	c, clock := newCollector("hbase")
	mustTake(t, c, &session{}, requestsOf("read", "t", 1000))
	clock.pass(2)
	if err := c.take(&session{}, Report{Store: "hbase", IntervalSeconds: 40, Requests: []Requests{requestsOf("read", "t", 1000)}}); err != nil {
		t.Fatal(err)
	}
	if is := only(t, c.Latencies(), "t", "read"); is.Interval != 40*time.Second {
		t.Errorf("the interval is %v", is.Interval)
	}
}

func TestClientsThatAreGoneAreForgotten(t *testing.T) {
	c, clock := newCollector("hbase")
	stays, leaves := &session{}, &session{}
	mustTake(t, c, stays, requestsOf("read", "t", 1000))
	mustTake(t, c, leaves)
	if used := c.Usage()["hbase"]; used.Clients != 2 {
		t.Errorf("there are %d clients", used.Clients)
	}
	c.leave(leaves)
	if used := c.Usage()["hbase"]; used.Clients != 1 {
		t.Errorf("there are %d clients after one has left", used.Clients)
	}
	clock.pass(6)
	if all := c.Latencies(); len(all) != 1 || all[0].Clients != 0 || len(all[0].Latencies) != 1 {
		t.Errorf("of a client that is silent there is %+v", all)
	}
	clock.pass(61)
	if all := c.Latencies(); len(all) != 0 {
		t.Errorf("after a minute there is %+v", all)
	}
}

func TestTotalsAreMovingAverages(t *testing.T) {
	c, clock := newCollector("hbase")
	from := &session{}
	for range 2 {
		mustTake(t, c, from, requestsOf("read", "t", 16*time.Millisecond))
		clock.pass(2)
	}
	c.Latencies()
	failed := requestsOf("read", "t", 24*time.Millisecond, 24*time.Millisecond, 24*time.Millisecond, 24*time.Millisecond)
	failed.Errors = 3
	if err := c.take(from, Report{Store: "hbase", IntervalSeconds: 1, LostRequests: 7, Requests: []Requests{failed}}); err != nil {
		t.Fatal(err)
	}
	clock.pass(2)
	used := c.Usage()["hbase"]
	is := used.Totals["read"]
	// An eighth of the way from 16 ms to 24 ms, and the same way from each rate to the next.
	if is.MeanSeconds < 0.0169 || is.MeanSeconds > 0.0171 || is.Count != 6 || is.Errors != 3 || used.LostRequests != 7 {
		t.Errorf("the totals are %+v", is)
	}
	if below := is.Below[0.016384]; below != 2 {
		t.Errorf("%d requests took less than 16.384 ms: %v", below, is.Below)
	}
}

func TestPartsOfAStoreAreBounded(t *testing.T) {
	c, clock := newCollector("hbase")
	for i := range 5 * maxScopes {
		mustTake(t, c, &session{}, requestsOf("read", fmt.Sprintf("t%d/f", i), 1000))
	}
	clock.pass(2)
	all := c.Latencies()
	if len(all[0].ScopeLatencies) != maxScopes {
		t.Errorf("%d parts are told apart", len(all[0].ScopeLatencies))
	}
	if is := only(t, all, "", "read"); is.Count != 5*maxScopes {
		t.Errorf("of all requests %d are counted", is.Count)
	}
}

// A part of a store is one, whatever is asked of it.
func TestAPartIsCountedOnceForReadsAndWrites(t *testing.T) {
	c, clock := newCollector("hbase")
	for i := range maxScopes {
		mustTake(t, c, &session{}, requestsOf("read", fmt.Sprintf("t%d", i), 1000), requestsOf("write", fmt.Sprintf("t%d", i), 1000))
	}
	clock.pass(2)
	if all := c.Latencies(); len(all[0].ScopeLatencies) != 2*maxScopes {
		t.Errorf("there are %d latencies of parts, want %d", len(all[0].ScopeLatencies), 2*maxScopes)
	}
}

func TestReportsOfOtherStoresAreRefused(t *testing.T) {
	c, _ := newCollector("hbase", "cassandra")
	err := c.take(&session{}, Report{Store: "ignite", IntervalSeconds: 1})
	if store.CodeOf(err) != store.CodeNotFound || !strings.Contains(err.Error(), "it has: cassandra, hbase") {
		t.Errorf("the error is %v", err)
	}
}
