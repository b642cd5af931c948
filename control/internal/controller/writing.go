package controller

import (
	"context"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

const (
	inactiveProblem = "this controller was no longer the active one when the order was due"
)

// writeAll gives the agents their orders, and notes what became of each.
func (c *Controller) writeAll(ctx context.Context, outcomes []outcome) {
	if c.config.DryRun {
		return
	}
	due := c.due[:0]
	for i := range outcomes {
		if outcomes[i].order != nil {
			due = append(due, &outcomes[i])
		}
	}
	c.due = due
	ctx, cancel := c.limit(ctx, c.config.RequestTimeout())
	defer cancel()
	fanout{callWorkers, callPatience}.each(len(due), func(i int) { c.write(ctx, due[i]) })
}

// write gives one order, unless another controller has taken over since it was decided on.
func (c *Controller) write(ctx context.Context, result *outcome) {
	if !c.elector.State().Active {
		result.problem = inactiveProblem
		return
	}
	var err error
	if result.decision.Start {
		err = c.startTask(ctx, result)
	} else {
		err = c.setLease(ctx, result)
	}
	if err != nil {
		result.problem = err.Error()
		return
	}
	result.wasWritten = true
}

func (c *Controller) setLease(ctx context.Context, result *outcome) error {
	sentAt := c.now()
	response, err := c.giveLease(ctx, result.node, wire.EncodeSetLease(result.decision.Target, *result.order))
	if err != nil {
		return err
	}
	lease, err := wire.DecodeLease(response.GetLease())
	if err != nil {
		return err
	}
	result.noteWritten(lease, sentAt, c.now())
	return nil
}

func (c *Controller) startTask(ctx context.Context, result *outcome) error {
	sentAt := c.now()
	err := c.giveStart(ctx, result.node, wire.EncodeStartTask(result.decision.Target, *result.order))
	if err != nil || result.decision.Setting == nil {
		return err
	}
	result.noteWritten(store.Lease{
		Kind: result.order.Kind, Scope: result.order.Scope, Setting: result.order.Setting,
		Owner: result.order.Owner, TimeLeft: result.order.TimeToLive,
	}, sentAt, c.now())
	return nil
}

// noteWritten keeps a lease until a newer snapshot shows it. It may have begun when the order was sent.
func (o *outcome) noteWritten(lease store.Lease, sentAt, answeredAt time.Time) {
	lease.TimeLeft -= answeredAt.Sub(sentAt)
	o.state.written, o.state.writtenAt = &lease, answeredAt
}

// record adds what was decided, and what became of it, to the log of decisions.
func (c *Controller) record(ctx context.Context, outcomes []outcome) {
	made := make([]*sluicev1.Decision, len(outcomes))
	madeAt := c.now()
	for i := range outcomes {
		result := &outcomes[i]
		made[i] = wire.EncodeDecision(wire.DecisionRecord{
			Decision: result.decision, MadeAt: madeAt, Policy: result.policy.config.Name,
			WasWritten: result.wasWritten, Problem: result.problem,
		})
		// Ten thousand decisions of a period share its time.
		made[i].MadeAt = made[0].MadeAt
		c.metrics.decided(result)
		c.logOutcome(ctx, result)
	}
	c.decisions.add(made)
	c.publish(made)
}
