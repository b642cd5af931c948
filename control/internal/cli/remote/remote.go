// Package remote reaches a cluster for commands: all of it through a controller, or one node through its
// agent.
package remote

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"sluice.dev/control/internal/cli/contexts"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
)

// Cluster is what commands ask and order. Errors are of type *store.Error.
type Cluster interface {
	// State is the last state of every node that can be reached this way.
	State(ctx context.Context) (*sluicev1.GetClusterResponse, error)
	// SetLease gives, renews or replaces a lease, and returns it as the store keeps it.
	SetLease(ctx context.Context, ref policy.Ref, order store.Order) (*sluicev1.Lease, error)
	// ClearLeases ends leases and returns how many.
	ClearLeases(ctx context.Context, ref policy.Ref, selection store.Selection) (uint32, error)
	// StartTask starts a task now.
	StartTask(ctx context.Context, ref policy.Ref, order store.Order) error
	// AbortTask tells a task to end.
	AbortTask(ctx context.Context, ref policy.Ref, abortion store.Abortion) error
	// Decider is what decisions and policies are asked of; an agent has none.
	Decider() (sluicev1.ControllerServiceClient, error)
}

// Connection is a Cluster that has been connected to.
type Connection struct {
	Cluster
	// Identity is whom the certificate names.
	Identity security.Identity

	credentials *security.Credentials
	connection  *grpc.ClientConn
}

// Connect prepares calls to the controller or agent of a context, each of which may take so long. It
// reads the certificates, but a peer that cannot be reached is an error of the first call.
func Connect(way contexts.Context, timeout time.Duration) (*Connection, error) {
	if err := way.Validate(); err != nil {
		return nil, err
	}
	files := security.Files{CertificateFile: way.CertificateFile, KeyFile: way.KeyFile, CAFile: way.CAFile}
	credentials, err := security.Open(files, way.Cluster, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, store.Invalidf("the certificates cannot be used: %w", err).
			WithHint("They are those of --certificate-file, --key-file and --ca-file, or of the context in use.")
	}
	opened, err := connect(way, credentials, timeout)
	if err != nil {
		credentials.Close()
		return nil, err
	}
	return opened, nil
}

func connect(way contexts.Context, credentials *security.Credentials, timeout time.Duration) (*Connection, error) {
	role, name, address := security.RoleController, "", way.Controller
	if way.Agent != "" {
		role, name, address = security.RoleAgent, way.Node, way.Agent
	}
	caller := caller{peer: string(role) + " at " + address, timeout: timeout}
	// The caller's interceptors go around those of the protocol, whose errors they explain.
	options := append([]grpc.DialOption{
		grpc.WithChainUnaryInterceptor(caller.call), grpc.WithChainStreamInterceptor(caller.stream),
	}, protocol.DialOptions(credentials, role, name)...)
	connection, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, store.Invalidf("%q is no address: %w", address, err)
	}
	opened := &Connection{Identity: credentials.Identity(), credentials: credentials, connection: connection}
	opened.Cluster = &controller{sluicev1.NewControllerServiceClient(connection)}
	if role == security.RoleAgent {
		opened.Cluster = &agent{node: name, address: address, client: sluicev1.NewAgentServiceClient(connection)}
	}
	return opened, nil
}

// Close ends the connection.
func (c *Connection) Close() error {
	defer c.credentials.Close()
	return c.connection.Close()
}

// caller bounds calls in time and explains how they failed.
type caller struct {
	peer    string
	timeout time.Duration
}

func (c caller) call(
	ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.explain(invoke(ctx, method, request, reply, connection, options...))
}

func (c caller) stream(
	ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, description, connection, method, options...)
	if err != nil {
		return nil, c.explain(err)
	}
	return explainedStream{stream, c}, nil
}

type explainedStream struct {
	grpc.ClientStream
	caller caller
}

func (s explainedStream) RecvMsg(message any) error {
	return s.caller.explain(s.ClientStream.RecvMsg(message))
}

// explain says who did not answer, where the network is to blame. What a part of Sluice said stays as it
// is.
func (c caller) explain(err error) error {
	var failure *store.Error
	if !errors.As(err, &failure) || failure.Code != store.CodeUnavailable || isFromSluice(err) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return store.Errorf(store.CodeUnavailable, "the %s has not answered within %s: %w",
			c.peer, quantity.FormatDuration(c.timeout), err).WithHint("--timeout waits longer.")
	}
	return store.Errorf(store.CodeUnavailable, "the %s cannot be reached: %w", c.peer, err).
		WithHint("See whether it runs there and the address is right: sluice config view.")
}

// isFromSluice says whether a part of Sluice made an error, rather than the network or the gRPC library:
// only the former has details.
func isFromSluice(err error) bool {
	answer, isAnswer := status.FromError(err)
	return isAnswer && len(answer.Details()) > 0
}
