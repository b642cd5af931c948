package agent

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"sluice.dev/control/internal/protocol"
)

// hanging is a service whose call does not see that it is to end.
type hanging struct {
	grpc_health_v1.UnimplementedHealthServer
	called, released chan struct{}
}

func (h *hanging) Check(context.Context, *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	close(h.called)
	<-h.released
	return &grpc_health_v1.HealthCheckResponse{}, nil
}

func TestCallThatDoesNotEnd(t *testing.T) {
	listener, err := protocol.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	service := &hanging{called: make(chan struct{}), released: make(chan struct{})}
	defer close(service.released)
	grpc_health_v1.RegisterHealthServer(server, service)
	go func() { _ = server.Serve(listener) }()
	connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	go func() {
		_, _ = grpc_health_v1.NewHealthClient(connection).Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
	}()
	<-service.called
	if stopServer(server, time.Millisecond) {
		t.Error("the call counts as over")
	}
}

func TestServerWithoutCalls(t *testing.T) {
	if !stopServer(grpc.NewServer(), time.Minute) {
		t.Error("there are calls")
	}
}
