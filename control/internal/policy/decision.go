package policy

import "sluice.dev/control/internal/store"

// Verdict is the outcome of a decision.
type Verdict string

const (
	// Change gives a lease on another setting than before.
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

// StopFor is the decision to let a target's lease run out.
func StopFor(target Target, reason string) Decision {
	return Decision{
		Target: target.Ref, Kind: target.Kind, Scope: target.Scope, Verdict: Stop, Reason: reason,
	}
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
