package leases

import (
	"context"
	"slices"
	"time"

	"sluice.dev/control/internal/store"
)

// Observation is a snapshot's part that tells which leases the store has.
type Observation struct {
	// Begun is when the snapshot was asked for: of leases given later it tells nothing.
	Begun  time.Time
	Leases []store.Lease
}

// Restored is a lease that was given again, or could not be.
type Restored struct {
	Order store.Order
	// Err is why the store did not take it. It is tried again if the store is unavailable, and given up
	// on otherwise.
	Err error
}

// Reconcile compares what was ordered with what a store has. Leases that another process of the store
// was given, and that this one does not have, are given again for the time that was left. A lease that
// is missing though the store has not restarted was ended by the store's own limits or by somebody who
// does not order through this agent, and is forgotten, as is one that another owner or another setting
// has replaced.
func (k *Keeper) Reconcile(ctx context.Context, session Session, seen Observation) ([]Restored, error) {
	if err := k.enter(ctx); err != nil {
		return nil, err
	}
	defer k.leave()
	k.forgetExpired()
	var restored []Restored
	for _, target := range k.lost(session.Incarnation, seen) {
		restored = append(restored, k.restore(ctx, session, target))
	}
	return restored, nil
}

// lost forgets the leases that are no longer the caller's to have, and returns those that the store has
// lost, the oldest first.
func (k *Keeper) lost(incarnation string, seen Observation) []target {
	inForce := make(map[target]store.Lease, len(seen.Leases))
	for _, lease := range seen.Leases {
		inForce[target{lease.Kind, lease.Scope, lease.Setting.Aspect()}] = lease
	}
	var lost []target
	for target, memory := range k.remembered {
		lease, isInForce := inForce[target]
		switch {
		case !seen.Begun.After(memory.given):
		case isInForce && memory.isOf(lease):
			memory.kept, memory.incarnation = &lease.Setting, incarnation
			k.remembered[target] = memory
		case isInForce, memory.incarnation == incarnation:
			delete(k.remembered, target)
		default:
			lost = append(lost, target)
		}
	}
	slices.SortFunc(lost, func(a, b target) int {
		return k.remembered[a].given.Compare(k.remembered[b].given)
	})
	return lost
}

// isOf says whether a lease that a store shows is the remembered one. A start does not tell what setting the store
// keeps: the first that it shows then counts.
func (m memory) isOf(lease store.Lease) bool {
	if lease.Owner != m.order.Owner {
		return false
	}
	if m.kept == nil {
		return lease.Setting.Name == m.order.Setting.Name
	}
	return lease.Setting == *m.kept
}

func (k *Keeper) restore(ctx context.Context, session Session, target target) Restored {
	memory := k.remembered[target]
	order := memory.order
	// Whoever has taken the lease since the restart keeps it.
	order.Replace = false
	lease, err := k.give(ctx, session.Driver, order, memory.ends)
	switch {
	case err == nil:
		memory.kept, memory.given, memory.incarnation = &lease.Setting, k.now(), session.Incarnation
		k.remembered[target] = memory
	case store.CodeOf(err) != store.CodeUnavailable:
		delete(k.remembered, target)
	}
	return Restored{Order: order, Err: err}
}
