package remote

import (
	"context"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// agent reaches one node through its agent.
type agent struct {
	node    string
	address string
	client  sluicev1.AgentServiceClient
}

// State is a cluster of one node, whose name only the context knows.
func (a *agent) State(ctx context.Context) (*sluicev1.GetClusterResponse, error) {
	snapshot, err := a.client.GetSnapshot(ctx, &sluicev1.GetSnapshotRequest{})
	if err != nil {
		return nil, err
	}
	return &sluicev1.GetClusterResponse{
		Nodes: []*sluicev1.NodeState{{
			Node: a.node, Address: a.address, Snapshot: snapshot, Age: durationpb.New(0),
		}},
	}, nil
}

func (a *agent) SetLease(ctx context.Context, ref policy.Ref, order store.Order) (*sluicev1.Lease, error) {
	if err := a.isAbout(ref); err != nil {
		return nil, err
	}
	response, err := a.client.SetLease(ctx, wire.EncodeSetLease(ref, order))
	return response.GetLease(), err
}

func (a *agent) ClearLeases(ctx context.Context, ref policy.Ref, selection store.Selection) (uint32, error) {
	if err := a.isAbout(ref); err != nil {
		return 0, err
	}
	response, err := a.client.ClearLeases(ctx, wire.EncodeClearLeases(ref, selection))
	return response.GetCleared(), err
}

func (a *agent) StartTask(ctx context.Context, ref policy.Ref, order store.Order) error {
	if err := a.isAbout(ref); err != nil {
		return err
	}
	_, err := a.client.StartTask(ctx, wire.EncodeStartTask(ref, order))
	return err
}

func (a *agent) AbortTask(ctx context.Context, ref policy.Ref, abortion store.Abortion) error {
	if err := a.isAbout(ref); err != nil {
		return err
	}
	_, err := a.client.AbortTask(ctx, wire.EncodeAbortTask(ref, abortion))
	return err
}

// isAbout keeps an order for another node from this one: a request to an agent names no node.
func (a *agent) isAbout(ref policy.Ref) error {
	if ref.Node == a.node {
		return nil
	}
	return store.Invalidf("the order is for node %q, but the agent is that of %q", ref.Node, a.node).
		WithHint("Reach the cluster through a controller, or give the agent of %s.", ref.Node)
}

func (a *agent) Decider() (sluicev1.ControllerServiceClient, error) {
	return nil, store.Errorf(store.CodeUnsupported, "an agent knows nothing of policies and their decisions").
		WithHint("Reach the cluster through a controller: --controller HOST:PORT.")
}
