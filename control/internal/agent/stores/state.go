// Package stores keeps the last snapshot of every store of a node, each in a loop of its own, and passes
// orders on to them.
package stores

import (
	"time"

	"sluice.dev/control/internal/store"
)

// Ref names an instance of a store on the node.
type Ref struct {
	Store    string
	Instance string
}

// String is the form "store/instance".
func (r Ref) String() string {
	return r.Store + "/" + r.Instance
}

// Source says how to reach an instance.
type Source struct {
	Ref Ref
	// Socket is a file that each process of the store makes anew.
	Socket string
	// Open makes a driver. It does not wait for the store.
	Open func() (store.Driver, error)
}

// State is what is known of an instance. It is never changed, but replaced by another.
type State struct {
	Ref Ref
	// Description is nil until the store has answered once.
	Description *store.Description
	// Snapshot is the last one, nil until there was one; SnapshotDuration is how long taking it took.
	Snapshot         *store.Snapshot
	SnapshotDuration time.Duration
	// Problem is why there is no newer snapshot; empty if there is.
	Problem string
	// SeenAt is when the store last answered, or when it was found if it never has.
	SeenAt time.Time
	// Period is the time between two attempts.
	Period time.Duration
	// Failures counts the attempts to take a snapshot that failed.
	Failures uint64
}

// shownFor is for how long a store that no longer answers is shown with its last snapshot, from when the
// next one was due.
const shownFor = time.Minute

// IsUp says whether the last attempt to take a snapshot succeeded.
func (s *State) IsUp() bool {
	return s.Snapshot != nil && s.Problem == ""
}

// IsShown says whether the store has answered, or come, recently enough to be shown.
func (s *State) IsShown(now time.Time) bool {
	return now.Sub(s.SeenAt) < s.Period+shownFor
}
