// Package expiry is the leader's clock for leases. Nothing of it is replicated: a new leader lets each lease have its
// full time again, so that no two clocks need to agree.
package expiry

import (
	"sync"
	"time"

	"sluice.dev/control/internal/pool/metadata/entry"
)

// Keeper knows when each lease ends. It is safe for concurrent use.
type Keeper struct {
	now func() time.Duration

	mutex sync.Mutex
	// ends has the time of each lease by its epoch.
	ends map[uint64]time.Duration
	// over are those that were given up: they are not renewed any more.
	over map[uint64]bool
}

// New makes a keeper by a monotonic clock.
func New(now func() time.Duration) *Keeper {
	keeper := &Keeper{now: now}
	keeper.Begin()
	return keeper
}

// Begin is for a new leader, for whom no lease has begun yet.
func (k *Keeper) Begin() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.ends, k.over = make(map[uint64]time.Duration), make(map[uint64]bool)
}

// Renew has a lease last its time from now on. It is false for one that was given up.
func (k *Keeper) Renew(lease entry.Lease) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.over[lease.Epoch] {
		return false
	}
	k.ends[lease.Epoch] = k.now() + lease.TimeToLive
	return true
}

// Due gives the epochs of those leases, of all that there are, whose time is over, and gives them up. The time of a
// lease that it has not seen begins now.
func (k *Keeper) Due(leases []entry.Lease) []uint64 {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	now := k.now()
	ends, over := make(map[uint64]time.Duration, len(leases)), make(map[uint64]bool)
	var due []uint64
	for _, lease := range leases {
		end, isKnown := k.ends[lease.Epoch]
		if !isKnown {
			end = now + lease.TimeToLive
		}
		ends[lease.Epoch] = end
		if end <= now {
			over[lease.Epoch] = true
			due = append(due, lease.Epoch)
		}
	}
	k.ends, k.over = ends, over
	return due
}
