package redirect

import (
	"fmt"
	"slices"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// slowTier is what the store is told.
const slowTier = "slow"

// state is what the policy remembers of a target whose logs are on the slow tier; that of others is empty.
type state struct {
	onSlow bool
	// since is when the logs were sent there, in seconds of the view's clock.
	since float64
	// ending says that they are to go back. The lease lives on for some seconds, and is not renewed again.
	ending bool
}

// Decide implements policy.Policy. Each tier is as busy as the least busy of its devices, since a store with
// several chooses among them.
func (p *Policy) Decide(view policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	next := remembered(view, target, memory)
	if reason := unable(target); reason != "" {
		return policy.StopFor(target, reason), next
	}
	fast, err := queueOf(target, p.fast, "fast_devices")
	if err != nil {
		return policy.StopFor(target, err.Error()), next
	}
	slow, err := queueOf(target, p.slow, "slow_devices")
	if err != nil {
		return policy.StopFor(target, err.Error()), next
	}
	inputs := map[string]float64{"fast_queue_requests": fast, "slow_queue_requests": slow}
	if target.Lease != nil {
		return p.decideOnSlow(view, target, next, inputs), next
	}
	if fast <= p.queueRequests || slow > p.idleRequests {
		decision := policy.Decision{
			Target: target.Ref, Kind: target.Kind, Scope: target.Scope, Verdict: policy.Keep, Inputs: inputs,
			Reason: fmt.Sprintf("the fast tier has %.1f requests in flight, the slow one %.1f", fast, slow),
		}
		return decision, next
	}
	*next = sentNow(view)
	reason := fmt.Sprintf("the fast tier has %.1f requests in flight, more than %g, and the slow one %.1f",
		fast, p.queueRequests, slow)
	return policy.SettingFor(target, toSlow(), reason, inputs), next
}

// remembered is the memory as the target's lease has it.
func remembered(view policy.View, target policy.Target, memory policy.Memory) *state {
	next := policy.CopyOf[state](memory)
	switch {
	case target.Lease == nil:
		*next = state{}
	case !next.onSlow:
		// The lease is older than the memory, as after a failover: its time counts from now.
		*next = sentNow(view)
	}
	return next
}

func sentNow(view policy.View) state {
	return state{onSlow: true, since: view.Now.Seconds()}
}

// decideOnSlow decides about a target whose logs are on the slow tier by the policy's own lease.
func (p *Policy) decideOnSlow(
	view policy.View, target policy.Target, next *state, inputs map[string]float64,
) policy.Decision {
	fast, slow := inputs["fast_queue_requests"], inputs["slow_queue_requests"]
	elapsed := view.Now.Seconds() - next.since
	switch {
	case next.ending:
		return stop(target, "logs go back to the fast tier when the lease has run out", inputs)
	case slow > p.queueRequests:
		next.ending = true
		return stop(target, fmt.Sprintf("the slow tier has %.1f requests in flight, more than %g", slow, p.queueRequests), inputs)
	case fast <= p.idleRequests && elapsed >= p.leastSeconds:
		next.ending = true
		return stop(target, fmt.Sprintf("the fast tier has %.1f requests in flight", fast), inputs)
	default:
		reason := fmt.Sprintf("the fast tier has %.1f requests in flight, and logs are on the slow one for %.0f s", fast, elapsed)
		return policy.SettingFor(target, toSlow(), reason, inputs)
	}
}

func stop(target policy.Target, reason string, inputs map[string]float64) policy.Decision {
	decision := policy.StopFor(target, reason)
	decision.Inputs = inputs
	return decision
}

func toSlow() store.Setting {
	return store.Setting{Name: store.Tier, Text: slowTier}
}

func unable(target policy.Target) string {
	if !target.Fresh {
		return target.Missing
	}
	if target.Offers(store.Tier) {
		return ""
	}
	return fmt.Sprintf("the store has no setting %s of %s", store.Tier, target.Kind)
}

// queueOf is the shortest queue of some devices; an error if the node does not report one of them.
func queueOf(target policy.Target, names []string, parameter string) (float64, error) {
	var queues []float64
	for _, name := range names {
		index := slices.IndexFunc(target.NodeSignals.Devices, func(device policy.DeviceSignals) bool { return device.Name == name })
		if index < 0 {
			return 0, fmt.Errorf("the node reports no device %q: correct the parameter %s", name, parameter)
		}
		queues = append(queues, target.NodeSignals.Devices[index].InFlight)
	}
	if len(queues) == 0 {
		return 0, fmt.Errorf("no device is named: correct the parameter %s", parameter)
	}
	return slices.Min(queues), nil
}
