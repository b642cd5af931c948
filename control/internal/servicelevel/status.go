package servicelevel

import "time"

// Action is what is done for an object, or asked for.
type Action string

// The actions. A policy gives and takes cache by leases; the others it asks for.
const (
	GrowCache   Action = "grow-cache"
	ShrinkCache Action = "shrink-cache"
	// AddNode asks for one more node.
	AddNode Action = "add-node"
	// Throttle asks for the application to be held to the load that it was promised for.
	Throttle Action = "throttle"
)

// State is how an object fares.
type State string

// The states of objects.
const (
	// Unknown is an object of which too little is seen to judge.
	Unknown State = "unknown"
	Reached State = "reached"
	// Missed is an object whose target is missed, for which something can be done or has just been done.
	Missed State = "missed"
	// WantsNode is one that needs a node, which is not there yet.
	WantsNode State = "wants-node"
	// AboveLoad is one whose target is missed while it asks for more than it was promised for.
	AboveLoad State = "above-load"
	// Refused is one that behaves otherwise than its profile says, and cannot be promised its target on these nodes.
	Refused State = "refused"
)

// States lists every state.
func States() []State {
	return []State{Unknown, Reached, Missed, WantsNode, AboveLoad, Refused}
}

// Taken is an action of the time line.
type Taken struct {
	// At is a time of the view's clock, which never jumps.
	At     time.Duration
	Action Action
	Reason string
}

// Status is how an object fares.
type Status struct {
	Name   string
	State  State
	Reason string
	// IsMeasured says whether the figures of load and response are there, HasHits whether HitShare is.
	IsMeasured, HasHits bool
	// ActualSeconds is what the target's statistic comes to. IsEstimated says that it is not as measured, but worked
	// out from what all requests of its servers take, and which share of its reads misses.
	ActualSeconds       float64
	IsEstimated         bool
	OperationsPerSecond float64
	HitShare            float64
	// ReservedBytes is its cache on each node; Nodes is on how many.
	ReservedBytes float64
	Nodes         int
	// Wanted is what is asked for and has not come yet; empty for nothing.
	Wanted Action
	// Actions are the last ones, the newest last.
	Actions []Taken
}
