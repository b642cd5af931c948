package controller

import (
	"fmt"
	"slices"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// activePolicy is a policy at work. The loop alone uses it.
type activePolicy struct {
	config  Policy
	decider policy.Policy
	// owner is that of the policy's leases.
	owner string
	// nodes is nil for all nodes.
	nodes   map[string]bool
	targets map[targetKey]*targetState
	// joint is the decider, if it decides about all targets at once; memory is then that of all of them, and
	// statuses are how its service levels fare.
	joint    policy.Joint
	memory   policy.Memory
	statuses []servicelevel.Status
	// turns counts the targets that there have been.
	turns uint64
	// buffer is the space of the last period's view.
	buffer []policy.Target
}

// targetKey tells the targets of a policy apart: a joint one has several scopes of an instance.
type targetKey struct {
	policy.Ref
	scope string
}

func keyOf(target policy.Target) targetKey { return targetKey{target.Ref, target.Scope} }

// targetState is what is kept of a target from period to period.
type targetState struct {
	memory policy.Memory
	// written is the lease as the agent took it at writtenAt, nil if there is none.
	written   *store.Lease
	writtenAt time.Time
	// seenIn is the period in which the target was last decided about.
	seenIn uint64
	// goneSince is since when the agent knows no such instance, zero while it does.
	goneSince time.Time
	// turn decides in which periods its lease is renewed.
	turn uint64
}

func newActivePolicy(config Policy, decider policy.Policy) *activePolicy {
	p := &activePolicy{
		config: config, decider: decider, owner: store.PolicyOwnerPrefix + config.Name,
		targets: make(map[targetKey]*targetState),
	}
	p.joint, _ = decider.(policy.Joint)
	if len(config.Targets.Nodes) > 0 {
		p.nodes = make(map[string]bool, len(config.Targets.Nodes))
		for _, name := range config.Targets.Nodes {
			p.nodes[name] = true
		}
	}
	return p
}

// forget drops the memory of every target, for it is of a time in which the policy did not decide.
func (p *activePolicy) forget() {
	clear(p.targets)
	p.memory, p.statuses = nil, nil
}

// selectTargets gives the targets of a policy as they are now, of each scope. They are valid until the next call.
func (p *activePolicy) selectTargets(nodes []*node, scopes []string, now time.Time, stale time.Duration) []policy.Target {
	targets := p.buffer[:0]
	for _, node := range nodes {
		if p.nodes != nil && !p.nodes[node.agent.Node] {
			continue
		}
		for _, scope := range scopes {
			targets = p.appendTargets(targets, node, scope, now, stale)
		}
	}
	p.buffer = targets
	return targets
}

// appendTargets adds the instances of a node: those that the last answer names, and those that the
// configuration names for this node.
func (p *activePolicy) appendTargets(
	targets []policy.Target, node *node, scope string, now time.Time, stale time.Duration,
) []policy.Target {
	state := node.state.Load()
	first := len(targets)
	if state.latest != nil {
		for _, instance := range state.latest.report.Instances {
			// One that an agent names twice is decided about once.
			if p.selects(instance.Ref) && !hasTarget(targets[first:], instance.Ref) {
				targets = append(targets, p.target(node, state, instance, scope, now, stale))
			}
		}
	}
	if p.nodes == nil {
		return targets
	}
	for _, name := range p.config.Targets.Instances {
		ref := policy.Ref{Node: node.agent.Node, Store: p.config.Targets.Store, Instance: name}
		if !hasTarget(targets[first:], ref) {
			targets = append(targets, p.missingTarget(ref, scope, state, now))
		}
	}
	return targets
}

func hasTarget(targets []policy.Target, ref policy.Ref) bool {
	return slices.ContainsFunc(targets, func(target policy.Target) bool { return target.Ref == ref })
}

func (p *activePolicy) selects(ref policy.Ref) bool {
	names := p.config.Targets.Instances
	return ref.Store == p.config.Targets.Store && (len(names) == 0 || slices.Contains(names, ref.Instance))
}

func (p *activePolicy) missingTarget(ref policy.Ref, scope string, state *nodeState, now time.Time) policy.Target {
	target := policy.Target{
		Ref: ref, Kind: store.Kind(p.config.Targets.Kind), Scope: scope,
		Missing: fmt.Sprintf("the agent of node %s knows no instance %s of %s", ref.Node, ref.Instance, ref.Store),
	}
	if state.problem != "" {
		target.Missing = state.problem
	}
	if known := p.targets[keyOf(target)]; known != nil && !known.goneSince.IsZero() {
		target.Age = now.Sub(known.goneSince)
	}
	return target
}

func (p *activePolicy) target(
	node *node, state *nodeState, instance wire.InstanceSnapshot, scope string, now time.Time, stale time.Duration,
) policy.Target {
	target := policy.Target{
		Ref: instance.Ref, Kind: store.Kind(p.config.Targets.Kind), Scope: scope,
		Age:         now.Sub(instance.Snapshot.TakenAt),
		Description: descriptionOf(state.latest.report.Descriptions, instance.Ref),
		Snapshot:    instance.Snapshot,
		NodeSignals: state.latest.report.Signals,
	}
	target.NodeSignalsAge = now.Sub(target.NodeSignals.SampledAt)
	target.Missing = whyNotFresh(node, state, target, stale, instance.Problem)
	if target.Missing == "" && target.Description.Store == "" {
		// Its agent has found it, and so gives its age from then on; or there was no room for it.
		target.Missing = "the agent has no snapshot of the store: " + instance.Problem
	}
	target.Fresh = target.Missing == ""
	target.Lease = p.leaseOn(target, now)
	return target
}

// signalsPeriod is how often agents sample the signals of their nodes, whatever the period of the controller:
// they are older than a snapshot by up to that.
const signalsPeriod = time.Second

// whyNotFresh is empty for a target whose snapshot and node signals may be acted on.
func whyNotFresh(node *node, state *nodeState, target policy.Target, stale time.Duration, problem string) string {
	age, signalsAge := target.Age.Round(time.Millisecond), target.NodeSignalsAge.Round(time.Millisecond)
	switch {
	case state.problem != "":
		return state.problem
	case target.Age > stale && problem != "":
		return fmt.Sprintf("the snapshot is %v old, more than %v: %s", age, stale, problem)
	case target.Age > stale:
		return fmt.Sprintf("the snapshot is %v old, more than %v, though the agent of node %s answers",
			age, stale, node.agent.Node)
	case target.NodeSignalsAge > stale+signalsPeriod:
		return fmt.Sprintf("the signals of node %s are %v old, more than %v, though its agent answers",
			node.agent.Node, signalsAge, stale+signalsPeriod)
	default:
		return ""
	}
}

func descriptionOf(descriptions []store.Description, ref policy.Ref) store.Description {
	for _, description := range descriptions {
		if description.Store == ref.Store && description.Instance == ref.Instance {
			return description
		}
	}
	return store.Description{}
}

// clientsOf is what clients of a kind of store tell on all nodes, those without an instance of it as well.
func clientsOf(nodes []*node, kind string, now time.Time, stale time.Duration) (all []policy.ClientLatencies) {
	for _, node := range nodes {
		state := node.state.Load()
		if state.latest == nil {
			continue
		}
		for _, clients := range state.latest.report.Clients {
			clients.Age = now.Sub(clients.TakenAt)
			if clients.Store == kind && clients.Age <= stale {
				all = append(all, clients)
			}
		}
	}
	return all
}

// leaseOn is the policy's own lease on the pace of a target, on its tier or its reservation: the one that was written last, if that was
// after the snapshot was taken, else the one in the snapshot.
func (p *activePolicy) leaseOn(target policy.Target, now time.Time) *store.Lease {
	known := p.targets[keyOf(target)]
	if known != nil && known.written != nil && known.writtenAt.After(target.Snapshot.TakenAt) {
		return remaining(*known.written, now.Sub(known.writtenAt))
	}
	for _, lease := range target.Snapshot.Leases {
		if lease.Owner == p.owner && lease.Kind == target.Kind && lease.Scope == target.Scope &&
			lease.Setting.Aspect() == target.Kind.MainAspect() {
			return remaining(lease, target.Age)
		}
	}
	return nil
}

// remaining is a lease after a time; nil if it has run out.
func remaining(lease store.Lease, elapsed time.Duration) *store.Lease {
	lease.TimeLeft -= elapsed
	if lease.TimeLeft <= 0 {
		return nil
	}
	return &lease
}

// keep gives the state of a target, and notes that it is decided about.
func (p *activePolicy) keep(target policy.Target, now time.Time, period uint64) *targetState {
	key := keyOf(target)
	state := p.targets[key]
	if state == nil {
		p.turns++
		state = &targetState{turn: p.turns}
		p.targets[key] = state
	}
	state.seenIn = period
	switch isThere := !target.Snapshot.TakenAt.IsZero(); {
	case isThere:
		state.goneSince = time.Time{}
	case state.goneSince.IsZero():
		state.goneSince = now
	}
	return state
}

// dropGone forgets targets that are no longer there.
func (p *activePolicy) dropGone(period uint64) {
	for key, state := range p.targets {
		if state.seenIn != period {
			delete(p.targets, key)
		}
	}
}
