package servicelevel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// table is an object on a store whose tables share the cache of a node, and how it fares.
type table struct {
	object servicelevel.Object
	// mean is what its reads take; hitsPerSecond and missesPerSecond are on each node.
	mean                           time.Duration
	hitsPerSecond, missesPerSecond float64
	hits, misses                   float64
}

func newTable(name string, mean time.Duration) *table {
	object := orders()
	object.Name, object.Scope = name, "shop."+name
	return &table{object: object, mean: mean, missesPerSecond: 100}
}

// sharing is the policy over nodes of which each has one cache for all tables, second by second.
type sharing struct {
	*Policy
	tables []*table
	nodes  int
	// own is the capacity of the cache on each node without any order.
	own, reservable float64
	// usedShare is the part of the cache that is filled.
	usedShare float64
	// given has the leases, by node and scope.
	given  map[string]float64
	memory policy.Memory
	now    time.Duration
	// clients are what clients tell each second.
	clients []policy.ClientLatencies
}

func newSharing(t testing.TB, tables ...*table) *sharing {
	t.Helper()
	return &sharing{Policy: made(t), tables: tables, nodes: 1, own: 1e8, reservable: 1e9, usedShare: 1, given: map[string]float64{}}
}

func (s *sharing) target(node int, of *table) policy.Target {
	name := fmt.Sprintf("n%d", node)
	target := policy.Target{
		Ref: policy.Ref{Node: name, Store: "cassandra", Instance: "main"}, Kind: store.Cache, Scope: of.object.Scope, Fresh: true,
		Description: store.Description{Capabilities: []store.Capability{{
			Kind: store.Cache, Settings: []store.SettingName{store.ReservedBytes, store.AddedBytes},
		}}},
		Snapshot: store.Snapshot{
			Figures: map[string]float64{"cache_reservable_bytes": s.reservable},
			// What a server tells of all requests must not count.
			Latencies: []store.Latency{interval1("read", time.Hour, 1e6)},
		},
	}
	added := 0.0
	for _, each := range s.tables {
		added += s.given[name+each.object.Scope]
		target.Snapshot.Figures[store.FigureName("cache", each.object.Scope, "hits_total")] = each.hits
		target.Snapshot.Figures[store.FigureName("cache", each.object.Scope, "misses_total")] = each.misses
		count := uint64(each.hitsPerSecond + each.missesPerSecond)
		target.Snapshot.ScopeLatencies = append(target.Snapshot.ScopeLatencies,
			store.ScopeLatency{Scope: each.object.Scope, Latency: interval1("read", each.mean, count)},
			store.ScopeLatency{Scope: each.object.Scope, Latency: interval1("write", time.Millisecond, 10)})
	}
	target.Snapshot.Figures["cache_reserved_bytes"] = added
	target.Snapshot.Figures["cache_capacity_bytes"] = s.own + added
	target.Snapshot.Figures["cache_used_bytes"] = s.usedShare * (s.own + added)
	if bytes := s.given[name+of.object.Scope]; bytes > 0 {
		target.Lease = &store.Lease{Setting: store.Setting{Name: store.AddedBytes, Number: bytes}, TimeLeft: time.Second}
	}
	return target
}

// interval1 is an interval of a second in which every request took as long.
func interval1(class string, took time.Duration, count uint64) store.Latency {
	return store.Latency{Class: class, Interval: time.Second, Count: count, Mean: took, P50: took, P99: took, P999: took, Max: took}
}

func (s *sharing) step() ([]policy.Decision, []servicelevel.Status) {
	s.now += time.Second
	view := policy.View{Now: s.now, Period: time.Second, Clients: s.clients}
	for _, each := range s.tables {
		each.hits += each.hitsPerSecond
		each.misses += each.missesPerSecond
		view.ServiceLevels = append(view.ServiceLevels, each.object)
	}
	for node := range s.nodes {
		for _, each := range s.tables {
			view.Targets = append(view.Targets, s.target(node, each))
		}
	}
	decisions, statuses, memory := s.DecideAll(view, s.memory)
	s.memory = memory
	for i, decision := range decisions {
		target := view.Targets[i]
		delete(s.given, target.Node+target.Scope)
		if decision.Setting != nil {
			s.given[target.Node+target.Scope] = decision.Setting.Number
		}
	}
	return decisions, statuses
}

func (s *sharing) run(seconds int) (decisions []policy.Decision, statuses []servicelevel.Status) {
	for range seconds {
		decisions, statuses = s.step()
	}
	return decisions, statuses
}

// A store that tells latencies by scope is taken at its word: nothing is worked out.
func TestAScopeIsJudgedByItsOwnRequests(t *testing.T) {
	fast, slow := newTable("fast", 10*time.Millisecond), newTable("slow", 80*time.Millisecond)
	_, statuses := newSharing(t, fast, slow).run(11)
	for i, want := range []struct {
		state   servicelevel.State
		seconds float64
	}{{servicelevel.Reached, 0.01}, {servicelevel.Missed, 0.08}} {
		is := statuses[i]
		if is.State != want.state || is.IsEstimated || is.ActualSeconds != want.seconds || is.OperationsPerSecond != 110 {
			t.Errorf("%s fares as %+v, want %+v", is.Name, is, want)
		}
	}
}

func TestPercentilesAreThoseOfTheScope(t *testing.T) {
	fast := newTable("fast", 10*time.Millisecond)
	fast.object.Target = servicelevel.Target{Statistic: servicelevel.P99, Seconds: 0.011}
	_, statuses := newSharing(t, fast, newTable("slow", 80*time.Millisecond)).run(11)
	if is := statuses[0]; is.State != servicelevel.Reached || is.ActualSeconds < 0.01 || is.ActualSeconds > 0.01*bucketGrowth {
		t.Errorf("it fares as %+v", is)
	}
}

// One that keeps its target with more than it was promised for, while another misses his, is to be held to its load: that
// is asked for once, for as long as it is so.
func TestAThrottleIsAskedForOnce(t *testing.T) {
	loud, slow := newTable("loud", 10*time.Millisecond), newTable("slow", 80*time.Millisecond)
	loud.object.MostOperationsPerSecond = 90
	s := newSharing(t, loud, slow)
	expect := func(wanted servicelevel.Action, asked int) {
		t.Helper()
		_, statuses := s.run(51)
		is := statuses[0]
		if is.Name != "loud" || is.State != servicelevel.Reached || is.Wanted != wanted || len(is.Actions) != asked {
			t.Errorf("it fares as %+v, want %q wanted and asked for %d times", is, wanted, asked)
		}
	}
	expect(servicelevel.Throttle, 1)
	slow.mean = 10 * time.Millisecond
	expect("", 1)
	slow.mean = 80 * time.Millisecond
	expect(servicelevel.Throttle, 2)
}

// What other scopes are asked for says nothing of one that is asked for nothing.
func TestAScopeWithoutRequestsIsUnknown(t *testing.T) {
	idle, busy := newTable("idle", 0), newTable("busy", 80*time.Millisecond)
	idle.missesPerSecond = 0
	_, statuses := newSharing(t, idle, busy).run(30)
	if is := statuses[0]; is.State != servicelevel.Unknown || is.ReservedBytes != 0 {
		t.Errorf("it fares as %+v", is)
	}
}

// A step makes the cache larger, and what several tables have been given adds up.
func TestStepsOfASharedCacheAddUp(t *testing.T) {
	s := newSharing(t, newTable("a", 80*time.Millisecond), newTable("b", 80*time.Millisecond))
	s.nodes = 2
	decisions, _ := s.run(11)
	for _, decision := range decisions {
		if decision.Setting == nil || *decision.Setting != (store.Setting{Name: store.AddedBytes, Number: 1e8}) {
			t.Errorf("decided is %+v", decision)
		}
	}
	if got := s.target(1, s.tables[0]).Snapshot.Figures["cache_capacity_bytes"]; got != 3e8 {
		t.Errorf("the cache has %v bytes", got)
	}
}

// The next step waits until the cache that all share is full, whoever fills it.
func TestAStepWaitsUntilTheSharedCacheIsFull(t *testing.T) {
	s := newSharing(t, newTable("a", 80*time.Millisecond))
	s.run(11)
	s.usedShare = 0.5
	if _, statuses := s.run(20); statuses[0].ReservedBytes != 1e8 || !strings.Contains(statuses[0].Reason, "still being filled") {
		t.Errorf("it fares as %+v", statuses[0])
	}
	s.usedShare = 0.95
	s.tables[0].hitsPerSecond = 200
	if _, statuses := s.run(10); statuses[0].ReservedBytes != 2e8 {
		t.Errorf("then it fares as %+v", statuses[0])
	}
}

// The benefit of a step is what it was by the whole cache: another's step has answered this one's reads as well.
func TestTheBenefitIsByTheWholeCache(t *testing.T) {
	a, b := newTable("a", 80*time.Millisecond), newTable("b", 80*time.Millisecond)
	s := newSharing(t, a, b)
	s.run(11)
	// Both have grown: of a's reads 15 % hit, after two steps, so that the next one saves 7.5 / 85 of the misses.
	a.hitsPerSecond, a.missesPerSecond = 15, 85
	_, statuses := s.run(100)
	if is := statuses[0]; is.State != servicelevel.WantsNode || !strings.Contains(is.Reason, "would save 8.8") {
		t.Errorf("it fares as %+v", is)
	}
}

// Nothing would come of it: the cache would be as large as before.
func TestNobodyGivesAStepOfASharedCache(t *testing.T) {
	rich, poor := newTable("rich", 10*time.Millisecond), newTable("poor", 80*time.Millisecond)
	s := newSharing(t, rich, poor)
	// So slow that nobody loses his target for it.
	s.moveBytesPerSecond = 5e6
	s.given["n0shop.rich"] = s.reservable
	rich.hitsPerSecond, rich.missesPerSecond = 100, 1
	_, statuses := s.run(300)
	if is := statuses[0]; is.ReservedBytes != s.reservable {
		t.Errorf("the one who has it fares as %+v", is)
	}
	if is := statuses[1]; is.State != servicelevel.WantsNode || is.ReservedBytes != 0 || !strings.Contains(is.Reason, "no cache left") {
		t.Errorf("the one who needs it fares as %+v", is)
	}
}

// Hits in a cache that others use say nothing about the profile; in one that is the object's alone they do.
func TestAProfileIsJudgedByACacheOfItsOwn(t *testing.T) {
	for name, test := range map[string]struct {
		others float64
		want   bool
	}{"alone": {0, true}, "beside another": {50, false}} {
		a, b := newTable("a", 80*time.Millisecond), newTable("b", 10*time.Millisecond)
		b.missesPerSecond = test.others
		s := newSharing(t, a, b)
		s.run(11)
		// Zipfian, as it says, would hit far more than this part of its data.
		a.hitsPerSecond, a.missesPerSecond = 2, 98
		_, statuses := s.run(100)
		if got := strings.Contains(statuses[0].Reason, "its profile says zipfian"); got != test.want {
			t.Errorf("%s it fares as %+v", name, statuses[0])
		}
	}
}

func TestAdmissionSaysThatTheCacheIsShared(t *testing.T) {
	s := newSharing(t, newTable("a", time.Millisecond))
	resources := s.Resources([]policy.Target{s.target(0, s.tables[0]), s.target(1, s.tables[0])})
	if !resources.IsShared || resources.Nodes != 2 || resources.ReservableBytes != 1e9 {
		t.Errorf("the resources are %+v", resources)
	}
	admission := servicelevel.Admit(s.tables[0].object, nil, resources)
	if !strings.Contains(strings.Join(admission.Lines, "\n"), "the cache of a node is one for all objects") {
		t.Errorf("the arithmetic is %q", admission.Lines)
	}
}

// Whatever hits and misses: no more is added than may be, nobody's cache shrinks while it may be as large, and all of it
// is asked for in the word for a cache that is shared.
func TestPropertiesOfASharedCache(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newSharing(t)
		for i := range rapid.IntRange(1, 4).Draw(rt, "tables") {
			s.tables = append(s.tables, newTable(fmt.Sprintf("t%d", i), 0))
		}
		s.nodes = rapid.IntRange(1, 3).Draw(rt, "nodes")
		s.reservable = rapid.Float64Range(0, 2e9).Draw(rt, "reservable")
		had := map[string]float64{}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			for _, each := range s.tables {
				each.mean = time.Duration(rapid.IntRange(1, 100).Draw(rt, "milliseconds")) * time.Millisecond
				each.hitsPerSecond = rapid.Float64Range(0, 500).Draw(rt, "hits")
				each.missesPerSecond = rapid.Float64Range(0, 500).Draw(rt, "misses")
			}
			s.usedShare = rapid.Float64Range(0, 1).Draw(rt, "used")
			decisions, _ := s.run(10)
			added := map[string]float64{}
			for _, decision := range decisions {
				if decision.Setting == nil {
					continue
				}
				key := decision.Target.Node + decision.Scope
				if decision.Setting.Name != store.AddedBytes || decision.Setting.Number < had[key] {
					rt.Fatalf("%+v, after %v", decision, had[key])
				}
				had[key] = decision.Setting.Number
				added[decision.Target.Node] += decision.Setting.Number
			}
			for node, bytes := range added {
				if bytes > s.reservable {
					rt.Fatalf("%v bytes are added on %s, of %v", bytes, node, s.reservable)
				}
			}
		}
	})
}
