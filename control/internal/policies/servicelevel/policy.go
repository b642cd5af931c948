package servicelevel

import (
	"fmt"
	"slices"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// Decide implements policy.Policy: what DecideAll decides of one of the view's targets.
func (p *Policy) Decide(view policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	return policy.DecideOne(p, view, target, memory)
}

// Kind implements policy.Joint.
func (p *Policy) Kind() store.Kind { return store.Cache }

// Scopes implements policy.Joint.
func (p *Policy) Scopes(objects []servicelevel.Object) []string {
	scopes := make([]string, len(objects))
	for i, object := range objects {
		scopes[i] = object.Scope
	}
	return scopes
}

// DecideAll implements policy.Joint.
func (p *Policy) DecideAll(view policy.View, memory policy.Memory) ([]policy.Decision, []servicelevel.Status, policy.Memory) {
	next := copied(memory)
	if !next.hasBegun {
		next.hasBegun, next.lastDecision = true, view.Now
	}
	targets := p.follow(view, next)
	asks := map[string]servicelevel.Action{}
	switch elapsed := view.Now - next.lastDecision; {
	case elapsed >= p.decisionEvery:
		next.lastDecision, next.isSecondHalf = view.Now, false
		next.decisions++
		asks = p.decideNow(view, next, targets)
	case elapsed >= p.decisionEvery/2 && !next.isSecondHalf:
		next.isSecondHalf = true
		for _, object := range next.objects {
			object.window = histogram{}
		}
	}
	return p.decisions(view, next, asks), p.statuses(view, next, targets), next
}

// follow brings the memory up to the objects that there are, and takes in what is new about each.
func (p *Policy) follow(view policy.View, next *state) map[string][]policy.Target {
	targets, servers := make(map[string][]policy.Target, len(view.ServiceLevels)), totals{}
	byScope, present := map[string][]policy.Target{}, presentIn(view)
	for _, target := range view.Targets {
		if p.isNode(target) {
			byScope[target.Scope] = append(byScope[target.Scope], target)
		}
	}
	for _, demand := range view.ServiceLevels {
		targets[demand.Name] = byScope[demand.Scope]
		object := next.objects[demand.Name]
		if object == nil || object.demand.Scope != demand.Scope {
			object = newObject(demand)
			next.objects[demand.Name] = object
		}
		if !object.hasAnswered {
			object.takeOver(targets[demand.Name], p.stepBytes, next.decisions)
		}
		object.follow(demand)
		p.observe(view, object, targets[demand.Name], servers)
		object.forget(view.Now-p.forgetAfter(), present)
	}
	for name := range next.objects {
		if !slices.ContainsFunc(view.ServiceLevels, func(o servicelevel.Object) bool { return o.Name == name }) {
			delete(next.objects, name)
		}
	}
	return targets
}

// lostDecisions is after how many decisions without a snapshot an instance counts as lost.
const lostDecisions = 3

// isLost says whether an instance has been silent for so long that the others have to do without it.
func (p *Policy) isLost(target policy.Target) bool {
	return !target.Fresh && target.Age > lostDecisions*p.decisionEvery
}

// isNode says whether an instance is one that objects are on, as a region server is, and a master, which offers other
// things, is not.
func (p *Policy) isNode(target policy.Target) bool {
	isOther := len(target.Description.Capabilities) > 0 && !target.Offers(store.ReservedBytes)
	return !isOther && !p.isLost(target)
}

// decisions are what the memory says now, for each target.
func (p *Policy) decisions(view policy.View, next *state, asks map[string]servicelevel.Action) []policy.Decision {
	byScope := make(map[string]*objectState, len(next.objects))
	for _, object := range next.objects {
		byScope[object.demand.Scope] = object
	}
	rooms := p.roomsOf(view, byScope)
	made := make([]policy.Decision, len(view.Targets))
	for i, target := range view.Targets {
		object := byScope[target.Scope]
		if object == nil {
			made[i] = policy.StopFor(target, "no service level is about "+target.Scope)
			continue
		}
		made[i] = rooms.limit(target, p.decisionFor(target, object))
	}
	for scope, object := range byScope {
		action, isAsked := asks[object.demand.Name]
		if bearer := bearerOf(scope, view.Targets, made); isAsked && bearer >= 0 {
			made[bearer].Action = action
		}
	}
	return made
}

// bearerOf is which decision about a scope carries what is asked for, once, not each of them: one that is no stop, if
// there is one. What is decided of a target that is not fresh is not followed, so that it would be lost there.
func bearerOf(scope string, targets []policy.Target, made []policy.Decision) int {
	bearer := -1
	for i, target := range targets {
		switch {
		case target.Scope != scope || !target.Fresh:
		case made[i].Verdict != policy.Stop:
			return i
		case bearer < 0:
			bearer = i
		}
	}
	return bearer
}

// decisionFor holds an object's cache on one instance.
func (p *Policy) decisionFor(target policy.Target, object *objectState) policy.Decision {
	if reason := unable(target); reason != "" {
		return policy.StopFor(target, reason)
	}
	reason := fmt.Sprintf("%s: %s", object.demand.Name, object.reason)
	inputs := object.inputs()
	if object.steps > 0 {
		name, _ := cacheSetting(target)
		setting := store.Setting{Name: name, Number: float64(object.steps) * p.stepBytes}
		return policy.SettingFor(target, setting, reason, inputs)
	}
	decision := policy.Decision{
		Target: target.Ref, Kind: target.Kind, Scope: target.Scope, Verdict: policy.Keep, Reason: reason, Inputs: inputs,
	}
	if target.Lease != nil {
		decision.Verdict = policy.Stop
	}
	return decision
}

// unable is why nothing can be ordered of a target.
func unable(target policy.Target) string {
	if !target.Fresh {
		return target.Missing
	}
	if _, isOffered := cacheSetting(target); isOffered {
		return ""
	}
	return fmt.Sprintf("the store has no setting %s or %s of %s: its cache must be one that can be given to a scope",
		store.ReservedBytes, store.AddedBytes, target.Kind)
}

// cacheSetting is how a store is told to give cache to a scope: as its own, or as more of what all scopes share.
func cacheSetting(target policy.Target) (store.SettingName, bool) {
	for _, name := range []store.SettingName{store.AddedBytes, store.ReservedBytes} {
		if target.Offers(name) {
			return name, true
		}
	}
	return "", false
}

func sharesCache(target policy.Target) bool {
	return target.Fresh && target.Offers(store.AddedBytes)
}

func (o *objectState) inputs() map[string]float64 {
	inputs := map[string]float64{"target_seconds": o.demand.Target.Seconds, "steps_count": float64(o.steps)}
	if o.judged.missing == "" && o.judged.hasHits {
		inputs["actual_seconds"] = o.judged.seconds
		inputs["operations_per_second"] = o.judged.operations
		inputs["hit_share"] = o.judged.hitShare
	}
	return inputs
}

// statuses says how each object fares, by name.
func (p *Policy) statuses(view policy.View, next *state, targets map[string][]policy.Target) []servicelevel.Status {
	all := make([]servicelevel.Status, 0, len(view.ServiceLevels))
	for _, demand := range view.ServiceLevels {
		object := next.objects[demand.Name]
		now := p.measure(view.Now, object)
		all = append(all, servicelevel.Status{
			Name: demand.Name, State: object.state, Reason: object.reason,
			IsMeasured: now.missing == "", HasHits: now.hasHits, ActualSeconds: now.seconds, IsEstimated: now.isEstimated,
			OperationsPerSecond: now.operations, HitShare: now.hitShare,
			ReservedBytes: float64(object.steps) * p.stepBytes, Nodes: len(targets[demand.Name]),
			Wanted: object.wanted, Actions: object.actions,
		})
	}
	return all
}
