package reference

import (
	"slices"
	"time"

	"sluice.dev/control/internal/store"
)

// lease is an order in force. Times are since the store started.
type lease struct {
	order     store.Order
	expiresAt time.Duration
	// settingSince is when it got the setting that it has; to renew it does not change that.
	settingSince time.Duration
	// tokens are the bytes that may be moved at once, if the setting is a rate.
	tokens float64
}

func (l *lease) visible(now time.Duration) store.Lease {
	return store.Lease{
		Kind: l.order.Kind, Scope: l.order.Scope, Setting: l.order.Setting, Owner: l.order.Owner,
		TimeLeft: l.expiresAt - now,
	}
}

// leases are the orders in force, at most one for each kind, scope and aspect.
type leases []*lease

// find returns the lease on exactly this scope, nil if there is none.
func (all leases) find(scope string, aspect store.Aspect) *lease {
	for _, each := range all {
		if each.order.Scope == scope && each.order.Setting.Aspect() == aspect {
			return each
		}
	}
	return nil
}

// governing returns the lease that a task of a scope obeys: its own, else that of the whole store.
func (all leases) governing(scope string, aspect store.Aspect) *lease {
	if own := all.find(scope, aspect); own != nil {
		return own
	}
	return all.find("", aspect)
}

// conflict says why an order must not be given: somebody else has the lease.
func (all leases) conflict(order store.Order) error {
	held := all.find(order.Scope, order.Setting.Aspect())
	if held == nil || held.order.Owner == order.Owner || order.Replace {
		return nil
	}
	return store.Errorf(store.CodeConflict, "%q has the lease, with %v", held.order.Owner, held.order.Setting).
		WithHint("Wait until it ends, or take it over with replace.")
}

// give renews, replaces or adds a lease.
func (all leases) give(order store.Order, now time.Duration) (leases, *lease) {
	given := all.find(order.Scope, order.Setting.Aspect())
	if given == nil {
		given = &lease{settingSince: now}
		all = append(all, given)
	}
	if given.order.Setting != order.Setting {
		given.settingSince, given.tokens = now, 0
	}
	given.order, given.expiresAt = order, now+order.TimeToLive
	return all, given
}

// clear ends what is selected.
func (all leases) clear(selection store.Selection) leases {
	return slices.DeleteFunc(all, func(l *lease) bool {
		if l.order.Owner != selection.Owner {
			return false
		}
		return selection.Kind == "" || l.order.Kind == selection.Kind && l.order.Scope == selection.Scope
	})
}

// expire ends those that were not renewed in time.
func (all leases) expire(now time.Duration) leases {
	return slices.DeleteFunc(all, func(l *lease) bool { return l.expiresAt <= now })
}
