package protocol

import (
	"context"
	"sync"

	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"sluice.dev/control/internal/store"
)

// Health is gRPC's health service, whose watches end when it shuts down. Those of the library go on for as
// long as their clients listen, and a server that stops would wait for them.
type Health struct {
	*health.Server
	stopping chan struct{}
	stop     func()
}

// NewHealth makes a health service that says SERVING for the empty name.
func NewHealth() *Health {
	stopping := make(chan struct{})
	return &Health{Server: health.NewServer(), stopping: stopping, stop: sync.OnceFunc(func() { close(stopping) })}
}

// Shutdown says NOT_SERVING for every name from now on, and ends the watches.
func (h *Health) Shutdown() {
	h.Server.Shutdown()
	h.stop()
}

// Watch sends the state of a name when it changes. Its last message is NOT_SERVING where Shutdown ends it.
func (h *Health) Watch(request *grpc_health_v1.HealthCheckRequest, stream grpc_health_v1.Health_WatchServer) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	ended := make(chan error, 1)
	watch := &healthWatch{Health_WatchServer: stream, ctx: ctx}
	go func() { ended <- h.Server.Watch(request, watch) }()
	select {
	case err := <-ended:
		return err
	case <-h.stopping:
	}
	cancel()
	<-ended
	// Which of cancellation and last change the library saw first is open.
	if watch.last != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
		stopped := &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_NOT_SERVING}
		if err := stream.Send(stopped); err != nil {
			return err
		}
	}
	return store.Errorf(store.CodeUnavailable, "this server stops").WithHint("Ask again when it is back.")
}

// healthWatch is a stream with an end of its own, that remembers what it has sent.
type healthWatch struct {
	grpc_health_v1.Health_WatchServer
	ctx  context.Context
	last grpc_health_v1.HealthCheckResponse_ServingStatus
}

func (w *healthWatch) Context() context.Context { return w.ctx }

func (w *healthWatch) Send(response *grpc_health_v1.HealthCheckResponse) error {
	w.last = response.GetStatus()
	return w.Health_WatchServer.Send(response)
}
