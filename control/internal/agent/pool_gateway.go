package agent

import (
	"context"
	"errors"
	"fmt"
	"net"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/pool/gateway"
	"sluice.dev/control/internal/pool/payload"
	"sluice.dev/control/internal/pool/stripe"
)

// poolGateway gives the files of a pool to the stores of the node; its parts are nil where none is configured.
type poolGateway struct {
	listener net.Listener
	access   *PoolAccess
	server   *gateway.Server
}

// hasGateway says whether stores of the node use a pool through the agent.
func (p Pool) hasGateway() bool {
	return p.gatewaySocket() != ""
}

// gatewaySocket is where stores and workers of the node find the pool; empty for nowhere.
func (p Pool) gatewaySocket() string {
	if p.Client == nil {
		return ""
	}
	return p.Client.Socket
}

func (a *Agent) openPoolGateway(ctx context.Context) error {
	if !a.config.Pool.hasGateway() {
		return nil
	}
	client := a.config.Pool.Client
	var err error
	if a.poolGateway.listener, err = localprotocol.Listen(ctx, client.Socket); err != nil {
		return fmt.Errorf("pool.client.socket: %w", err)
	}
	if a.poolGateway.access, err = OpenPool(a.config, a.logger); err != nil {
		return fmt.Errorf("pool.client: %w", err)
	}
	access := a.poolGateway.access
	a.poolGateway.server = gateway.NewServer(a.config.Node, gateway.Pool{
		Metadata: access.Metadata, Services: access.Servers.Service, Options: stripe.DefaultOptions(),
		Servers: access.Servers.Names(), Copies: access.Copies, BlockBytes: access.BlockBytes,
		TimeToLive: seconds(client.LeaseSeconds), MostWritten: payload.MostWritten,
	}, a.logger)
	return nil
}

// servePoolGateway runs until its context ends. It is over, with what stores have written on the disks, when stop
// returns: before the agent's own servers are, which may hold a part of it.
func (a *Agent) servePoolGateway(ctx context.Context, failures chan<- error) (stop func()) {
	if a.poolGateway.server == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := a.poolGateway.server.Serve(ctx, a.poolGateway.listener); err != nil {
			failures <- err
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

func (a *Agent) closePoolGateway() error {
	var problems []error
	if a.poolGateway.listener != nil {
		problems = append(problems, a.poolGateway.listener.Close())
	}
	if a.poolGateway.access != nil {
		problems = append(problems, a.poolGateway.access.Close())
	}
	return errors.Join(problems...)
}
