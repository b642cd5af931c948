package requestlimit

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

func made(t interface{ Fatal(...any) }) *Policy {
	built, err := New(map[string]any{"decision_seconds": 5.0})
	if err != nil {
		t.Fatal(err)
	}
	return built.(*Policy)
}

func object(name, scope string, operationsPerSecond float64) servicelevel.Object {
	return servicelevel.Object{Name: name, Store: "hbase", Scope: scope, Weight: 1, MostOperationsPerSecond: operationsPerSecond}
}

// server is an instance that tests change from second to second.
type server struct {
	node           string
	taken, refused float64
	isStale        bool
	isStock        bool
	lease          float64
}

func (s *server) target() policy.Target {
	target := policy.Target{
		Ref: policy.Ref{Node: s.node, Store: "hbase", Instance: "regionserver"}, Kind: store.Requests, Scope: "orders",
		Fresh: !s.isStale,
		Description: store.Description{Capabilities: []store.Capability{{
			Kind: store.Requests, Settings: []store.SettingName{store.RateOperationsPerSecond},
		}}},
		Snapshot: store.Snapshot{Figures: map[string]float64{}},
	}
	if s.isStale {
		target.Missing = "the snapshot is stale"
	}
	if s.isStock {
		target.Description.Capabilities = nil
	}
	if s.lease > 0 {
		target.Snapshot.Figures["requests_orders_taken_total"] = s.taken
		target.Snapshot.Figures["requests_orders_refused_total"] = s.refused
		target.Lease = &store.Lease{Setting: store.Setting{Name: store.RateOperationsPerSecond, Number: s.lease}, TimeLeft: time.Second}
	}
	return target
}

// loop is a policy over some servers, second by second. Each of them is asked for so many operations a second.
type loop struct {
	*Policy
	objects []servicelevel.Object
	servers []*server
	asked   []float64
	memory  policy.Memory
	now     time.Duration
}

func newLoop(t interface{ Fatal(...any) }, asked ...float64) *loop {
	l := &loop{Policy: made(t), objects: []servicelevel.Object{object("shop", "orders", 1000)}, asked: asked}
	for i := range asked {
		l.servers = append(l.servers, &server{node: fmt.Sprintf("n%d", i)})
	}
	return l
}

func (l *loop) step() []policy.Decision {
	l.now += time.Second
	view := policy.View{Now: l.now, Period: time.Second, ServiceLevels: l.objects}
	for i, server := range l.servers {
		taken := min(l.asked[i], server.lease)
		server.taken, server.refused = server.taken+taken, server.refused+l.asked[i]-taken
		view.Targets = append(view.Targets, server.target())
	}
	decisions, _, memory := l.DecideAll(view, l.memory)
	l.memory = memory
	for i, decision := range decisions {
		l.servers[i].lease = 0
		if decision.Setting != nil {
			l.servers[i].lease = decision.Setting.Number
		}
	}
	return decisions
}

func (l *loop) run(seconds int) (decisions []policy.Decision) {
	for range seconds {
		decisions = l.step()
	}
	return decisions
}

// leases are what the servers were given, to the whole number.
func (l *loop) leases() []float64 {
	var leases []float64
	for _, server := range l.servers {
		leases = append(leases, math.Round(server.lease))
	}
	return leases
}

func TestOneServerHasAll(t *testing.T) {
	l := newLoop(t, 5000)
	decisions := l.run(30)
	if got := l.leases(); !slices.Equal(got, []float64{1100}) {
		t.Errorf("it may take %v", got)
	}
	if want := "shop: at most 1100 operations/s, of which 100% are for this server"; decisions[0].Reason != want {
		t.Errorf("the reason is %q", decisions[0].Reason)
	}
}

func TestPartsFollowWhatIsAsked(t *testing.T) {
	l := newLoop(t, 3000, 1000, 0)
	l.step()
	if got := l.leases(); !slices.Equal(got, []float64{367, 367, 367}) {
		t.Errorf("before anything is known they may take %v", got)
	}
	l.run(120)
	// A fifth is shared out equally, the rest by 3 to 1.
	if got, want := l.leases(), []float64{1100 * (0.2/3 + 0.8*0.75), 1100 * (0.2/3 + 0.8*0.25), 1100 * 0.2 / 3}; !within(got, want) {
		t.Errorf("they may take %v, want %v", got, want)
	}
	l.asked = []float64{0, 0, 0}
	before := l.leases()
	l.run(30)
	if got := l.leases(); !slices.Equal(got, before) {
		t.Errorf("when nothing is asked for they may take %v, and %v before", got, before)
	}
}

// A server has counters once it has a lease: until it tells them a second time its rate is not known, however long the
// controller has run.
func TestTheFirstCountersOfAServerAreNoRate(t *testing.T) {
	l := newLoop(t, 3000, 1000)
	l.now = time.Hour
	l.run(6)
	if got := l.leases(); !slices.Equal(got, []float64{550, 550}) {
		t.Errorf("after the first counters they may take %v", got)
	}
	l.run(5)
	for i, want := range l.asked {
		seen := l.memory.(*state).tables["orders"].asked[l.servers[i].target().Ref]
		if !seen.hasRate || seen.perSecond != want {
			t.Errorf("of %s it is known that it is asked for %+v, not for %v", l.servers[i].node, seen, want)
		}
	}
}

func within(got, want []float64) bool {
	for i := range want {
		// What differs by less than a fiftieth is not worth an order.
		if math.Abs(got[i]-want[i]) > 0.025*want[i]+1 {
			return false
		}
	}
	return true
}

func TestFamiliesOfATableAddUp(t *testing.T) {
	l := newLoop(t, 1)
	l.objects = []servicelevel.Object{object("a", "orders/a", 100), object("b", "orders/b", 200), object("other", "carts", 5)}
	if got := l.Scopes(l.objects); !slices.Equal(got, []string{"carts", "orders"}) {
		t.Errorf("the scopes are %v", got)
	}
	l.step()
	if got := l.leases(); !slices.Equal(got, []float64{330}) {
		t.Errorf("it may take %v", got)
	}
}

// One that does not answer goes on without a limit once its lease has run out: what it takes is not known.
func TestServersThatAnswerShareAll(t *testing.T) {
	l := newLoop(t, 1000, 1000)
	l.run(20)
	l.servers[1].isStale = true
	decisions := l.step()
	if decisions[1].Verdict != policy.Stop || decisions[1].Reason != "the snapshot is stale" {
		t.Errorf("of the other is decided %+v", decisions[1])
	}
	if got := l.leases(); !slices.Equal(got, []float64{1100, 0}) {
		t.Errorf("they may take %v", got)
	}
	l.servers[1].isStale = false
	l.step()
	if got := l.leases(); !slices.Equal(got, []float64{550, 550}) {
		t.Errorf("then they may take %v", got)
	}
}

func TestAStoreThatCannotIsLeftAlone(t *testing.T) {
	l := newLoop(t, 1000)
	l.servers[0].isStock = true
	if decision := l.step()[0]; decision.Verdict != policy.Stop || decision.Setting != nil {
		t.Errorf("decided is %+v", decision)
	}
}

func TestATableWithoutAnObjectIsLeftAlone(t *testing.T) {
	l := newLoop(t, 1000)
	l.run(3)
	l.objects = nil
	if decision := l.step()[0]; decision.Verdict != policy.Stop || decision.Reason != "no service level is about orders" {
		t.Errorf("decided is %+v", decision)
	}
}

func TestALimitThatIsTheSameIsKept(t *testing.T) {
	l := newLoop(t, 1000, 1000)
	l.run(30)
	for _, decision := range l.step() {
		if decision.Verdict != policy.Keep || decision.Setting == nil {
			t.Errorf("decided is %+v", decision)
		}
	}
}

func TestDecideIsDecideAllForOneTarget(t *testing.T) {
	p := made(t)
	one, other := (&server{node: "n0"}).target(), (&server{node: "n1"}).target()
	view := policy.View{
		Now: time.Second, Targets: []policy.Target{one, other},
		ServiceLevels: []servicelevel.Object{object("shop", "orders", 1000)},
	}
	decisions, _, _ := p.DecideAll(view, nil)
	if got, _ := p.Decide(view, other, nil); !reflect.DeepEqual(got, decisions[1]) {
		t.Errorf("got %+v, want %+v", got, decisions[1])
	}
}

// Whatever is asked and whichever servers answer: together they take no more than was promised, but for what rounding
// gives, each has its least part, and the memory that is given is not changed.
func TestPropertiesOfLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := rapid.SliceOfN(rapid.Float64Range(0, 1e5), 1, 5).Draw(t, "asked")
		l := newLoop(t, asked...)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			for i := range l.servers {
				l.servers[i].isStale = rapid.IntRange(0, 9).Draw(t, "stale") == 0
				if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
					l.servers[i].taken, l.servers[i].refused = 0, 0
				}
			}
			before := copied(l.memory)
			given := l.memory
			l.step()
			if given != nil && !reflect.DeepEqual(given, policy.Memory(before)) {
				t.Fatalf("the memory was changed from %+v to %+v", before, given)
			}
			sum, answering := 0.0, 0
			for _, server := range l.servers {
				if !server.isStale {
					answering++
					sum += server.lease
				}
			}
			if answering > 0 && math.Abs(sum-1100) > 0.03*1100 {
				t.Fatalf("together they may take %v", sum)
			}
			for _, server := range l.servers {
				if least := 1100 * 0.2 / float64(max(1, answering)); !server.isStale && server.lease < 0.97*least {
					t.Fatalf("one of %d may take %v", answering, server.lease)
				}
			}
		}
	})
}
