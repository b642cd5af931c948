package stores

import (
	"slices"
	"time"

	"sluice.dev/control/internal/store"
)

// logEnded logs the leases that the snapshot before had and this one has not. Who has ended one through
// the agent is in the line of that order.
func (i *Instance) logEnded(previous *store.Snapshot, current store.Snapshot) {
	if previous == nil {
		return
	}
	elapsed := current.TakenAt.Sub(previous.TakenAt)
	for _, lease := range previous.Leases {
		if hasLeaseOn(current, lease) {
			continue
		}
		i.logger.Info("a lease has ended", "kind", lease.Kind, "scope", lease.Scope,
			"setting", lease.Setting.String(), "owner", lease.Owner,
			"seconds_before_its_time", max(0, lease.TimeLeft-elapsed).Truncate(time.Millisecond).Seconds())
	}
}

// hasLeaseOn says whether a snapshot has a lease on the same as another: that one, or what has replaced it.
func hasLeaseOn(snapshot store.Snapshot, lease store.Lease) bool {
	return slices.ContainsFunc(snapshot.Leases, func(each store.Lease) bool {
		return each.Kind == lease.Kind && each.Scope == lease.Scope && each.Setting.Aspect() == lease.Setting.Aspect()
	})
}
