package main

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/control/bench/authority"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

const testAgents = 3

// connect serves agents, and gives a client as the controller has it of the last of them.
func connect(t *testing.T) (context.Context, sluicev1.AgentServiceClient) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	issuer, err := authority.New(clusterName)
	if err != nil {
		t.Fatal(err)
	}
	certificates, err := agentCertificates(issuer, testAgents)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	agents := &simulatedAgents{startedAt: time.Now(), tasks: 2, agents: make([]simulatedAgent, testAgents)}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() { _ = agents.serve(ctx, listener, agentTLS(issuer, certificates)) }()

	files, err := issuer.Write(t.TempDir(), security.RoleController, controllerName)
	if err != nil {
		t.Fatal(err)
	}
	own, err := security.Open(files, clusterName, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Close)
	address := agentAddress(testAgents-1, listener.Addr().(*net.TCPAddr).Port)
	connection, err := grpc.NewClient(address, protocol.DialOptions(own, security.RoleAgent, nodeName(testAgents-1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return ctx, sluicev1.NewAgentServiceClient(connection)
}

func anOrder() *sluicev1.SetLeaseRequest {
	target := store.Order{
		Kind: store.Compaction, Setting: store.Setting{Name: store.RateBytesPerSecond, Number: 5e6},
		Owner: "test", TimeToLive: time.Minute,
	}
	return wire.EncodeSetLease(reference(testAgents-1), target)
}

func TestCallsOfOneMessage(t *testing.T) {
	ctx, client := connect(t)
	if _, err := client.SetLease(ctx, anOrder()); err != nil {
		t.Fatal(err)
	}
	// Many of them come to more than the windows of the connection.
	for range 100 {
		got, err := client.GetSnapshot(ctx, &sluicev1.GetSnapshotRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetNode() != nodeName(testAgents-1) || len(got.GetSnapshots()[0].GetLeases()) != 1 {
			t.Fatalf("got %v", got)
		}
	}
	if _, err := client.Describe(ctx, &sluicev1.DescribeRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a call that is not served ends with %v", err)
	}
}

func TestExchange(t *testing.T) {
	ctx, client := connect(t)
	stream, err := client.Steer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	first := wire.EncodeSteering(wire.Steering{Interval: 100 * time.Millisecond, Delay: time.Millisecond})
	first.Number = 1
	if err := stream.Send(first); err != nil {
		t.Fatal(err)
	}
	order := &sluicev1.SteerRequest{Number: 2, Order: &sluicev1.SteerRequest_SetLease{SetLease: anOrder()}}
	if err := stream.Send(order); err != nil {
		t.Fatal(err)
	}
	reports, answers := 0, 0
	for reports < 3 || answers < 1 {
		message, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if message.GetSnapshot() != nil {
			reports++
		}
		if answer := message.GetAnswer(); answer != nil {
			answers++
			if answer.GetRequest() != 2 || answer.GetSetLease().GetLease() == nil || message.GetLastRequest() != 2 {
				t.Errorf("got %v", message)
			}
		}
	}
}
