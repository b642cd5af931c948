package agent

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"sluice.dev/control/internal/agent/stores"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// longestOrder bounds an order whose caller waits longer, or for ever: others wait for their turn.
const longestOrder = 5 * time.Second

// service is AgentService. Its errors are those of package store; an interceptor makes statuses of them.
type service struct {
	sluicev1.UnimplementedAgentServiceServer
	node     string
	version  string
	now      func() time.Time
	registry *stores.Registry
	signals  func() policy.NodeSignals
	clients  func() []policy.ClientLatencies
	audit    audit
	// steerings is how many exchanges there are; stopping ends them when it is closed.
	steerings atomic.Int32
	stopping  chan struct{}
}

// Describe says what there is on the node.
func (s *service) Describe(context.Context, *sluicev1.DescribeRequest) (*sluicev1.DescribeResponse, error) {
	answer := &sluicev1.DescribeResponse{Node: s.node, Version: s.version}
	for _, state := range s.shown() {
		if state.IsUp() {
			answer.Stores = append(answer.Stores, wire.EncodeDescription(*state.Description))
		}
	}
	return answer, nil
}

// GetSnapshot returns what the loops of the stores have found last; it asks no store.
func (s *service) GetSnapshot(context.Context, *sluicev1.GetSnapshotRequest) (*sluicev1.GetSnapshotResponse, error) {
	return s.snapshot(), nil
}

func (s *service) snapshot() *sluicev1.GetSnapshotResponse {
	node := wire.NodeSnapshot{Node: s.node, Version: s.version, Signals: s.signals(), Clients: s.clients()}
	for _, state := range s.shown() {
		if state.Description != nil {
			node.Descriptions = append(node.Descriptions, *state.Description)
		}
		node.Instances = append(node.Instances, s.snapshotOf(state))
	}
	return fit(wire.EncodeNodeSnapshot(node, s.now()))
}

func (s *service) shown() []*stores.State {
	now := s.now()
	return slices.DeleteFunc(s.registry.States(), func(state *stores.State) bool { return !state.IsShown(now) })
}

// snapshotOf is empty for a store that has never answered, with the reason, and its age that of the
// store's discovery.
func (s *service) snapshotOf(state *stores.State) wire.InstanceSnapshot {
	shown := wire.InstanceSnapshot{
		Ref:      policy.Ref{Node: s.node, Store: state.Ref.Store, Instance: state.Ref.Instance},
		Snapshot: store.Snapshot{TakenAt: state.SeenAt},
		Problem:  state.Problem,
	}
	if state.Snapshot != nil {
		shown.Snapshot = *state.Snapshot
	}
	return shown
}

// SetLease gives, renews or replaces a lease.
func (s *service) SetLease(ctx context.Context, request *sluicev1.SetLeaseRequest) (*sluicev1.SetLeaseResponse, error) {
	return s.setLease(ctx, request, s.now())
}

func (s *service) setLease(
	ctx context.Context, request *sluicev1.SetLeaseRequest, received time.Time,
) (*sluicev1.SetLeaseResponse, error) {
	ref, order, err := wire.DecodeSetLease(s.node, request)
	if err != nil {
		return nil, err
	}
	if err := security.CheckOwner(ctx, order.Owner); err != nil {
		return nil, err
	}
	instance, err := s.find(ref)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longestOrder)
	defer cancel()
	lease, err := instance.Set(ctx, order, received)
	if err != nil {
		return nil, err
	}
	return &sluicev1.SetLeaseResponse{Lease: wire.EncodeLease(lease)}, nil
}

// ClearLeases ends leases before their time.
func (s *service) ClearLeases(ctx context.Context, request *sluicev1.ClearLeasesRequest) (*sluicev1.ClearLeasesResponse, error) {
	ref, selection, err := wire.DecodeClearLeases(s.node, request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longestOrder)
	defer cancel()
	cleared, err := s.registry.Clear(ctx, storesRef(ref), selection)
	if err != nil {
		return nil, err
	}
	return &sluicev1.ClearLeasesResponse{Cleared: uint32(cleared)}, nil
}

// StartTask starts a background task now.
func (s *service) StartTask(ctx context.Context, request *sluicev1.StartTaskRequest) (*sluicev1.StartTaskResponse, error) {
	return s.startTask(ctx, request, s.now())
}

func (s *service) startTask(
	ctx context.Context, request *sluicev1.StartTaskRequest, received time.Time,
) (*sluicev1.StartTaskResponse, error) {
	ref, order, err := wire.DecodeStartTask(s.node, request)
	if err != nil {
		return nil, err
	}
	if err := security.CheckOwner(ctx, order.Owner); err != nil {
		return nil, err
	}
	instance, err := s.find(ref)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longestOrder)
	defer cancel()
	if err := instance.Start(ctx, order, received); err != nil {
		return nil, err
	}
	return &sluicev1.StartTaskResponse{}, nil
}

// AbortTask tells a background task to end.
func (s *service) AbortTask(ctx context.Context, request *sluicev1.AbortTaskRequest) (*sluicev1.AbortTaskResponse, error) {
	ref, abortion, err := wire.DecodeAbortTask(s.node, request)
	if err != nil {
		return nil, err
	}
	if err := security.CheckOwner(ctx, abortion.Owner); err != nil {
		return nil, err
	}
	instance, err := s.find(ref)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longestOrder)
	defer cancel()
	if err := instance.Abort(ctx, abortion); err != nil {
		return nil, err
	}
	return &sluicev1.AbortTaskResponse{}, nil
}

func (s *service) find(ref policy.Ref) (*stores.Instance, error) {
	return s.registry.Find(storesRef(ref))
}

func storesRef(ref policy.Ref) stores.Ref {
	return stores.Ref{Store: ref.Store, Instance: ref.Instance}
}
