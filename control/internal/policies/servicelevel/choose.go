package servicelevel

import (
	"cmp"
	"fmt"
	"slices"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/servicelevel"
)

// round is one decision about all objects.
type round struct {
	*Policy
	view    policy.View
	state   *state
	targets map[string][]policy.Target
	// free is how many more steps every node has to give.
	free int
	// above is an object that does more than it was promised for, while others miss their targets; nil for none.
	above *objectState
	// asks are the actions that are asked for in this round, by object.
	asks map[string]servicelevel.Action
}

// decideNow changes the cache of objects, and gives what is asked for beside.
func (p *Policy) decideNow(view policy.View, next *state, targets map[string][]policy.Target) map[string]servicelevel.Action {
	r := &round{Policy: p, view: view, state: next, targets: targets, asks: map[string]servicelevel.Action{}}
	for _, object := range r.objects() {
		r.judge(object)
	}
	r.findAbove()
	var growing []*objectState
	for _, object := range r.objects() {
		if object.state == servicelevel.Missed && r.wantsCache(object) {
			growing = append(growing, object)
		}
	}
	budget, isKnown := r.budget()
	if !isKnown {
		return r.asks
	}
	r.free = budget - r.given()
	r.takeBack()
	r.growAll(growing)
	return r.asks
}

// growAll gives each a step, the one with the least for its weight first. While there is something left, nobody goes
// beyond his part, by weight, of what those who want more can have together: it is there for the others.
func (r *round) growAll(growing []*objectState) {
	slices.SortStableFunc(growing, func(a, b *objectState) int { return cmp.Compare(a.perWeight(), b.perWeight()) })
	room, weights := r.free, 0.0
	for _, object := range growing {
		room += object.steps
		weights += object.demand.Weight
	}
	isWithin := func(object *objectState) bool {
		return float64(object.steps+1) <= float64(room)*object.demand.Weight/weights
	}
	// What is left when all have their parts goes to the first one.
	isAnyWithin := slices.ContainsFunc(growing, isWithin)
	for i, object := range growing {
		if r.free > 0 && !isWithin(object) && (isAnyWithin || i > 0) {
			object.reason += ": it has its part, by weight, of the cache that others need as well"
			continue
		}
		r.grow(object)
	}
}

// objects are those of the state, by name.
func (r *round) objects() []*objectState {
	all := make([]*objectState, 0, len(r.view.ServiceLevels))
	for _, demand := range r.view.ServiceLevels {
		all = append(all, r.state.objects[demand.Name])
	}
	slices.SortFunc(all, func(a, b *objectState) int { return cmp.Compare(a.demand.Name, b.demand.Name) })
	return all
}

// perWeight is what an object has for its weight: the one with the least is next.
func (o *objectState) perWeight() float64 { return float64(o.steps) / o.demand.Weight }

// judge finds out how an object fares. One that cannot be judged keeps what it has.
func (r *round) judge(object *objectState) {
	now, nodes := r.view.Now, len(r.targets[object.demand.Name])
	object.judged = r.measure(now, object)
	object.isShared = slices.ContainsFunc(r.targets[object.demand.Name], sharesCache)
	if object.nodes != nodes {
		r.takeNodes(object, nodes)
	}
	if missing := r.missing(object); missing != "" {
		object.state, object.reason = servicelevel.Unknown, missing
		object.judged.missing = missing
		return
	}
	target := object.demand.Target
	comparison := fmt.Sprintf("%s of reads%s is %s, target %s", target.Statistic, target.Where(),
		formatSeconds(object.judged.seconds), formatSeconds(target.Seconds))
	switch {
	case object.judged.seconds <= target.Seconds:
		object.state, object.reason = servicelevel.Reached, comparison
		// Whether it is still to be held to its load, the others say.
		if object.wanted != servicelevel.Throttle {
			object.wanted = ""
		}
	case object.isAboveLoad():
		object.state, object.reason = servicelevel.AboveLoad, comparison+", but "+object.loads()
		r.ask(object, servicelevel.Throttle)
	default:
		object.state, object.reason = servicelevel.Missed, comparison
		if object.wanted == servicelevel.Throttle {
			object.wanted = ""
		}
	}
}

// findAbove looks for an object that does more than it was promised for. Where others miss their targets, it is to be
// held to its load before they get anything, whether its own target is reached or not.
func (r *round) findAbove() {
	objects := r.objects()
	isMissed := slices.ContainsFunc(objects, func(o *objectState) bool { return o.state == servicelevel.Missed })
	for _, object := range objects {
		switch {
		case object.state == servicelevel.AboveLoad:
			r.above = object
		case isMissed && object.state == servicelevel.Reached && object.isAboveLoad():
			r.above = object
			object.reason += ", but " + object.loads() + ", and others miss their targets"
			r.ask(object, servicelevel.Throttle)
		case object.state == servicelevel.Reached && object.wanted == servicelevel.Throttle:
			object.wanted = ""
		}
	}
}

func (o *objectState) isAboveLoad() bool {
	return o.judged.operations > loadTolerance*o.demand.MostOperationsPerSecond
}

func (o *objectState) loads() string {
	return fmt.Sprintf("it does %.4g operations/s and was promised for %.4g", o.judged.operations, o.demand.MostOperationsPerSecond)
}

// takeNodes notes that an object is on another number of nodes: caches of those that came are empty.
func (r *round) takeNodes(object *objectState, nodes int) {
	if object.nodes > 0 {
		object.grownAt = r.state.decisions
	}
	if object.wanted == servicelevel.AddNode && nodes > object.askedFor {
		object.wanted = ""
	}
	object.nodes = nodes
}

// loadTolerance is by how much load may be above what was promised: it is an average, and shared out by lookups.
const loadTolerance = 1.1

// missing is why an object cannot be judged.
func (r *round) missing(object *objectState) string {
	targets := r.targets[object.demand.Name]
	if len(targets) == 0 {
		return "there is no instance of " + object.demand.Store
	}
	for _, target := range targets {
		if !target.Fresh {
			return fmt.Sprintf("%s: %s", target.Ref, target.Missing)
		}
	}
	return object.judged.missing
}

// ask asks for what no order gives, once for as long as the object wants it.
func (r *round) ask(object *objectState, action servicelevel.Action) {
	if object.wanted == action && (action != servicelevel.AddNode || object.askedFor == object.nodes) {
		return
	}
	object.wanted, object.askedFor = action, object.nodes
	object.note(r.view.Now, action, object.reason)
	r.asks[object.demand.Name] = action
}

func (r *round) given() int {
	given := 0
	for _, object := range r.state.objects {
		given += object.steps
	}
	return given
}

// takeBack takes what nodes can no longer give from those who have the most for their weight.
func (r *round) takeBack() {
	for r.free < 0 {
		all := r.objects()
		most := slices.MaxFunc(all, func(a, b *objectState) int { return cmp.Compare(a.perWeight(), b.perWeight()) })
		if most.steps == 0 {
			return
		}
		r.shrink(most, "the nodes have less cache to give than before")
	}
}

func (r *round) shrink(object *objectState, reason string) {
	object.steps--
	object.shrunkAt = r.state.decisions
	object.hasGrown = false
	r.free++
	object.note(r.view.Now, servicelevel.ShrinkCache, reason)
}

// grow gives an object a step: of what is free, or else of what another can spare.
func (r *round) grow(object *objectState) {
	if r.free <= 0 {
		donor := r.donor(object)
		if donor == nil {
			r.wantNode(object, "there is no cache left to give")
			return
		}
		r.shrink(donor, fmt.Sprintf("%s needs it, and %s is expected to keep its target", object.demand.Name, donor.demand.Name))
	}
	object.hasGrown = true
	object.hitsBefore, object.bytesBefore = object.judged.hitShare, r.cacheBytes(object)
	object.steps++
	object.grownAt = r.state.decisions
	r.free--
	object.reason += fmt.Sprintf(": cache on each of %d nodes grows to %s", object.nodes,
		quantity.FormatBytes(float64(object.steps)*r.stepBytes))
	object.note(r.view.Now, servicelevel.GrowCache, object.reason)
}

// wantNode asks for a node, unless somebody does more than he was promised for, or its move cannot be afforded.
func (r *round) wantNode(object *objectState, why string) {
	object.reason += ": " + why
	if r.above != nil {
		object.reason += fmt.Sprintf(", but %s, which comes first, does more than it was promised for", r.above.demand.Name)
		object.withdraw()
		return
	}
	if r.askForNode(object) {
		object.state = servicelevel.WantsNode
	}
}
