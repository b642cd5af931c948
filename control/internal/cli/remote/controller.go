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

func (c *controller) State(ctx context.Context) (*sluicev1.GetClusterResponse, error) {
	return c.client.GetCluster(ctx, &sluicev1.GetClusterRequest{})
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

func (c *controller) Decider() (sluicev1.ControllerServiceClient, error) {
	return c.client, nil
}
