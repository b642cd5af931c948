package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// outcome is a decision on its way to the agent and into the log.
type outcome struct {
	policy   *activePolicy
	node     *node
	state    *targetState
	lease    *store.Lease
	decision policy.Decision
	// order is what is to be written, nil for nothing.
	order      *store.Order
	wasWritten bool
	problem    string
}

// decideAll asks every policy about every target, and says what to write.
func (c *Controller) decideAll(signals signalsByPolicy) []outcome {
	now := c.now()
	outcomes := c.outcomes[:0]
	for _, p := range c.policies {
		view := policy.View{
			Now: now.Sub(c.startedAt), WallClock: now, Period: c.config.Period(), Signals: signals[p.config.Name],
		}
		scopes := []string{p.config.Targets.Scope}
		if p.joint != nil {
			view.ServiceLevels = c.levels.of(p.config.Targets.Store)
			scopes = p.joint.Scopes(view.ServiceLevels)
			view.Clients = clientsOf(c.nodes, p.config.Targets.Store, now, c.config.Stale())
		}
		view.Targets = p.selectTargets(c.nodes, scopes, now, c.config.Stale())
		stop := c.reasonToStop(p, view.Signals)
		if p.joint != nil {
			outcomes = c.decideJointly(p, view, stop, outcomes)
		} else {
			for _, target := range view.Targets {
				outcomes = append(outcomes, c.decide(p, view, target, stop))
			}
		}
		p.dropGone(c.periods)
	}
	c.outcomes = outcomes
	return outcomes
}

// decideJointly asks a joint policy about all of its targets at once.
func (c *Controller) decideJointly(p *activePolicy, view policy.View, stop string, outcomes []outcome) []outcome {
	if stop == "" {
		stop = c.levels.whyNotKnown(c.now())
	}
	for i := range view.Targets {
		if stop != "" {
			view.Targets[i].Fresh, view.Targets[i].Missing = false, stop
		}
	}
	var decisions []policy.Decision
	decisions, p.statuses, p.memory = p.joint.DecideAll(view, p.memory)
	for i, target := range view.Targets {
		result := outcome{
			policy: p, node: c.nodesByName[target.Node], state: p.keep(target, view.WallClock, c.periods), lease: target.Lease,
			decision: c.permitted(p, target, decisions[i]),
		}
		result.order = c.orderFor(p, &result)
		outcomes = append(outcomes, result)
	}
	return outcomes
}

// reasonToStop is why a policy may not decide about any target; empty if it may.
func (c *Controller) reasonToStop(p *activePolicy, signals map[string]policy.Signal) string {
	if by, paused := c.pausedBy(p.config.Name); paused {
		p.forget()
		return "the policy was paused by " + by
	}
	for name := range p.config.Signals {
		if signal := signals[name]; !signal.Fresh {
			return fmt.Sprintf("the signal %s is missing: %s", name, signal.Missing)
		}
	}
	return ""
}

func (c *Controller) decide(p *activePolicy, view policy.View, target policy.Target, stop string) outcome {
	state := p.keep(target, view.WallClock, c.periods)
	result := outcome{policy: p, node: c.nodesByName[target.Node], state: state, lease: target.Lease}
	if stop != "" {
		target.Fresh, target.Missing = false, stop
	}
	result.decision, state.memory = p.decider.Decide(view, target, state.memory)
	result.decision = c.permitted(p, target, result.decision)
	result.order = c.orderFor(p, &result)
	return result
}

// permitted is a decision, or to stop where there may be none, or none such.
func (c *Controller) permitted(p *activePolicy, target policy.Target, decision policy.Decision) policy.Decision {
	if !target.Fresh {
		return policy.StopFor(target, target.Missing)
	}
	if err := checkDecision(target, decision); err != nil {
		c.log.Error("a policy made a decision that cannot be", "policy", p.config.Name,
			"target", target.Ref.String(), "error", err)
		return policy.StopFor(target, "the policy made a decision that cannot be: "+err.Error())
	}
	return decision
}

// checkDecision refuses what a policy, and a script above all, should not have returned.
func checkDecision(target policy.Target, decision policy.Decision) error {
	switch {
	case decision.Target != target.Ref || decision.Kind != target.Kind || decision.Scope != target.Scope:
		return fmt.Errorf("it is about %s %s %q, not about %s %s %q", decision.Target, decision.Kind, decision.Scope,
			target.Ref, target.Kind, target.Scope)
	case decision.Verdict == policy.Stop && decision.Start:
		return errors.New("the verdict stop starts no task")
	case decision.Verdict == policy.Change && decision.Setting == nil && !decision.Start:
		return errors.New("the verdict change needs a setting or a start")
	case !slices.Contains([]policy.Verdict{policy.Change, policy.Keep, policy.Stop}, decision.Verdict):
		return fmt.Errorf("the verdict %q is not known", decision.Verdict)
	}
	if decision.Setting == nil {
		return nil
	}
	return decision.Setting.Validate()
}

// orderFor is what a decision needs to be written: a change and a start always, a keep to renew the lease
// that there is when it is time to, a stop never, since it lets the lease run out.
func (c *Controller) orderFor(p *activePolicy, result *outcome) *store.Order {
	decision := result.decision
	order := &store.Order{
		Kind: decision.Kind, Scope: decision.Scope, Owner: p.owner,
		TimeToLive: c.config.LeaseTimeToLive(), Replace: p.config.Replace,
	}
	switch {
	case decision.Verdict == policy.Stop, c.isKept(result):
		return nil
	case decision.Setting != nil:
		order.Setting = *decision.Setting
	case decision.Verdict == policy.Keep && !decision.Start:
		order.Setting = result.lease.Setting
	}
	return order
}

// isKept says whether things stay as they are by themselves until the next period.
func (c *Controller) isKept(result *outcome) bool {
	decision, lease := result.decision, result.lease
	if decision.Verdict != policy.Keep || decision.Start {
		return false
	}
	if lease == nil {
		return true
	}
	isSame := decision.Setting == nil || *decision.Setting == lease.Setting
	return isSame && lease.TimeLeft >= c.config.leastTimeLeft() && !c.isTurnOf(result.state)
}

// isTurnOf says whether a target is one of those whose leases are renewed in this period. Leases that were
// all given at once would else come due at once, too.
func (c *Controller) isTurnOf(state *targetState) bool {
	spare := c.config.LeaseTimeToLive() - c.config.leastTimeLeft()
	periods := 1 + uint64(max(0, spare)/c.config.Period())
	return (c.periods+state.turn)%periods == 0
}

// logOutcome logs a change for operators, and anything else for those who look for it.
func (c *Controller) logOutcome(ctx context.Context, result *outcome) {
	level := slog.LevelDebug
	if result.decision.Verdict == policy.Change || result.decision.Action != "" || result.problem != "" {
		level = slog.LevelInfo
	}
	if !c.log.Enabled(ctx, level) {
		return
	}
	attributes := []any{
		"policy", result.policy.config.Name, "target", result.decision.Target.String(),
		"kind", string(result.decision.Kind), "scope", result.decision.Scope,
		"verdict", string(result.decision.Verdict), "reason", result.decision.Reason,
		"written", result.wasWritten,
	}
	if result.decision.Setting != nil {
		attributes = append(attributes, "setting", result.decision.Setting.String())
	}
	if result.decision.Action != "" {
		attributes = append(attributes, "action", string(result.decision.Action))
	}
	if result.problem != "" {
		attributes = append(attributes, "problem", result.problem)
	}
	c.log.Log(ctx, level, "decision", attributes...)
}
