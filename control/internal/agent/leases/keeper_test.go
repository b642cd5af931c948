package leases_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
)

func TestTimeOnTheWayIsTakenOff(t *testing.T) {
	n := newNode(t)
	received := n.clock.now
	n.clock.advance(2 * time.Second)
	lease, err := n.keeper.Set(context.Background(), n.session(), hold("policy/a", 5*time.Second), received)
	if err != nil {
		t.Fatal(err)
	}
	if lease.TimeLeft != 3*time.Second {
		t.Errorf("%v left, want 3s", lease.TimeLeft)
	}
}

func TestTimeInASlowStoreIsTakenOff(t *testing.T) {
	tests := map[string]struct{ delay, want time.Duration }{
		"slow":     {2 * time.Second, 3 * time.Second},
		"too slow": {7 * time.Second, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			delay := test.delay
			n.process.before = func() error {
				n.clock.advance(delay)
				delay = 0
				return nil
			}
			lease, err := n.set(hold("policy/a", 5*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if excess := lease.TimeLeft - test.want; excess < 0 || excess > time.Millisecond {
				t.Errorf("%v left, want %v", lease.TimeLeft, test.want)
			}
		})
	}
}

func TestOrderThatIsTooLateIsNotPassedOn(t *testing.T) {
	n := newNode(t)
	received := n.clock.now
	n.clock.advance(5 * time.Second)
	order := hold("policy/a", 5*time.Second)
	if _, err := n.keeper.Set(context.Background(), n.session(), order, received); store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("set: error %v, want unavailable", err)
	}
	if err := n.keeper.Start(context.Background(), n.session(), order, received); store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("start: error %v, want unavailable", err)
	}
	n.wantNone(t)
}

func TestOrderWhoseCallerGaveUpIsNotPassedOn(t *testing.T) {
	n := newNode(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := n.keeper.Set(ctx, n.session(), hold("policy/a", 5*time.Second), n.clock.now)
	if store.CodeOf(err) != store.CodeUnavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want unavailable because of the cancellation", err)
	}
	n.wantNone(t)
}

func TestOrderThatWaitsForItsTurnEndsWithItsContext(t *testing.T) {
	n := newNode(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	n.process.before = func() error {
		close(arrived)
		<-release
		return nil
	}
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := n.set(hold("policy/a", 5*time.Second)); err != nil {
			t.Error(err)
		}
	})
	<-arrived
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := n.keeper.Clear(ctx, n.session(), store.Selection{Owner: "policy/a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the deadline", err)
	}
	if n.keeper.IsIdle() {
		t.Error("idle with an order under way")
	}
	close(release)
	first.Wait()
	if lease := n.onlyLease(t); lease.Owner != "policy/a" {
		t.Errorf("the store has %v", lease)
	}
}

func TestOrdersTakeTurns(t *testing.T) {
	n := newNode(t)
	var inside atomic.Int32
	var overlapped atomic.Bool
	n.process.before = func() error {
		if inside.Add(1) > 1 {
			overlapped.Store(true)
		}
		runtime.Gosched()
		inside.Add(-1)
		return nil
	}
	var orders sync.WaitGroup
	for i := range 50 {
		order := hold(fmt.Sprintf("policy/%d", i), 5*time.Second)
		order.Replace = true
		orders.Go(func() {
			if _, err := n.set(order); err != nil {
				t.Error(err)
			}
		})
		orders.Go(func() {
			if _, err := n.keeper.Clear(context.Background(), n.session(), store.Selection{Owner: "policy/0"}); err != nil {
				t.Error(err)
			}
		})
	}
	orders.Wait()
	if overlapped.Load() {
		t.Error("two orders were with the store at once")
	}
}

func TestRememberedLeasesAreBounded(t *testing.T) {
	const bound = 1024
	scopes := make([]string, bound+1)
	for i := range scopes {
		scopes[i] = fmt.Sprintf("table-%d", i)
	}
	n := newNode(t, scopes...)
	order := hold("policy/a", 5*time.Second)
	for _, scope := range scopes[:bound] {
		order.Scope = scope
		n.mustSet(t, order)
	}
	n.mustSet(t, order) // a renewal takes no room
	order.Scope = scopes[bound]
	if _, err := n.set(order); store.CodeOf(err) != store.CodeRefused {
		t.Errorf("error %v, want refused", err)
	}
	n.clock.advance(5 * time.Second)
	n.mustSet(t, order)
	n.clock.advance(5 * time.Second)
	if !n.keeper.IsIdle() {
		t.Error("leases that have run out are remembered")
	}
}
