// Package leases keeps the leases of one instance of a store alive across a restart of the store, and
// orders for it in their order.
//
// The leases themselves live in the store, which ends them by its own clock. A Keeper only remembers what
// was ordered through it, and until when, so that a store that has lost its leases by a restart can be
// given them again for the time that was left. What it remembers is in memory alone. An agent that
// restarts remembers nothing and does nothing: leases go on in the stores, are renewed through the new
// agent, or run out; a store that restarts as well in the meantime follows its own configuration, as it
// does when a lease has ended. For the same reason an agent that stops clears nothing: a store keeps its
// leases while the agent is exchanged for another version.
//
// # Late, duplicated and reordered orders
//
// Orders for one instance go to the store one at a time, in the order of their arrival. The protocol has
// no sequence number, and none is needed where a caller waits for an answer, or for the deadline of its
// call, before it gives another order for the same lease:
//
//   - gRPC runs a call at most once: it repeats one by itself only if the server has not seen it.
//     Callers must configure no retry policy.
//   - Calls that run at the same time have no order among each other, by gRPC or here.
//   - A call whose caller has given up is not passed on: both the cancellation and the deadline reach its
//     context, and that is looked at after its turn has come.
//   - A call can be late when the network has held it back. It arrives on the connection that it was sent
//     on or not at all, and the agent's keepalive closes one that has been silent for some seconds. So a
//     call that was given up can still be obeyed if it comes within that time, together with its
//     cancellation, after a newer one on another connection.
//   - An order of an exchange comes after those before it, and is given up after the time that it names,
//     counted from its arrival; nothing else cancels it but the end of the exchange.
//   - A store that hangs can obey a call after its caller has given up.
//
// In the last three cases an older order can win. It then holds until the next renewal of the newer one,
// and at most for its own time to live, which is the bound that every lease has.
package leases

import (
	"context"
	"time"

	"sluice.dev/control/internal/store"
)

const (
	// maxRemembered bounds the memory that callers can use up with leases on ever new scopes.
	maxRemembered = 1024
	// maxGrantTime is how long a store may take to give a lease before the time is taken off again.
	maxGrantTime = 100 * time.Millisecond
	// leastTimeToLive ends a lease that was given after its time; an order cannot ask for none at all.
	leastTimeToLive = time.Millisecond
)

// Session is a connection to one process of a store.
type Session struct {
	Driver store.Driver
	// Incarnation differs between the processes that have served the instance one after the other.
	Incarnation string
}

// Keeper passes the orders for one instance on, and remembers the leases that come of them. It is safe
// for concurrent use.
type Keeper struct {
	now func() time.Time
	// lane holds one element while an order is with the store, and so guards what is below.
	lane       chan struct{}
	remembered map[target]memory
}

// target is what leases compete for: there is one at most.
type target struct {
	kind   store.Kind
	scope  string
	aspect store.Aspect
}

type memory struct {
	order store.Order
	// kept is the setting as the store keeps it, which may be rounded; nil until the store has told.
	kept *store.Setting
	// ends is when the caller's time to live ends, given when the store was known to have the lease.
	ends, given time.Time
	incarnation string
}

// NewKeeper makes a Keeper that remembers nothing. The clock must never jump.
func NewKeeper(now func() time.Time) *Keeper {
	return &Keeper{now: now, lane: make(chan struct{}, 1), remembered: make(map[target]memory)}
}

// Set gives, renews or replaces a lease. The lease ends one time to live after the order was received,
// however long the way to the store took.
func (k *Keeper) Set(ctx context.Context, session Session, order store.Order, received time.Time) (store.Lease, error) {
	if err := k.enter(ctx); err != nil {
		return store.Lease{}, err
	}
	defer k.leave()
	if err := k.checkRoom(order); err != nil {
		return store.Lease{}, err
	}
	ends := received.Add(order.TimeToLive)
	lease, err := k.give(ctx, session.Driver, order, ends)
	k.remember(session, order, &lease.Setting, ends, err)
	return lease, err
}

// Start starts a task. If the order has a setting, that is a lease, which is remembered as others are.
// Its time to live has the time taken off until the store was asked, but not that which the store took.
func (k *Keeper) Start(ctx context.Context, session Session, order store.Order, received time.Time) error {
	if err := k.enter(ctx); err != nil {
		return err
	}
	defer k.leave()
	hasLease := order.Setting != (store.Setting{})
	if err := k.checkRoom(order); hasLease && err != nil {
		return err
	}
	ends := received.Add(order.TimeToLive)
	order.TimeToLive = ends.Sub(k.now())
	if order.TimeToLive <= 0 {
		return tooLate()
	}
	err := session.Driver.Start(ctx, order)
	if hasLease {
		// Given again, it is the lease alone.
		order.Variant = ""
		k.remember(session, order, nil, ends, err)
	}
	return err
}

// Abort tells a task to end, after the orders that came before: one of them may have started it.
func (k *Keeper) Abort(ctx context.Context, session Session, abortion store.Abortion) error {
	if err := k.enter(ctx); err != nil {
		return err
	}
	defer k.leave()
	return session.Driver.Abort(ctx, abortion)
}

// Clear ends leases before their time, and returns how many. Those that it selects are not given again,
// even if the store cannot be reached.
func (k *Keeper) Clear(ctx context.Context, session Session, selection store.Selection) (int, error) {
	if err := k.enter(ctx); err != nil {
		return 0, err
	}
	defer k.leave()
	k.forget(selection)
	return session.Driver.Clear(ctx, selection)
}

// Forget is Clear for a store that cannot be reached: what it selects is not given again.
func (k *Keeper) Forget(ctx context.Context, selection store.Selection) error {
	if err := k.enter(ctx); err != nil {
		return err
	}
	defer k.leave()
	k.forget(selection)
	return nil
}

func (k *Keeper) forget(selection store.Selection) {
	for target, memory := range k.remembered {
		if memory.order.Owner != selection.Owner {
			continue
		}
		if selection.Kind == "" || (selection.Kind == target.kind && selection.Scope == target.scope) {
			delete(k.remembered, target)
		}
	}
}

// IsIdle says whether there is nothing to remember any more, and no order under way.
func (k *Keeper) IsIdle() bool {
	select {
	case k.lane <- struct{}{}:
	default:
		return false
	}
	defer k.leave()
	k.forgetExpired()
	return len(k.remembered) == 0
}

// enter waits for the orders before this one.
func (k *Keeper) enter(ctx context.Context) error {
	select {
	case k.lane <- struct{}{}:
	case <-ctx.Done():
		return gaveUp(ctx)
	}
	if ctx.Err() != nil {
		k.leave()
		return gaveUp(ctx)
	}
	return nil
}

func (k *Keeper) leave() {
	<-k.lane
}

func gaveUp(ctx context.Context) error {
	return store.Errorf(store.CodeUnavailable, "the caller gave up before the order was passed on: %w", context.Cause(ctx)).
		WithHint("An earlier order for the same instance was still with the store.")
}

func tooLate() error {
	return store.Errorf(store.CodeUnavailable, "the time to live was over before the order could be passed on").
		WithHint("Ask for a longer one, or find out why the store is slow to answer.")
}

// give asks the store for a lease that ends at a given time. A store that took long has started to count
// late; it is asked a second time for what is left then.
func (k *Keeper) give(ctx context.Context, driver store.Driver, order store.Order, ends time.Time) (store.Lease, error) {
	asked := k.now()
	order.TimeToLive = ends.Sub(asked)
	if order.TimeToLive <= 0 {
		return store.Lease{}, tooLate()
	}
	lease, err := driver.Set(ctx, order)
	if err != nil || k.now().Sub(asked) <= maxGrantTime {
		return lease, err
	}
	order.TimeToLive = max(ends.Sub(k.now()), leastTimeToLive)
	return driver.Set(ctx, order)
}

// remember notes what came of an order. Where nobody knows what did, neither this order nor the one
// before it may be given again.
func (k *Keeper) remember(session Session, order store.Order, kept *store.Setting, ends time.Time, err error) {
	switch {
	case err == nil:
		k.remembered[targetOf(order)] = memory{
			order: order, kept: kept, ends: ends, given: k.now(), incarnation: session.Incarnation,
		}
	case store.CodeOf(err) == store.CodeUnavailable:
		delete(k.remembered, targetOf(order))
	}
}

func targetOf(order store.Order) target {
	return target{order.Kind, order.Scope, order.Setting.Aspect()}
}

func (k *Keeper) checkRoom(order store.Order) error {
	if _, known := k.remembered[targetOf(order)]; known || len(k.remembered) < maxRemembered {
		return nil
	}
	k.forgetExpired()
	if len(k.remembered) < maxRemembered {
		return nil
	}
	return store.Errorf(store.CodeRefused, "there are %d leases on this instance already", len(k.remembered)).
		WithHint("Clear some, or let them run out.")
}

func (k *Keeper) forgetExpired() {
	now := k.now()
	for target, memory := range k.remembered {
		if !now.Before(memory.ends) {
			delete(k.remembered, target)
		}
	}
}
