package servicelevel

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

func made(t testing.TB) *Policy {
	t.Helper()
	built, err := New(map[string]any{"read_seconds": 0.005, "step_bytes": 1e8, "decision_seconds": 10.0})
	if err != nil {
		t.Fatal(err)
	}
	return built.(*Policy)
}

func orders() servicelevel.Object {
	return servicelevel.Object{
		Name: "orders", Store: "hbase", Scope: "orders/cf", Weight: 1, MostOperationsPerSecond: 1000,
		Profile: servicelevel.Profile{DataBytes: 10e9, RowBytes: 1000, Locality: servicelevel.Zipfian, ReadShare: 1},
		Target:  servicelevel.Target{Statistic: servicelevel.Mean, Seconds: 0.03},
	}
}

// server is an instance that tests change from second to second.
type server struct {
	node    string
	figures map[string]float64
	mean    time.Duration
	fresh   bool
	age     time.Duration
	lease   float64
	isStock bool
	// isMaster is one of the store's instances that has no cache.
	isMaster bool
}

func newServer(node string) *server {
	return &server{node: node, fresh: true, mean: 80 * time.Millisecond, figures: map[string]float64{
		"cache_reservable_bytes": 1e9, "cache_reserved_bytes": 0,
		"cache_orders_2fcf_hits_total": 0, "cache_orders_2fcf_misses_total": 0, "cache_orders_2fcf_bytes": 1e9,
	}}
}

func (s *server) target() policy.Target {
	target := policy.Target{
		Ref: policy.Ref{Node: s.node, Store: "hbase", Instance: "regionserver"}, Kind: store.Cache, Scope: "orders/cf",
		Fresh: s.fresh, Age: s.age,
		Description: store.Description{Capabilities: []store.Capability{{
			Kind: store.Cache, Settings: []store.SettingName{store.ReservedBytes},
		}}},
		Snapshot: store.Snapshot{Figures: map[string]float64{}, Latencies: []store.Latency{{
			Class: "read", Interval: time.Second, Count: 100, Mean: s.mean, P50: s.mean, P99: s.mean, P999: s.mean, Max: s.mean,
		}}},
	}
	for name, figure := range s.figures {
		target.Snapshot.Figures[name] = figure
	}
	if !s.fresh {
		target.Missing = "the snapshot is stale"
	}
	if s.isStock {
		target.Description.Capabilities = nil
	}
	if s.isMaster {
		target.Description.Capabilities = []store.Capability{{Kind: store.Balancing, Settings: []store.SettingName{store.Hold}}}
		target.Snapshot = store.Snapshot{}
	}
	if s.lease > 0 {
		target.Lease = &store.Lease{Setting: store.Setting{Name: store.ReservedBytes, Number: s.lease}, TimeLeft: time.Second}
	}
	return target
}

// loop is a policy over some servers, second by second.
type loop struct {
	*Policy
	objects []servicelevel.Object
	servers []*server
	memory  policy.Memory
	now     time.Duration
}

func (l *loop) step() ([]policy.Decision, []servicelevel.Status) {
	l.now += time.Second
	view := policy.View{Now: l.now, Period: time.Second, ServiceLevels: l.objects}
	for _, server := range l.servers {
		server.figures["cache_orders_2fcf_misses_total"] += 100
		view.Targets = append(view.Targets, server.target())
	}
	decisions, statuses, memory := l.DecideAll(view, l.memory)
	l.memory = memory
	for i, decision := range decisions {
		if decision.Setting != nil && l.servers[i].fresh {
			l.servers[i].lease = decision.Setting.Number
		}
	}
	return decisions, statuses
}

func (l *loop) run(seconds int) (decisions []policy.Decision, statuses []servicelevel.Status) {
	for range seconds {
		decisions, statuses = l.step()
	}
	return decisions, statuses
}

func newLoop(t testing.TB, nodes int) *loop {
	t.Helper()
	l := &loop{Policy: made(t), objects: []servicelevel.Object{orders()}}
	for i := range nodes {
		l.servers = append(l.servers, newServer(fmt.Sprintf("n%d", i)))
	}
	return l
}

func TestTheFirstStepComesAfterAWholePeriod(t *testing.T) {
	l := newLoop(t, 2)
	decisions, statuses := l.run(10)
	if decisions[0].Verdict != policy.Keep || decisions[0].Setting != nil || statuses[0].State != servicelevel.Unknown {
		t.Errorf("before it: %+v, %+v", decisions, statuses)
	}
	decisions, statuses = l.step()
	for _, decision := range decisions {
		if decision.Verdict != policy.Change || decision.Setting.Number != 1e8 {
			t.Errorf("the decision is %+v", decision)
		}
	}
	if is := statuses[0]; is.State != servicelevel.Missed || is.Nodes != 2 || is.ReservedBytes != 1e8 || len(is.Actions) != 1 {
		t.Errorf("it fares as %+v", is)
	}
}

// Of each new interval the averages take an eighth; one that is seen again says nothing.
func TestMovingAverages(t *testing.T) {
	l := newLoop(t, 1)
	l.step()
	l.servers[0].mean = 160 * time.Millisecond
	l.step()
	object := l.memory.(*state).objects["orders"]
	if got, want := object.load.meanSeconds, 0.08+0.125*0.08; math.Abs(got-want) > 1e-12 {
		t.Errorf("the mean is %v, want %v", got, want)
	}
	if got := object.load.requestsPerSecond; got != 100 {
		t.Errorf("the load is %v", got)
	}
	view := policy.View{Now: l.now, ServiceLevels: l.objects, Targets: []policy.Target{l.servers[0].target()}}
	_, _, memory := l.DecideAll(view, l.memory)
	if again := memory.(*state).objects["orders"].load; again.meanSeconds != object.load.meanSeconds {
		t.Errorf("the same interval again made it %v", again.meanSeconds)
	}
}

func TestTheMemoryThatIsGivenIsNotChanged(t *testing.T) {
	l := newLoop(t, 1)
	l.run(15)
	before := fmt.Sprintf("%+v %+v", *l.memory.(*state), *l.memory.(*state).objects["orders"])
	kept := l.memory
	l.run(30)
	if after := fmt.Sprintf("%+v %+v", *kept.(*state), *kept.(*state).objects["orders"]); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

// expectTakenOver takes a step, after which each server keeps so much.
func (l *loop) expectTakenOver(t *testing.T, reservedBytes float64) {
	t.Helper()
	decisions, statuses := l.step()
	for _, decision := range decisions {
		if decision.Setting == nil || decision.Setting.Number != reservedBytes {
			t.Errorf("the decision is %+v", decision)
		}
	}
	if statuses[0].ReservedBytes != reservedBytes {
		t.Errorf("it fares as %+v", statuses[0])
	}
}

func TestAFailoverGoesOnFromTheLeases(t *testing.T) {
	l := newLoop(t, 2)
	l.servers[0].lease, l.servers[1].lease = 3e8, 2e8
	l.expectTakenOver(t, 3e8)
}

// What nobody has answered yet says nothing of leases: an object that has cache keeps it.
func TestAFailoverBeforeAnybodyAnswers(t *testing.T) {
	l := newLoop(t, 2)
	for _, server := range l.servers {
		server.fresh = false
	}
	l.run(2)
	for _, server := range l.servers {
		server.fresh, server.lease = true, 3e8
	}
	l.expectTakenOver(t, 3e8)
}

func TestNodesThatHaveLessToGive(t *testing.T) {
	l := newLoop(t, 1)
	l.servers[0].lease = 5e8
	l.servers[0].mean = 10 * time.Millisecond
	l.run(5)
	l.servers[0].figures["cache_reservable_bytes"] = 3.5e8
	l.servers[0].figures["cache_reserved_bytes"] = 5e8
	decisions, statuses := l.run(10)
	if decisions[0].Setting.Number != 3e8 {
		t.Errorf("the decision is %+v", decisions[0])
	}
	if actions := statuses[0].Actions; len(actions) != 2 || actions[0].Action != servicelevel.ShrinkCache {
		t.Errorf("the actions are %+v", actions)
	}
}

// What others have reserved is theirs.
func TestReservationsOfOthersAreLeftAlone(t *testing.T) {
	l := newLoop(t, 1)
	l.servers[0].figures["cache_reserved_bytes"] = 9.5e8
	_, statuses := l.run(30)
	if is := statuses[0]; is.ReservedBytes != 0 || is.Wanted != servicelevel.AddNode || !strings.Contains(is.Reason, "no cache left") {
		t.Errorf("it fares as %+v", is)
	}
}

func TestAnInstanceThatIsLostIsDoneWithout(t *testing.T) {
	l := newLoop(t, 2)
	l.servers[1].fresh = false
	l.servers[1].age = 20 * time.Second
	decisions, statuses := l.run(12)
	if decisions[1].Verdict != policy.Stop || statuses[0].State != servicelevel.Unknown || len(statuses[0].Actions) > 0 {
		t.Errorf("at first: %+v, %+v", decisions, statuses)
	}
	l.servers[1].age = 31 * time.Second
	decisions, statuses = l.run(12)
	if decisions[0].Setting == nil || decisions[1].Verdict != policy.Stop || statuses[0].Nodes != 1 {
		t.Errorf("then: %+v, %+v", decisions, statuses)
	}
}

func TestAStoreWithoutReservationsIsLeftAlone(t *testing.T) {
	l := newLoop(t, 1)
	l.servers[0].isStock = true
	decisions, _ := l.run(12)
	if decisions[0].Verdict != policy.Stop || !strings.Contains(decisions[0].Reason, "no setting reserved_bytes or added_bytes") {
		t.Errorf("the decision is %+v", decisions[0])
	}
}

// What is asked for is no order: where nothing can be ordered, it is said all the same, once.
func TestAnAskIsMadeWhereNothingCanBeOrdered(t *testing.T) {
	l := newLoop(t, 2)
	l.objects[0].MostOperationsPerSecond = 10
	for _, server := range l.servers {
		server.isStock = true
	}
	var asked []policy.Decision
	for range 40 {
		decisions, _ := l.step()
		for _, decision := range decisions {
			if decision.Action != "" {
				asked = append(asked, decision)
			}
		}
	}
	if len(asked) != 1 || asked[0].Action != servicelevel.Throttle || asked[0].Verdict != policy.Stop {
		t.Errorf("what was asked for is %+v", asked)
	}
}

// A master of HBase is an instance of the store, and no node that has data or cache.
func TestAMasterIsNoNode(t *testing.T) {
	l := newLoop(t, 3)
	l.servers[0].isMaster = true
	decisions, statuses := l.run(11)
	if decisions[0].Verdict != policy.Stop || decisions[0].Setting != nil {
		t.Errorf("of the master it decides %+v", decisions[0])
	}
	for _, decision := range decisions[1:] {
		if decision.Setting == nil || decision.Setting.Number != 1e8 {
			t.Errorf("of a region server it decides %+v", decision)
		}
	}
	if statuses[0].Nodes != 2 {
		t.Errorf("it fares as %+v", statuses[0])
	}
}

func TestAServerThatRestartsIsCountedAnew(t *testing.T) {
	l := newLoop(t, 1)
	l.servers[0].figures["cache_orders_2fcf_hits_total"] = 1e6
	l.run(5)
	l.servers[0].figures["cache_orders_2fcf_hits_total"] = 0
	l.run(2)
	if got := l.memory.(*state).objects["orders"].hits.hitShare(); got != 0 {
		t.Errorf("the hits are %v", got)
	}
}

// Decide is DecideAll for one target.
func TestDecide(t *testing.T) {
	l := newLoop(t, 1)
	target := l.servers[0].target()
	view := policy.View{ServiceLevels: l.objects, Targets: []policy.Target{target}}
	if decision, memory := l.Decide(view, target, nil); decision.Verdict != policy.Keep || memory == nil {
		t.Errorf("the decision is %+v", decision)
	}
	target.Scope = "other"
	if decision, _ := l.Decide(view, target, nil); decision.Verdict != policy.Stop {
		t.Errorf("the decision is %+v", decision)
	}
}

// A table's figures are those of its families, whichever those are.
func TestFiguresOfTables(t *testing.T) {
	figures := map[string]float64{
		"cache_orders_2fa_hits_total": 1, "cache_orders_2fb_hits_total": 2, "cache_orders2_2fa_hits_total": 4,
		"cache_orders_2fa_misses_total": 8, "cache_orders_2fa_bytes": 16, "cache_orders_2fa_reserved_bytes": 32,
	}
	for name, test := range map[string]struct {
		scope, suffix string
		want          float64
	}{
		"table": {"orders", hitsSuffix, 3}, "family": {"orders/b", hitsSuffix, 2}, "bytes": {"orders", bytesSuffix, 16},
		"nothing": {"none/a", hitsSuffix, 0},
	} {
		if got := sumOf(figures, test.scope, test.suffix); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// A percentile is never below that of all requests, and at most a bucket above the highest of the intervals'.
func TestPercentilesAreNeverTooLow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []float64
		var joined histogram
		highest := 0.0
		for range rapid.IntRange(1, 5).Draw(t, "intervals") {
			requests := rapid.SliceOfN(rapid.Float64Range(1e-4, 10), 1, 300).Draw(t, "requests")
			slices.Sort(requests)
			all = append(all, requests...)
			at := func(share float64) time.Duration {
				rank := max(0, int(math.Ceil(share*float64(len(requests))))-1)
				return time.Duration(math.Ceil(requests[rank] * float64(time.Second)))
			}
			joined.add(store.Latency{Count: uint64(len(requests)), P50: at(0.5), P99: at(0.99), P999: at(0.999), Max: at(1)})
			highest = max(highest, at(1).Seconds())
		}
		slices.Sort(all)
		for _, share := range []float64{0.5, 0.99} {
			least := all[max(0, int(math.Ceil(share*float64(len(all))))-1)]
			if got := joined.quantile(share); got < least || got > highest*bucketGrowth+leastBucketSeconds {
				t.Fatalf("the quantile %v is %v, of all requests %v, the highest is %v", share, got, least, highest)
			}
		}
	})
}
