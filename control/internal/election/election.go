// Package election says which controller of a cluster may act: the only one there is, or the one that an
// election in etcd has made the active one.
//
// Safety does not rest on it. Orders are leases in the stores, given under the name of the policy and not
// of the controller, so that two controllers that act at once for a moment renew the same lease, and the
// last order wins. The election is there so that this does not go on.
package election

import "context"

// State is what an Elector knows at one moment.
type State struct {
	// Active says whether this controller may act now.
	Active bool
	// Term tells the elections apart that this controller has won, while it is active: between two of them
	// another one may have been, also where nobody looked in between. 0 where there is no election.
	Term uint64
	// Leader names the active controller, as far as this one knows; empty if it knows of none.
	Leader string
	// Problem says why no election can be held at present; empty if one can.
	Problem string
}

// Elector takes part in an election. It is safe for concurrent use.
type Elector interface {
	// Run takes part until ctx ends, and gives up being the active one before it returns. It gets over
	// every failure of the coordination service by itself.
	Run(ctx context.Context)
	// State is looked up before every order: being the active one ends by the clock, not by a message.
	State() State
	// Changed receives after a change of the state, so that a controller can act at once.
	Changed() <-chan struct{}
}

type single struct {
	name    string
	changed chan struct{}
}

// NewSingle is the election of a cluster with one controller: it is always active.
func NewSingle(name string) Elector {
	return &single{name: name, changed: make(chan struct{})}
}

func (s *single) Run(ctx context.Context) {
	<-ctx.Done()
}

func (s *single) State() State {
	return State{Active: true, Leader: s.name}
}

func (s *single) Changed() <-chan struct{} {
	return s.changed
}
