package servicelevel

import (
	"maps"
	"math"
	"slices"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
)

const (
	// alpha is that of the moving averages, as published: of each new interval an eighth.
	alpha = 0.125
	// longAgo is a decision before any other.
	longAgo = math.MinInt32
	// rest is how many decisions must lie between two that would undo each other.
	rest = 10
	// keptActions bounds the time line of an object.
	keptActions = 32
)

// state is the memory of the policy, of all objects together.
type state struct {
	hasBegun     bool
	lastDecision time.Duration
	// isSecondHalf says that percentiles are of the second half of the time between two decisions, by which a step
	// should show.
	isSecondHalf bool
	// decisions counts them.
	decisions int
	objects   map[string]*objectState
}

// objectState is what is remembered of an object.
type objectState struct {
	demand servicelevel.Object
	// hasAnswered says that one of its instances has, so that steps is no longer what leases say.
	hasAnswered bool
	// steps is its cache on each node.
	steps int
	// nodes is on how many nodes it was at the last decision.
	nodes int
	// isOwn says that load and window are of the object's own requests, not of all of its servers.
	isOwn bool
	// isShared says that cache which is given to the object answers others as well.
	isShared bool
	load     load
	hits     hits
	// servers has what all requests of its servers hit and missed.
	servers hits
	window  histogram
	// grownAt and shrunkAt are decisions: the last ones in which it got or gave cache.
	grownAt, shrunkAt int
	// hitsBefore is its share of hits when it last grew, and bytesBefore what could answer it on all nodes then.
	hasGrown                bool
	hitsBefore, bytesBefore float64
	// askedFor is the number of nodes beyond which it has asked for one.
	askedFor int
	judged   measurement
	state    servicelevel.State
	reason   string
	wanted   servicelevel.Action
	actions  []servicelevel.Taken
}

// load is what intervals of latency tell, as moving averages.
type load struct {
	isThere           bool
	seenAt            time.Duration
	meanSeconds       float64
	requestsPerSecond float64
	// last is what was told by the last intervals that were taken in, by instance and class.
	last map[interval]ended
}

type interval struct {
	ref   policy.Ref
	class string
}

// ended is what is kept of an interval: its end in seconds, when it was taken in, and how many requests a second it had.
type ended struct {
	at        float64
	seenAt    time.Duration
	perSecond float64
}

// hits is what counters tell, as moving averages of what was counted between two looks.
type hits struct {
	isThere      bool
	seenAt       time.Duration
	hits, misses float64
	last         map[policy.Ref]counted
}

// counted is what counters had come to at a time of the view's clock, or count a second.
type counted struct {
	hits, misses float64
	at           time.Duration
}

func (c *counted) add(other counted) {
	c.hits += other.hits
	c.misses += other.misses
}

func (h hits) hitShare() float64 {
	if h.hits+h.misses <= 0 {
		return 0
	}
	return h.hits / (h.hits + h.misses)
}

func (h hits) missShare() float64 { return 1 - h.hitShare() }

func (h hits) lookups() float64 { return h.hits + h.misses }

// copied is a memory that can be changed.
func copied(memory policy.Memory) *state {
	last, isThere := memory.(*state)
	if !isThere {
		return &state{objects: map[string]*objectState{}}
	}
	next := *last
	next.objects = make(map[string]*objectState, len(last.objects))
	for name, object := range last.objects {
		twin := *object
		twin.load.last = maps.Clone(object.load.last)
		twin.hits.last = maps.Clone(object.hits.last)
		twin.servers.last = maps.Clone(object.servers.last)
		twin.actions = slices.Clone(object.actions)
		next.objects[name] = &twin
	}
	return &next
}

// newObject is an object of which nothing is known yet.
func newObject(demand servicelevel.Object) *objectState {
	return &objectState{
		demand: demand, state: servicelevel.Unknown, grownAt: longAgo, shrunkAt: longAgo,
		load: load{last: map[interval]ended{}}, hits: hits{last: map[policy.Ref]counted{}},
		servers: hits{last: map[policy.Ref]counted{}},
	}
}

// takeOver has an object that is new, or all of them after a failover, begin with what the leases say. While no instance
// has answered, that is nothing yet.
func (o *objectState) takeOver(targets []policy.Target, stepBytes float64, decision int) {
	o.steps = 0
	for _, target := range targets {
		o.hasAnswered = o.hasAnswered || target.Fresh
		if target.Lease != nil {
			o.steps = max(o.steps, int(math.Round(target.Lease.Setting.Number/stepBytes)))
		}
	}
	if o.steps > 0 {
		// It may have been given a moment ago, by whoever was the active controller.
		o.grownAt = decision
	}
}

// note adds to the time line.
func (o *objectState) note(now time.Duration, action servicelevel.Action, reason string) {
	o.actions = append(o.actions, servicelevel.Taken{At: now, Action: action, Reason: reason})
	o.actions = o.actions[max(0, len(o.actions)-keptActions):]
}
