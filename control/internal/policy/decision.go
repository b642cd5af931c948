package policy

import (
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// Verdict is the outcome of a decision.
type Verdict string

const (
	// Change gives a lease on another setting than before, or starts a task.
	Change Verdict = "change"
	// Keep renews the lease, or goes on without one.
	Keep Verdict = "keep"
	// Stop lets the lease run out: the store goes back to its own configuration.
	Stop Verdict = "stop"
)

// Decision is what a policy decided about one target in one period.
type Decision struct {
	Target  Ref
	Kind    store.Kind
	Scope   string
	Verdict Verdict
	// Setting is what the store shall do; nil if the policy wants no lease.
	Setting *store.Setting
	// Start asks for a task to be started now, with the setting.
	Start bool
	// Action is what the policy asks for that is no order to a store; empty for nothing. Nothing in the controller
	// carries it out: it is a record, for people and for programs that watch decisions.
	Action servicelevel.Action
	// Reason says why, in one sentence with figures.
	Reason string
	// Inputs are the figures that it rests on; each name ends in its unit.
	Inputs map[string]float64
}

// Memory is what a policy remembers from period to period of one target, in a form of its own; nil for a target
// that is new. It is lost with the controller: a policy must be safe, if slower, without it.
type Memory any

// CopyOf gives a policy its memory, in its own form, to change: a policy must not change the one that it is given.
func CopyOf[T any](memory Memory) *T {
	copied := new(T)
	if last, isThere := memory.(*T); isThere {
		*copied = *last
	}
	return copied
}

// Policy decides about targets, one at a time.
type Policy interface {
	// Decide is a pure function of its arguments; it must not change the view, or the memory that it is
	// given, but returns the memory for the next period. The controller calls it for each target. For one
	// that is not fresh it decides on Stop by itself, and takes over nothing but the memory: what the
	// policy had ordered is no longer in force.
	Decide(view View, target Target, memory Memory) (Decision, Memory)
}

// Joint is a policy that decides about all of its targets at once, since what one gets another cannot have.
type Joint interface {
	Policy
	// Kind is the one that it decides about.
	Kind() store.Kind
	// Scopes are those that it decides about for these service levels.
	Scopes(objects []servicelevel.Object) []string
	// DecideAll is a pure function, as Decide is. It gives a decision for each of the view's targets, in their
	// order, and the state of each of the view's service levels, or none where it is not for it to say. What it decides of a target that is not fresh is
	// not followed.
	DecideAll(view View, memory Memory) ([]Decision, []servicelevel.Status, Memory)
}

// DecideOne is what a joint policy decides of one of the view's targets.
func DecideOne(joint Joint, view View, target Target, memory Memory) (Decision, Memory) {
	decisions, _, next := joint.DecideAll(view, memory)
	for _, decision := range decisions {
		if decision.Target == target.Ref && decision.Scope == target.Scope {
			return decision, next
		}
	}
	return StopFor(target, "no service level is about "+target.Scope), next
}

// StopFor is the decision to let a target's lease run out.
func StopFor(target Target, reason string) Decision {
	return Decision{
		Target: target.Ref, Kind: target.Kind, Scope: target.Scope, Verdict: Stop, Reason: reason,
	}
}

// WithStart is a decision that starts a task as well: it is a change, whatever setting there was.
func (d Decision) WithStart() Decision {
	d.Verdict, d.Start = Change, true
	return d
}

// SettingFor is the decision to have a setting on a target: Keep if the policy's lease has it already,
// else Change.
func SettingFor(target Target, setting store.Setting, reason string, inputs map[string]float64) Decision {
	verdict := Change
	if target.Lease != nil && target.Lease.Setting == setting {
		verdict = Keep
	}
	return Decision{
		Target: target.Ref, Kind: target.Kind, Scope: target.Scope,
		Verdict: verdict, Setting: &setting, Reason: reason, Inputs: inputs,
	}
}
