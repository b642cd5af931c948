package pooltest

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/pool/gateway"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/payload"
	"sluice.dev/control/internal/pool/stripe"
)

// Gateway is a pool, and what an agent gives of it to the stores of its node.
type Gateway struct {
	Pool     *Pool
	Metadata *metadata.Client
	// Socket is where it serves, also when it was started again.
	Socket string
	// Patience is that of the next start. It is long, so that a slow server is not taken for a lost one.
	Patience time.Duration

	t    testing.TB
	stop func()
}

// NewGateway starts one of three servers, with a volume. Leases last for so long after it was stopped.
func NewGateway(t testing.TB, volume string, timeToLive time.Duration) *Gateway {
	t.Helper()
	g := &Gateway{
		t: t, Pool: New(t, 3), Socket: filepath.Join(referencetest.SocketDirectory(t), "pool.sock"), Patience: time.Minute,
	}
	_, g.Metadata = NewMetadata(t, g.Pool.Authority, 1)
	if err := g.Metadata.CreateVolume(t.Context(), volume); err != nil {
		t.Fatal(err)
	}
	g.Start(timeToLive)
	t.Cleanup(func() { g.Stop() })
	return g
}

// Start serves as an agent does that was started anew.
func (g *Gateway) Start(timeToLive time.Duration) {
	g.t.Helper()
	listener, err := localprotocol.Listen(context.Background(), g.Socket)
	if err != nil {
		g.t.Fatal(err)
	}
	options := stripe.DefaultOptions()
	options.Patience = g.Patience
	const blockBytes = 16 << 10
	server := gateway.NewServer("db-1", gateway.Pool{
		Metadata: g.Metadata, Services: g.Pool.Service, Options: options, Servers: g.Pool.Names(), Copies: 2, BlockBytes: blockBytes,
		TimeToLive: timeToLive, MostWritten: payload.MostWritten,
	}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	g.stop = func() {
		cancel()
		if err := <-served; err != nil {
			g.t.Error(err)
		}
	}
}

// Stop ends all sessions, as an agent does that is stopped: they can be gone on with.
func (g *Gateway) Stop() {
	if g.stop != nil {
		g.stop()
		g.stop = nil
	}
}
