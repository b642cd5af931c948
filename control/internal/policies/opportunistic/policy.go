package opportunistic

import (
	"fmt"
	"slices"

	"sluice.dev/control/internal/policies/debt"
	"sluice.dev/control/internal/policies/pace"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	// foregroundWeight is that of the newest sample in the mean of the foreground.
	foregroundWeight = 0.5
	// startLeftShare is the part of the ceiling that must be left for a task to be started.
	startLeftShare = 0.5
	// slackShare is the part of a limit up to which a signal takes nothing away.
	slackShare = 0.5
)

// state is what the policy remembers of a target.
type state struct {
	pace pace.Memory
	debt debt.Memory
	// foreground is the mean, in bytes per second.
	foreground        float64
	isForegroundKnown bool
	// startedAt is when a start was asked for last, in seconds of the view's clock.
	startedAt  float64
	hasStarted bool
}

// Decide implements policy.Policy.
func (p *Policy) Decide(view policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	next := policy.CopyOf[state](memory)
	device, reason := p.unable(target)
	if reason != "" {
		next.pace.Forget()
		return policy.StopFor(target, reason), next
	}
	if !next.pace.IsNews(view, target) {
		return next.pace.Repeat(target), next
	}
	estimate := p.bound.Observe(&next.debt, target, pace.Taken(view, target))
	if estimate.IsAtLimit() {
		next.pace.Forget()
		return policy.StopFor(target, fmt.Sprintf("debt of %.0f MB has reached its limit: the store goes by itself",
			estimate.Bytes/1e6)), next
	}
	inForce, _ := next.pace.Ordered(target)
	foreground := p.foreground(target, device, next)
	left := p.left(target, device, foreground)
	rate, reason := p.rate(target, left, inForce)
	floor := estimate.FloorBytesPerSecond()
	if floor > rate {
		rate = floor
		reason = fmt.Sprintf("debt at %.0f %% of its limit asks for %.2f MB/s", 100*estimate.Share(), floor/1e6)
	}
	inputs := map[string]float64{
		"foreground_bytes_per_second": foreground,
		"left_bytes_per_second":       left,
		"io_pressure_share":           target.NodeSignals.IOPressure,
		"cpu_used_share":              target.NodeSignals.CPUUsed,
		"debt_bytes":                  estimate.Bytes,
		"debt_floor_bytes_per_second": floor,
	}
	isStart := estimate.IsDue(p.startAtShare) && left >= startLeftShare*p.ceiling && mayStart(view, target, next)
	if isStart {
		reason += fmt.Sprintf(", and debt is at %.0f %% of its limit: start", 100*estimate.Share())
	}
	decision := next.pace.Order(target, rate, reason, inputs)
	if isStart {
		decision = decision.WithStart()
	}
	return decision, next
}

// mayStart says whether a start may be asked for now, and remembers that it was: until the task is seen, it
// is not asked for again at once.
func mayStart(view policy.View, target policy.Target, next *state) bool {
	now := view.Now.Seconds()
	if !pace.CanStart(target) || next.hasStarted && now-next.startedAt < pace.StartAgainSeconds {
		return false
	}
	next.startedAt, next.hasStarted = now, true
	return true
}

func (p *Policy) unable(target policy.Target) (policy.DeviceSignals, string) {
	if !target.Fresh {
		return policy.DeviceSignals{}, target.Missing
	}
	for _, device := range target.NodeSignals.Devices {
		if device.Name == p.device {
			return device, pace.Unsupported(target, p.mayHold)
		}
	}
	return policy.DeviceSignals{}, fmt.Sprintf("the node reports no device %q: correct the parameter device", p.device)
}

// foreground is what the device writes beside the background work that the store reports: the newest sample
// or the mean, whichever is more.
func (p *Policy) foreground(target policy.Target, device policy.DeviceSignals, next *state) float64 {
	now := device.WriteBytesPerSecond
	for _, task := range target.Snapshot.Tasks {
		now -= task.RateBytesPerSecond
	}
	now = max(now, 0)
	if !next.isForegroundKnown {
		next.foreground, next.isForegroundKnown = now, true
	}
	next.foreground += foregroundWeight * (now - next.foreground)
	return max(now, next.foreground)
}

// left is the rate that the foreground leaves, less where the node's signals near their limits.
func (p *Policy) left(target policy.Target, device policy.DeviceSignals, foreground float64) float64 {
	signals := target.NodeSignals
	ease := min(
		easeOf(signals.CPUUsed, p.cpuLimit),
		easeOf(signals.IOPressure, p.ioPressureLimit),
		easeOf(device.InFlight, p.inFlightLimit),
	)
	return ease * max(0, p.capacity*(1-p.headroomShare)-foreground)
}

// easeOf falls from 1 at a part of the limit to 0 at the limit. A signal that the kernel does not tell is
// negative, and so takes nothing away.
func easeOf(signal, limit float64) float64 {
	return min(1, max(0, (1-signal/limit)/(1-slackShare)))
}

func (p *Policy) rate(target policy.Target, left, inForce float64) (float64, string) {
	if kind, isBehind := p.behind(target); isBehind {
		return min(p.floor, max(left, p.least())), fmt.Sprintf("%s has work and comes first", kind)
	}
	wanted := pace.Steady(inForce, min(left, p.ceiling), p.floor)
	reason := fmt.Sprintf("the foreground leaves %.2f MB/s", left/1e6)
	if wanted < p.floor {
		return p.least(), reason + ", less than the floor"
	}
	from := max(inForce, p.floor)
	if wanted > from {
		wanted = from + p.raiseShare*(wanted-from)
	}
	return wanted, reason
}

// least is the rate when nothing is left.
func (p *Policy) least() float64 {
	if p.mayHold {
		return 0
	}
	return p.floor
}

// behind says whether a kind of work that is more pressing than the target's has work in the store.
func (p *Policy) behind(target policy.Target) (store.Kind, bool) {
	own := slices.Index(p.order, target.Kind)
	for _, task := range target.Snapshot.Tasks {
		rank := slices.Index(p.order, task.Kind)
		if rank >= 0 && own >= 0 && rank < own && debt.IsActive(task) {
			return task.Kind, true
		}
	}
	return "", false
}
