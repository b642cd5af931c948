// Package renewals tells orders that only renew a lease from those that begin, change or end one. A lease
// is renewed about once a second for as long as it is wanted, which is nothing to fill a log with.
package renewals

import (
	"sync"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// pruneFrom is how many leases are remembered before those whose time is over are looked for.
const pruneFrom = 1024

// Order is one order with what became of it.
type Order struct {
	// Caller is who gave it, Node where to; the latter may be empty where there is one node only.
	Caller, Node string
	// Request is a SetLeaseRequest, a ClearLeasesRequest or a StartTaskRequest.
	Request any
	// Received is when it came, by a clock that never jumps.
	Received time.Time
	Failed   bool
}

// Tracker remembers the leases that were given in orders, until their time is over. The zero value is
// ready, and safe for concurrent use.
type Tracker struct {
	mutex sync.Mutex
	given map[target]grant
}

// target is what leases compete for.
type target struct {
	ref    policy.Ref
	kind   store.Kind
	scope  string
	aspect store.Aspect
}

type grant struct {
	caller, owner string
	setting       store.Setting
	ends          time.Time
}

// IsRenewal takes note of an order, and says whether it gave a lease again that the same caller had given
// before, unchanged, and whose time was not over. After one that failed nobody knows what the store has,
// so that the next one is no renewal.
func (t *Tracker) IsRenewal(order Order) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	switch request := order.Request.(type) {
	case *sluicev1.SetLeaseRequest:
		ref, given, err := wire.DecodeSetLease(order.Node, request)
		return err == nil && t.note(order, ref, given)
	case *sluicev1.StartTaskRequest:
		ref, given, err := wire.DecodeStartTask(order.Node, request)
		if err == nil && given.Setting != (store.Setting{}) {
			t.note(order, ref, given)
		}
	case *sluicev1.ClearLeasesRequest:
		if ref, selection, err := wire.DecodeClearLeases(order.Node, request); err == nil {
			t.forget(ref, selection)
		}
	}
	return false
}

func (t *Tracker) note(order Order, ref policy.Ref, given store.Order) bool {
	key := target{ref, given.Kind, given.Scope, given.Setting.Aspect()}
	last, known := t.given[key]
	isSameHolder := known && last.caller == order.Caller && last.owner == given.Owner
	switch {
	case order.Failed && isSameHolder:
		delete(t.given, key)
		return false
	case order.Failed:
		return false
	case !known:
		t.makeRoom(order.Received)
	}
	t.given[key] = grant{order.Caller, given.Owner, given.Setting, order.Received.Add(given.TimeToLive)}
	return isSameHolder && last.setting == given.Setting && order.Received.Before(last.ends)
}

// makeRoom keeps the memory bounded by the leases that can be in force.
func (t *Tracker) makeRoom(now time.Time) {
	if t.given == nil {
		t.given = make(map[target]grant)
	}
	if len(t.given) < pruneFrom {
		return
	}
	for key, each := range t.given {
		if !now.Before(each.ends) {
			delete(t.given, key)
		}
	}
}

func (t *Tracker) forget(ref policy.Ref, selection store.Selection) {
	for key, each := range t.given {
		isSelected := selection.Kind == "" || selection.Kind == key.kind && selection.Scope == key.scope
		if key.ref == ref && each.owner == selection.Owner && isSelected {
			delete(t.given, key)
		}
	}
}
