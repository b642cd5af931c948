package controller

import (
	"context"
	"time"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
)

// relayTimeout bounds how long an operator waits for an agent that does not answer.
const relayTimeout = 5 * time.Second

// RelaySetLease passes a lease on to a node. A standby relays as the active controller does: an
// operator's order is none of a policy's. The agent sees the controller as the caller, so that whose
// name is used is checked here.
func (s *service) RelaySetLease(
	ctx context.Context, request *sluicev1.RelaySetLeaseRequest,
) (*sluicev1.RelaySetLeaseResponse, error) {
	if err := security.CheckOwner(ctx, request.GetRequest().GetOwner()); err != nil {
		return nil, err
	}
	response, err := relay(ctx, s, request, sluicev1.AgentServiceClient.SetLease)
	if err != nil {
		return nil, err
	}
	return &sluicev1.RelaySetLeaseResponse{Response: response}, nil
}

// RelayClearLeases passes the end of leases on to a node.
func (s *service) RelayClearLeases(
	ctx context.Context, request *sluicev1.RelayClearLeasesRequest,
) (*sluicev1.RelayClearLeasesResponse, error) {
	response, err := relay(ctx, s, request, sluicev1.AgentServiceClient.ClearLeases)
	if err != nil {
		return nil, err
	}
	return &sluicev1.RelayClearLeasesResponse{Response: response}, nil
}

// RelayStartTask passes the start of a task on to a node.
func (s *service) RelayStartTask(
	ctx context.Context, request *sluicev1.RelayStartTaskRequest,
) (*sluicev1.RelayStartTaskResponse, error) {
	if err := security.CheckOwner(ctx, request.GetRequest().GetOwner()); err != nil {
		return nil, err
	}
	response, err := relay(ctx, s, request, sluicev1.AgentServiceClient.StartTask)
	if err != nil {
		return nil, err
	}
	return &sluicev1.RelayStartTaskResponse{Response: response}, nil
}

// RelayAbortTask passes the end of a task on to a node.
func (s *service) RelayAbortTask(
	ctx context.Context, request *sluicev1.RelayAbortTaskRequest,
) (*sluicev1.RelayAbortTaskResponse, error) {
	if err := security.CheckOwner(ctx, request.GetRequest().GetOwner()); err != nil {
		return nil, err
	}
	response, err := relay(ctx, s, request, sluicev1.AgentServiceClient.AbortTask)
	if err != nil {
		return nil, err
	}
	return &sluicev1.RelayAbortTaskResponse{Response: response}, nil
}

// relayRequest is an order for a node.
type relayRequest[Request any] interface {
	GetNode() string
	GetRequest() Request
}

// relay passes an order on to the agent of its node by one of the agent's calls.
func relay[Request, Response any](
	ctx context.Context, s *service, order relayRequest[Request],
	call func(sluicev1.AgentServiceClient, context.Context, Request, ...grpc.CallOption) (Response, error),
) (Response, error) {
	node := s.controller.published.Load().byName[order.GetNode()]
	if node == nil {
		var none Response
		return none, store.Errorf(store.CodeNotFound, "there is no node %q", order.GetNode()).
			WithHint("sluice get nodes lists them; a node is added under agents in the controller's configuration.")
	}
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	return call(node.connection, ctx, order.GetRequest())
}
