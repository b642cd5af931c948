package leases_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/store"
)

// allowance is what callers have asked for: nothing else may ever be in the store.
type allowance struct {
	setting store.Setting
	owner   string
	ends    time.Time
}

type place struct {
	scope  string
	aspect store.Aspect
}

// TestKeeperGivesWhatWasAskedForAndNothingElse gives random orders to a store that restarts at random.
func TestKeeperGivesWhatWasAskedForAndNothingElse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := newNode(t)
		allowed := make(map[place]allowance)
		rt.Repeat(map[string]func(*rapid.T){
			"set": func(rt *rapid.T) {
				order := drawOrder(rt)
				received := n.clock.now
				n.clock.advance(drawPause(rt))
				lease, err := n.keeper.Set(context.Background(), n.session(), order, received)
				if err != nil {
					return
				}
				allowed[place{order.Scope, order.Setting.Aspect()}] = allowance{
					lease.Setting, order.Owner, received.Add(order.TimeToLive),
				}
			},
			"break off": func(rt *rapid.T) {
				order := drawOrder(rt)
				n.process.before = func() error { return unavailable }
				_, err := n.set(order)
				n.process.before = nil
				if err == nil {
					rt.Fatal("no error")
				}
			},
			"clear": func(rt *rapid.T) {
				selection := store.Selection{Owner: drawOwner(rt)}
				if rapid.Bool().Draw(rt, "one scope") {
					selection.Kind, selection.Scope = store.Compaction, drawScope(rt)
				}
				if _, err := n.keeper.Clear(context.Background(), n.session(), selection); err != nil {
					rt.Fatal(err)
				}
				maps.DeleteFunc(allowed, func(at place, a allowance) bool {
					return a.owner == selection.Owner && (selection.Kind == "" || at.scope == selection.Scope)
				})
			},
			"restart": func(*rapid.T) { n.restart(t) },
			"wait":    func(rt *rapid.T) { n.clock.advance(drawPause(rt)) },
			"reconcile": func(rt *rapid.T) {
				for _, restored := range n.reconcile(t) {
					if restored.Err != nil {
						rt.Fatalf("a lease was not given again: %v", restored.Err)
					}
				}
			},
			"": func(rt *rapid.T) { checkAllowed(rt, n, allowed) },
		})
	})
}

func checkAllowed(rt *rapid.T, n *node, allowed map[place]allowance) {
	snapshot, err := n.process.Snapshot(context.Background())
	if err != nil {
		rt.Fatal(err)
	}
	for _, lease := range snapshot.Leases {
		asked, known := allowed[place{lease.Scope, lease.Setting.Aspect()}]
		if !known || asked.owner != lease.Owner || asked.setting != lease.Setting {
			rt.Fatalf("the store has %+v, asked for was %+v", lease, asked)
		}
		if ends := n.clock.now.Add(lease.TimeLeft); ends.After(asked.ends) {
			rt.Fatalf("%+v ends %v after what was asked for", lease, ends.Sub(asked.ends))
		}
	}
}

// TestKeeperLosesNoLease restarts a store at random between orders that all succeed: whatever still has
// time left is in the store after each comparison.
func TestKeeperLosesNoLease(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := newNode(t)
		allowed := make(map[place]allowance)
		rt.Repeat(map[string]func(*rapid.T){
			"set": func(rt *rapid.T) {
				order := drawOrder(rt)
				order.Replace = true
				n.mustSet(t, order)
				allowed[place{order.Scope, order.Setting.Aspect()}] = allowance{
					order.Setting, order.Owner, n.clock.now.Add(order.TimeToLive),
				}
			},
			"restart": func(*rapid.T) {
				n.restart(t)
				n.reconcile(t)
			},
			"wait": func(rt *rapid.T) {
				n.clock.advance(drawPause(rt))
				n.reconcile(t)
			},
			"": func(rt *rapid.T) {
				checkAllowed(rt, n, allowed)
				maps.DeleteFunc(allowed, func(_ place, a allowance) bool { return !a.ends.After(n.clock.now) })
				snapshot, err := n.process.Snapshot(context.Background())
				if err != nil {
					rt.Fatal(err)
				}
				if len(snapshot.Leases) != len(allowed) {
					rt.Fatalf("the store has %v, asked for was %v", snapshot.Leases, slices.Collect(maps.Keys(allowed)))
				}
			},
		})
	})
}

func drawOrder(rt *rapid.T) store.Order {
	settings := []store.Setting{
		{Name: store.Hold}, {Name: store.Full}, {Name: store.RateBytesPerSecond, Number: 1e6},
		{Name: store.DeferUntilDebtBytes, Number: 1e6},
	}
	return store.Order{
		Kind:       store.Compaction,
		Scope:      drawScope(rt),
		Setting:    rapid.SampledFrom(settings).Draw(rt, "setting"),
		Owner:      drawOwner(rt),
		TimeToLive: time.Duration(rapid.IntRange(1, 50).Draw(rt, "tenths of a second to live")) * 100 * time.Millisecond,
		Replace:    rapid.Bool().Draw(rt, "replace"),
	}
}

func drawScope(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"", "orders", "events"}).Draw(rt, "scope")
}

func drawOwner(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"policy/a", "operator/b"}).Draw(rt, "owner")
}

// drawPause is a multiple of the reference store's step, so that its leases end to the moment.
func drawPause(rt *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(1, 300).Draw(rt, "hundredths of a second")) * 10 * time.Millisecond
}
