package leases_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"sluice.dev/control/internal/agent/leases"
	"sluice.dev/control/internal/localprotocol/reference"
	"sluice.dev/control/internal/store"
)

// virtualClock stands still until it is told to go on.
type virtualClock struct {
	now time.Time
}

func newClock() *virtualClock {
	return &virtualClock{now: time.Now()}
}

func (c *virtualClock) read() time.Time {
	return c.now
}

func (c *virtualClock) advance(by time.Duration) {
	c.now = c.now.Add(by)
}

// process is one process of the reference store, as a driver.
type process struct {
	*reference.Store
	// before is called with each order, before the store gets it; an error keeps it from the store.
	before func() error
	// rounds says that it takes numbers of starts as whole ones.
	rounds bool
}

func (p *process) Set(ctx context.Context, order store.Order) (store.Lease, error) {
	if err := p.interfere(); err != nil {
		return store.Lease{}, err
	}
	return p.Store.Set(ctx, order)
}

func (p *process) Clear(ctx context.Context, selection store.Selection) (int, error) {
	if err := p.interfere(); err != nil {
		return 0, err
	}
	return p.Store.Clear(ctx, selection)
}

func (p *process) Start(ctx context.Context, order store.Order) error {
	if err := p.interfere(); err != nil {
		return err
	}
	if p.rounds {
		order.Setting.Number = math.Round(order.Setting.Number)
	}
	return p.Store.Start(ctx, order)
}

func (p *process) Abort(ctx context.Context, abortion store.Abortion) error {
	if err := p.interfere(); err != nil {
		return err
	}
	return p.Store.Abort(ctx, abortion)
}

func (p *process) interfere() error {
	if p.before == nil {
		return nil
	}
	return p.before()
}

func (p *process) Close() error {
	return nil
}

var unavailable = store.Errorf(store.CodeUnavailable, "the connection broke")

// node is a store that can restart, and the keeper of its leases.
type node struct {
	clock    *virtualClock
	config   reference.Config
	process  *process
	restarts int
	keeper   *leases.Keeper
}

// newNode makes a store whose debt hardly grows, so that no limit ends a lease.
func newNode(t testing.TB, scopes ...string) *node {
	config := reference.DefaultConfig()
	config.WriteBytesPerSecond, config.BurstBytesPerSecond = 1, 1
	config.Scopes = append([]string{"orders", "events"}, scopes...)
	clock := newClock()
	n := &node{clock: clock, config: config, keeper: leases.NewKeeper(clock.read)}
	n.restart(t)
	return n
}

func (n *node) restart(t testing.TB) {
	t.Helper()
	made, err := reference.New(n.config, n.clock.read)
	if err != nil {
		t.Fatal(err)
	}
	n.process = &process{Store: made}
	n.restarts++
}

func (n *node) session() leases.Session {
	return leases.Session{Driver: n.process, Incarnation: fmt.Sprint(n.restarts)}
}

func (n *node) set(order store.Order) (store.Lease, error) {
	return n.keeper.Set(context.Background(), n.session(), order, n.clock.now)
}

func (n *node) mustSet(t testing.TB, order store.Order) {
	t.Helper()
	if _, err := n.set(order); err != nil {
		t.Fatal(err)
	}
}

// inForce is what the store has, in a snapshot that begins a moment later.
func (n *node) inForce(t testing.TB) leases.Observation {
	t.Helper()
	n.clock.advance(10 * time.Millisecond)
	begun := n.clock.now
	snapshot, err := n.process.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return leases.Observation{Begun: begun, Leases: snapshot.Leases}
}

func (n *node) reconcile(t testing.TB) []leases.Restored {
	t.Helper()
	restored, err := n.keeper.Reconcile(context.Background(), n.session(), n.inForce(t))
	if err != nil {
		t.Fatal(err)
	}
	return restored
}

// onlyLease is the one lease that the store has.
func (n *node) onlyLease(t testing.TB) store.Lease {
	t.Helper()
	all := n.inForce(t).Leases
	if len(all) != 1 {
		t.Fatalf("the store has %d leases, want 1: %v", len(all), all)
	}
	return all[0]
}

func (n *node) wantNone(t testing.TB) {
	t.Helper()
	if all := n.inForce(t).Leases; len(all) > 0 {
		t.Errorf("the store has leases: %v", all)
	}
}

func hold(owner string, timeToLive time.Duration) store.Order {
	return store.Order{
		Kind: store.Compaction, Setting: store.Setting{Name: store.Hold}, Owner: owner, TimeToLive: timeToLive,
	}
}
