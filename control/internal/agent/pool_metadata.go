package agent

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata"
)

// openMetadata joins those that hold the pool's metadata, if this node does.
func (a *Agent) openMetadata(ctx context.Context, registry prometheus.Registerer) error {
	config := a.config.Pool.Metadata
	if config == nil {
		return nil
	}
	var err error
	served := config.server(a.config.Node)
	if client := a.config.Pool.Client; client != nil {
		served.Peers = client.voters()
	}
	a.metadata, err = metadata.Open(ctx, served, a.credentials, registry, a.logger)
	if err != nil {
		return fmt.Errorf("pool.metadata: %w", err)
	}
	return nil
}

func (a *Agent) registerMetadata(server *grpc.Server) {
	if a.metadata != nil {
		sluicev1.RegisterPoolMetadataServiceServer(server, a.metadata.Service())
	}
}

// serveMetadata runs until its context ends. Metadata that stops leaves the rest of the agent as it is.
func (a *Agent) serveMetadata(ctx context.Context, run func(func())) {
	if a.metadata == nil {
		return
	}
	run(func() {
		if err := a.metadata.Serve(ctx); err != nil {
			a.logger.Error("the pool's metadata has stopped on this node", "error", err)
		}
	})
}

func (a *Agent) closeMetadata() error {
	if a.metadata == nil {
		return nil
	}
	return a.metadata.Close()
}
