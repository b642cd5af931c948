package protocol_test

import (
	"context"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

func TestCallBetweenPeersOfOneVersion(t *testing.T) {
	newPeers(t).requireWorks(t)
}

func TestServerSendsItsVersion(t *testing.T) {
	peers := newPeers(t)
	client := sluicev1.NewAgentServiceClient(peers.connectPlainly(t))
	for name, ctx := range map[string]context.Context{
		"accepted": metadata.AppendToOutgoingContext(bounded(t), protocol.MetadataKey, protocol.Version),
		"refused":  bounded(t),
	} {
		t.Run(name, func(t *testing.T) {
			var header metadata.MD
			_, _ = client.Describe(ctx, &sluicev1.DescribeRequest{}, grpc.Header(&header))
			if got := header.Get(protocol.MetadataKey); len(got) != 1 || got[0] != protocol.Version {
				t.Errorf("the header has the versions %q", got)
			}
		})
	}
}

func TestServerChecksTheVersionOfTheCaller(t *testing.T) {
	peers := newPeers(t)
	connection := peers.connectPlainly(t)
	tests := map[string]struct {
		versions []string
		parts    []string // Of the error; none if the call is accepted.
	}{
		"same":        {[]string{"1.2"}, nil},
		"older minor": {[]string{"1.0"}, nil},
		"newer minor": {[]string{"1.31"}, nil},
		"newer major": {
			[]string{"2.0"},
			[]string{"this server speaks protocol 1.10", "the caller speaks 2.0", "Upgrade this server"},
		},
		"older major": {
			[]string{"0.9"},
			[]string{"this server speaks protocol 1.10", "the caller speaks 0.9", "Upgrade the caller"},
		},
		"none":        {nil, []string{"the caller names 0 protocol versions", "this server speaks 1.10", "upgrade"}},
		"two":         {[]string{"1.0", "1.0"}, []string{"names 2 protocol versions"}},
		"no number":   {[]string{"latest"}, []string{`"latest" is not of the form MAJOR.MINOR`, "speaks 1.10"}},
		"no minor":    {[]string{"1"}, []string{`"1" is not of the form`}},
		"three parts": {[]string{"1.0.0"}, []string{`"1.0.0" is not of the form`}},
		"signed":      {[]string{"+1.0"}, []string{`"+1.0" is not of the form`}},
		"empty":       {[]string{""}, []string{`"" is not of the form`}},
		"huge":        {[]string{"99999999999999999999.0"}, []string{"is not of the form"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := bounded(t)
			for _, version := range test.versions {
				ctx = metadata.AppendToOutgoingContext(ctx, protocol.MetadataKey, version)
			}
			_, err := sluicev1.NewAgentServiceClient(connection).Describe(ctx, &sluicev1.DescribeRequest{})
			streamErr := watchOnce(ctx, connection)
			if test.parts == nil {
				if err != nil || streamErr != nil {
					t.Errorf("refused: %v, %v", err, streamErr)
				}
				return
			}
			if status.Code(err) != codes.FailedPrecondition {
				t.Errorf("gRPC code is %s", status.Code(err))
			}
			requireError(t, wire.Error(err), store.CodeIncompatible, test.parts...)
			requireError(t, wire.Error(streamErr), store.CodeIncompatible, test.parts...)
		})
	}
}

// watchOnce receives one decision.
func watchOnce(ctx context.Context, connection *grpc.ClientConn) error {
	stream, err := sluicev1.NewControllerServiceClient(connection).
		WatchDecisions(ctx, &sluicev1.WatchDecisionsRequest{})
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

func TestStreamBetweenPeersOfOneVersion(t *testing.T) {
	stream, err := sluicev1.NewControllerServiceClient(newPeers(t).connect(t)).
		WatchDecisions(bounded(t), &sluicev1.WatchDecisionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	response, err := stream.Recv()
	if err != nil || response.GetSkipped() != 7 {
		t.Fatalf("got %v and %v", response, err)
	}
	if _, err := stream.Recv(); err != io.EOF {
		t.Errorf("the stream ends with %v", err)
	}
}

// serverOf is a server of another release: it accepts every version, and names its own, if any.
func (p peers) serverOf(t *testing.T, versions ...string) string {
	t.Helper()
	header := metadata.MD{protocol.MetadataKey: versions}
	return serve(t, grpc.Creds(p.agent.ServerTransport()),
		grpc.UnaryInterceptor(func(
			ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler,
		) (any, error) {
			if err := grpc.SetHeader(ctx, header); err != nil {
				return nil, err
			}
			return handle(ctx, request)
		}),
		grpc.StreamInterceptor(func(
			server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler,
		) error {
			if err := stream.SetHeader(header); err != nil {
				return err
			}
			return handle(server, stream)
		}))
}

func TestClientChecksTheVersionOfTheServer(t *testing.T) {
	peers := newPeers(t)
	tests := map[string]struct {
		versions []string
		parts    []string
	}{
		"newer minor": {[]string{"1.9"}, nil},
		"newer major": {[]string{"2.0"}, []string{"this client speaks protocol 1.10", "speaks 2.0", "Upgrade this client"}},
		"older major": {[]string{"0.9"}, []string{"this client speaks protocol 1.10", "speaks 0.9", "Upgrade the server at"}},
		"none":        {nil, []string{"the server at", "names 0 protocol versions", "a release before 1.0"}},
		"no version":  {[]string{"x"}, []string{"the server at", `"x" is not of the form MAJOR.MINOR`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			address := peers.serverOf(t, test.versions...)
			connection := dial(t, address, protocol.DialOptions(peers.controller, security.RoleAgent, "n1")...)
			_, err := sluicev1.NewAgentServiceClient(connection).Describe(bounded(t), &sluicev1.DescribeRequest{})
			streamErr := watchOnce(bounded(t), connection)
			if test.parts == nil {
				if err != nil || streamErr != nil {
					t.Errorf("refused: %v, %v", err, streamErr)
				}
				return
			}
			requireError(t, err, store.CodeIncompatible, append(test.parts, address)...)
			requireError(t, streamErr, store.CodeIncompatible, append(test.parts, address)...)
		})
	}
}

// A server that is no part of Sluice, or that the call does not reach, names no version; what it says
// is of more use than that.
func TestClientKeepsErrorsThatNameNoVersion(t *testing.T) {
	peers := newPeers(t)
	client := sluicev1.NewAgentServiceClient(dial(t, peers.serverOf(t),
		protocol.DialOptions(peers.controller, security.RoleAgent, "n1")...))
	_, err := client.ClearLeases(bounded(t), &sluicev1.ClearLeasesRequest{})
	requireError(t, err, store.CodeUnsupported, "ClearLeases")
}
