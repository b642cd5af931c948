package main

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

// steered is the exchange of a simulated agent with the controller.
type steered struct {
	agents *simulatedAgents
	agent  *simulatedAgent
	index  int
	stream sluicev1.AgentService_SteerServer
	// report is the last one that was sent.
	report *sluicev1.GetSnapshotResponse
	last   uint64
	lastAt time.Time
}

// Steer sends the state of an agent once an interval, and keeps leases, as a real agent does.
func (s *simulatedAgents) Steer(stream sluicev1.AgentService_SteerServer) error {
	agent, index, err := s.agent(stream.Context())
	if err != nil {
		return err
	}
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	steering, err := wire.DecodeSteering(first)
	if err != nil {
		return err
	}
	x := &steered{agents: s, agent: agent, index: index, stream: stream, last: first.GetNumber(), lastAt: time.Now()}
	x.report = s.report(agent, index, x.lastAt)
	requests, ended := make(chan *sluicev1.SteerRequest), make(chan error, 1)
	go receive(stream, requests, ended)
	return x.run(steering, requests, ended)
}

func receive(stream sluicev1.AgentService_SteerServer, requests chan<- *sluicev1.SteerRequest, ended chan<- error) {
	for {
		request, err := stream.Recv()
		if err != nil {
			ended <- err
			return
		}
		select {
		case requests <- request:
		case <-stream.Context().Done():
			return
		}
	}
}

func (x *steered) run(steering wire.Steering, requests <-chan *sluicev1.SteerRequest, ended <-chan error) error {
	ticker := time.NewTicker(max(steering.Delay, time.Millisecond))
	defer ticker.Stop()
	isFirst := true
	for {
		var err error
		select {
		case err = <-ended:
		case request := <-requests:
			x.last, x.lastAt = request.GetNumber(), time.Now()
			err = x.obey(request)
		case now := <-ticker.C:
			if isFirst {
				ticker.Reset(steering.Interval)
				isFirst = false
			}
			err = x.sendReport(now)
		}
		if err != nil {
			return err
		}
	}
}

func (x *steered) obey(request *sluicev1.SteerRequest) error {
	if request.GetOrder() == nil {
		return nil
	}
	answer := &sluicev1.OrderAnswer{Request: request.GetNumber()}
	if order := request.GetSetLease(); order != nil {
		lease, err := setLease(x.agent, x.index, order)
		answer.SetLease, answer.Status = lease, wire.EncodeOutcome(err)
	}
	return x.send(&sluicev1.SteerResponse{Content: &sluicev1.SteerResponse_Answer{Answer: answer}})
}

func (x *steered) sendReport(now time.Time) error {
	x.agents.refresh(x.report, x.agent, x.index, now)
	return x.send(&sluicev1.SteerResponse{Content: &sluicev1.SteerResponse_Snapshot{Snapshot: x.report}})
}

func (x *steered) send(response *sluicev1.SteerResponse) error {
	response.LastRequest, response.SinceRequest = x.last, durationpb.New(time.Since(x.lastAt))
	return x.stream.Send(response)
}
