package main

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

// exchange is that of a simulated agent with the controller.
type exchange struct {
	interval time.Duration
	// report is the last one that was sent.
	report *sluicev1.GetSnapshotResponse
	// due is when the next one is to be sent.
	due   time.Time
	timer *time.Timer
	// last is the last request that came.
	last   uint64
	lastAt time.Time
}

// takeMessage does what a message of the controller asks for.
func (c *agentConnection) takeMessage(to *call, encoded []byte) error {
	switch to.method {
	case sluicev1.AgentService_Steer_FullMethodName:
		return c.takeSteering(to, encoded)
	case sluicev1.AgentService_GetSnapshot_FullMethodName:
		return c.answer(to, c.agents.report(c.agent, c.index, time.Now()))
	case sluicev1.AgentService_SetLease_FullMethodName:
		request := new(sluicev1.SetLeaseRequest)
		if err := proto.Unmarshal(encoded, request); err != nil {
			return err
		}
		response, err := setLease(c.agent, c.index, request)
		if err != nil {
			return err
		}
		return c.answer(to, response)
	case sluicev1.AgentService_StartTask_FullMethodName:
		// The tasks always run.
		return c.answer(to, &sluicev1.StartTaskResponse{})
	default:
		return c.answer(to, nil)
	}
}

// takeSteering sends the state of an agent once an interval, and keeps leases, as a real agent does.
func (c *agentConnection) takeSteering(to *call, encoded []byte) error {
	request, now := new(sluicev1.SteerRequest), time.Now()
	if err := proto.Unmarshal(encoded, request); err != nil {
		return err
	}
	if to.exchange == nil {
		return c.begin(to, request, now)
	}
	to.exchange.last, to.exchange.lastAt = request.GetNumber(), now
	if request.GetOrder() == nil {
		return nil
	}
	answer := &sluicev1.OrderAnswer{Request: request.GetNumber()}
	if order := request.GetSetLease(); order != nil {
		lease, err := setLease(c.agent, c.index, order)
		answer.SetLease, answer.Status = lease, wire.EncodeOutcome(err)
	}
	return c.send(to, &sluicev1.SteerResponse{Content: &sluicev1.SteerResponse_Answer{Answer: answer}})
}

func (c *agentConnection) begin(to *call, first *sluicev1.SteerRequest, now time.Time) error {
	steering, err := wire.DecodeSteering(first)
	if err != nil {
		return err
	}
	to.exchange = &exchange{
		interval: steering.Interval, report: c.agents.report(c.agent, c.index, now),
		due: now.Add(steering.Delay), last: first.GetNumber(), lastAt: now,
	}
	to.exchange.timer = time.AfterFunc(steering.Delay, func() { c.sendReport(to) })
	return c.writeHeaders(to.id, headers, false)
}

// sendReport sends a report and sees to the next one. Where sending fails the connection has ended.
func (c *agentConnection) sendReport(to *call) {
	_ = c.locked(func() error {
		if c.calls[to.id] != to {
			return nil
		}
		x, now := to.exchange, time.Now()
		x.due = x.due.Add(x.interval)
		x.timer.Reset(x.due.Sub(now))
		c.agents.refresh(x.report, c.agent, c.index, now)
		return c.send(to, &sluicev1.SteerResponse{Content: &sluicev1.SteerResponse_Snapshot{Snapshot: x.report}})
	})
}

func (c *agentConnection) send(to *call, response *sluicev1.SteerResponse) error {
	response.LastRequest, response.SinceRequest = to.exchange.last, durationpb.New(time.Since(to.exchange.lastAt))
	return c.writeMessage(to, response)
}
