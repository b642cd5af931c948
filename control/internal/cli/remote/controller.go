package remote

import (
	"context"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// controller reaches every node through a controller.
type controller struct {
	client sluicev1.ControllerServiceClient
}

// State puts the pages of the answer together.
func (c *controller) State(ctx context.Context) (*sluicev1.GetClusterResponse, error) {
	whole, err := c.client.GetCluster(ctx, &sluicev1.GetClusterRequest{})
	for err == nil && whole.GetNextPageToken() != "" {
		var page *sluicev1.GetClusterResponse
		page, err = c.client.GetCluster(ctx, &sluicev1.GetClusterRequest{PageToken: whole.GetNextPageToken()})
		if err == nil && page.GetNextPageToken() == whole.GetNextPageToken() {
			err = store.Errorf(store.CodeIncompatible, "the controller gives the same page of nodes again and again").
				WithHint("Upgrade the controller.")
		}
		whole.Nodes = append(whole.GetNodes(), page.GetNodes()...)
		whole.NextPageToken = page.GetNextPageToken()
	}
	if err != nil {
		return nil, err
	}
	return whole, nil
}

func (c *controller) SetLease(ctx context.Context, ref policy.Ref, order store.Order) (*sluicev1.Lease, error) {
	response, err := c.client.RelaySetLease(ctx, &sluicev1.RelaySetLeaseRequest{
		Node: ref.Node, Request: wire.EncodeSetLease(ref, order),
	})
	return response.GetResponse().GetLease(), err
}

func (c *controller) ClearLeases(
	ctx context.Context, ref policy.Ref, selection store.Selection,
) (uint32, error) {
	response, err := c.client.RelayClearLeases(ctx, &sluicev1.RelayClearLeasesRequest{
		Node: ref.Node, Request: wire.EncodeClearLeases(ref, selection),
	})
	return response.GetResponse().GetCleared(), err
}

func (c *controller) StartTask(ctx context.Context, ref policy.Ref, order store.Order) error {
	_, err := c.client.RelayStartTask(ctx, &sluicev1.RelayStartTaskRequest{
		Node: ref.Node, Request: wire.EncodeStartTask(ref, order),
	})
	return err
}

func (c *controller) AbortTask(ctx context.Context, ref policy.Ref, abortion store.Abortion) error {
	_, err := c.client.RelayAbortTask(ctx, &sluicev1.RelayAbortTaskRequest{
		Node: ref.Node, Request: wire.EncodeAbortTask(ref, abortion),
	})
	return err
}

func (c *controller) Decider() (sluicev1.ControllerServiceClient, error) {
	return c.client, nil
}
