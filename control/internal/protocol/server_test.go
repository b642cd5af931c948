package protocol_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
)

const (
	cluster  = "prod"
	patience = 2 * time.Minute
)

// agentService answers some calls, each in a way of its own.
type agentService struct {
	sluicev1.UnimplementedAgentServiceServer
}

func (agentService) Describe(context.Context, *sluicev1.DescribeRequest) (*sluicev1.DescribeResponse, error) {
	return &sluicev1.DescribeResponse{Node: "n1"}, nil
}

// GetSnapshot answers with more than a message may have.
func (agentService) GetSnapshot(
	context.Context, *sluicev1.GetSnapshotRequest,
) (*sluicev1.GetSnapshotResponse, error) {
	return &sluicev1.GetSnapshotResponse{Version: strings.Repeat("x", protocol.MaxMessageBytes)}, nil
}

func (agentService) SetLease(context.Context, *sluicev1.SetLeaseRequest) (*sluicev1.SetLeaseResponse, error) {
	return nil, store.Errorf(store.CodeConflict, "taken by policy/p").WithHint("Wait for it.")
}

// StartTask takes as long as it may.
func (agentService) StartTask(ctx context.Context, _ *sluicev1.StartTaskRequest) (*sluicev1.StartTaskResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

type controllerService struct {
	sluicev1.UnimplementedControllerServiceServer
}

func (controllerService) WatchDecisions(
	_ *sluicev1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[sluicev1.WatchDecisionsResponse],
) error {
	return stream.Send(&sluicev1.WatchDecisionsResponse{Skipped: 7})
}

// serve runs the services on a TCP port until the test ends, and gives its address.
func serve(t *testing.T, options ...grpc.ServerOption) string {
	t.Helper()
	listener, err := protocol.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	sluicev1.RegisterAgentServiceServer(server, agentService{})
	sluicev1.RegisterControllerServiceServer(server, controllerService{})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return listener.Addr().String()
}

func dial(t *testing.T, address string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	connection, err := grpc.NewClient(address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

// peers are a server of agent n1 and credentials of controller c1.
type peers struct {
	authority         *securitytest.Authority
	agent, controller *security.Credentials
	address           string
}

func newPeers(t *testing.T) peers {
	t.Helper()
	authority := securitytest.NewAuthority(t, cluster)
	agent := authority.Open(t, security.RoleAgent, "n1")
	return peers{
		authority:  authority,
		agent:      agent,
		controller: authority.Open(t, security.RoleController, "c1"),
		address:    serve(t, protocol.ServerOptions(agent)...),
	}
}

// connect gives a connection as every client of Sluice has it.
func (p peers) connect(t *testing.T) *grpc.ClientConn {
	t.Helper()
	return dial(t, p.address, protocol.DialOptions(p.controller, security.RoleAgent, "n1")...)
}

// connectPlainly gives a connection that has the certificates alone.
func (p peers) connectPlainly(t *testing.T, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	transport := grpc.WithTransportCredentials(p.controller.ClientTransport(security.RoleAgent, "n1"))
	return dial(t, p.address, append(options, transport)...)
}

// requireWorks calls the server as a good client does.
func (p peers) requireWorks(t *testing.T) {
	t.Helper()
	response, err := sluicev1.NewAgentServiceClient(p.connect(t)).Describe(bounded(t), &sluicev1.DescribeRequest{})
	if err != nil || response.GetNode() != "n1" {
		t.Errorf("a good client gets %v and %v", response, err)
	}
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func requireError(t *testing.T, err error, code store.Code, parts ...string) {
	t.Helper()
	if err == nil || store.CodeOf(err) != code {
		t.Fatalf("error is %v of %s, want one of %s", err, store.CodeOf(err), code)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error is %q, want %q in it", err, part)
		}
	}
}
