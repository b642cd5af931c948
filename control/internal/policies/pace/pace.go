// Package pace holds what policies that steer a rate share: which snapshots are news, what the rate was
// before, and how a rate becomes a decision.
package pace

import (
	"fmt"
	"math"
	"slices"
	"time"

	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	// deadBandShare is how much a rate must differ from the one in force to be worth an order.
	deadBandShare = 0.05
	// sameSnapshotShare is the part of a period by which the age of one and the same snapshot may be
	// told differently.
	sameSnapshotShare = 0.25

	// StartAgainSeconds is after how long a start that showed no effect is repeated.
	StartAgainSeconds = 3
)

// Memory is what this package remembers of a target; the zero value is that of one that is new.
type Memory struct {
	// taken is when the newest snapshot was taken, by the view's clock; isTaken says that there was one.
	taken   time.Duration
	isTaken bool
	// ordered is the rate that was ordered last, in bytes per second; isOrdered says that one is in force.
	ordered   float64
	isOrdered bool
}

// FloorParameter declares the parameter of the lowest rate.
func FloorParameter() parameters.Parameter {
	return parameters.Parameter{
		Name: "floor_bytes_per_second", Type: parameters.Number, Default: 1e6, Least: 1, Most: 1e12,
		Meaning: "Lowest rate, and the one to begin with.",
	}
}

// Taken is when a target's snapshot was taken, by the view's clock.
func Taken(view policy.View, target policy.Target) time.Duration {
	return view.Now - target.Age
}

// IsNews says whether the snapshot is newer than all before, and remembers it. A snapshot that comes
// twice, or after a newer one, tells nothing.
func (m *Memory) IsNews(view policy.View, target policy.Target) bool {
	taken := Taken(view, target)
	if m.isTaken && (taken-m.taken).Seconds() <= sameSnapshotShare*view.Period.Seconds() {
		return false
	}
	m.taken, m.isTaken = taken, true
	return true
}

// Ordered is the rate that was ordered last, 0 for a hold. Without a memory it is that of the lease, if
// there is one: so a controller that takes over goes on where the last one stopped.
func (m *Memory) Ordered(target policy.Target) (float64, bool) {
	switch {
	case m.isOrdered:
		return m.ordered, true
	case target.Lease == nil:
		return 0, false
	}
	switch target.Lease.Setting.Name {
	case store.RateBytesPerSecond:
		return target.Lease.Setting.Number, true
	case store.Hold:
		return 0, true
	default:
		return 0, false
	}
}

// Forget drops the last order: the lease is to run out.
func (m *Memory) Forget() {
	m.ordered, m.isOrdered = 0, false
}

// Steady gives back the rate in force if the next one hardly differs and the floor allows.
func Steady(inForce, next, floor float64) float64 {
	if inForce >= floor && math.Abs(next-inForce) < deadBandShare*inForce {
		return inForce
	}
	return next
}

// Setting is a rate as a store takes it: whole bytes, and a hold for less than one.
func Setting(bytesPerSecond float64) store.Setting {
	if bytesPerSecond < 1 {
		return store.Setting{Name: store.Hold}
	}
	return store.Setting{Name: store.RateBytesPerSecond, Number: math.Round(bytesPerSecond)}
}

// Order is the decision for a rate, and remembers it.
func (m *Memory) Order(target policy.Target, bytesPerSecond float64, reason string, inputs map[string]float64) policy.Decision {
	setting := Setting(bytesPerSecond)
	m.ordered, m.isOrdered = setting.Number, true
	return policy.SettingFor(target, setting, reason, inputs)
}

// Repeat is the decision to go on as before, for a snapshot that is no news. The lease that it shows may
// be an old one: only what was ordered counts. Without an order a lease that is still there is to run out.
func (m *Memory) Repeat(target policy.Target) policy.Decision {
	const reason = "no newer snapshot since the last decision"
	if m.isOrdered {
		return policy.SettingFor(target, Setting(m.ordered), reason, nil)
	}
	decision := policy.StopFor(target, reason)
	if target.Lease == nil {
		decision.Verdict = policy.Keep
	}
	return decision
}

// Unsupported says why a target's rate cannot be steered; empty if it can.
func Unsupported(target policy.Target, mayHold bool) string {
	needed := []store.SettingName{store.RateBytesPerSecond}
	if mayHold {
		needed = append(needed, store.Hold)
	}
	for _, name := range needed {
		if !slices.Contains(capability(target).Settings, name) {
			return fmt.Sprintf("the store cannot set %s of %s: give it another policy", name, target.Kind)
		}
	}
	return ""
}

// CanStart says whether the store starts tasks of the target's kind by order.
func CanStart(target policy.Target) bool {
	return capability(target).CanStart
}

func capability(target policy.Target) store.Capability {
	for _, offered := range target.Description.Capabilities {
		if offered.Kind == target.Kind {
			return offered
		}
	}
	return store.Capability{}
}
