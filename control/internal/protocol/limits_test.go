package protocol_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
)

func oversized() *sluicev1.SetLeaseRequest {
	return &sluicev1.SetLeaseRequest{Scope: strings.Repeat("x", protocol.MaxMessageBytes)}
}

func TestServerRefusesOversizedRequests(t *testing.T) {
	peers := newPeers(t)
	client := sluicev1.NewAgentServiceClient(peers.connectPlainly(t))
	ctx := metadata.AppendToOutgoingContext(bounded(t), protocol.MetadataKey, protocol.Version)
	_, err := client.SetLease(ctx, oversized())
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "4194304") {
		t.Errorf("error is %v", err)
	}
	peers.requireWorks(t)
}

func TestClientRefusesOversizedMessages(t *testing.T) {
	peers := newPeers(t)
	client := sluicev1.NewAgentServiceClient(peers.connect(t))
	_, err := client.SetLease(bounded(t), oversized())
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a request that is too large to send: %v", err)
	}
	other := dial(t, peers.serverOf(t, protocol.Version),
		protocol.DialOptions(peers.controller, security.RoleAgent, "n1")...)
	_, err = sluicev1.NewAgentServiceClient(other).GetSnapshot(bounded(t), &sluicev1.GetSnapshotRequest{})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("an answer that is too large: %v", err)
	}
	requireError(t, err, store.CodeRefused, "larger than max")
}

func TestServerDoesNotSendOversizedAnswers(t *testing.T) {
	_, err := sluicev1.NewAgentServiceClient(newPeers(t).connect(t)).
		GetSnapshot(bounded(t), &sluicev1.GetSnapshotRequest{})
	requireError(t, err, store.CodeRefused, "trying to send message larger than max")
}

// Every agent of the largest pool has connections for blocks, metadata and compactions to each of the others.
func TestListenerTakesTheConnectionsOfTheLargestPool(t *testing.T) {
	const connectionsOfANode = 5
	listener, err := protocol.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan net.Conn)
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			taken <- conn
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	ctx := bounded(t)
	for i := range connectionsOfANode * entry.MaxSlots {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		select {
		case other := <-taken:
			t.Cleanup(func() { _ = other.Close() })
		case <-ctx.Done():
			t.Fatalf("after %d connections no more are taken", i)
		}
	}
}

// bytesCodec sends bytes as they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(message.([]byte))}, nil
}

func (bytesCodec) Unmarshal(mem.BufferSlice, any) error { return nil }

func (bytesCodec) Name() string { return "proto" }

func TestServerRefusesMalformedMessages(t *testing.T) {
	peers := newPeers(t)
	err := peers.connect(t).Invoke(bounded(t), sluicev1.AgentService_SetLease_FullMethodName,
		bytes.Repeat([]byte{0xff}, 100), nil, grpc.ForceCodecV2(bytesCodec{}))
	if status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "failed to unmarshal") {
		t.Errorf("error is %v", err)
	}
	peers.requireWorks(t)
}

func TestServerSurvivesMalformedBytes(t *testing.T) {
	peers := newPeers(t)
	t.Run("in place of TLS", func(t *testing.T) {
		conn, err := net.Dial("tcp", peers.address)
		if err != nil {
			t.Fatal(err)
		}
		requireClosed(t, conn)
	})
	t.Run("in place of HTTP/2", func(t *testing.T) {
		config := peers.controller.ClientConfig(security.RoleAgent, "n1")
		config.NextProtos = []string{"h2"}
		conn, err := tls.Dial("tcp", peers.address, config)
		if err != nil {
			t.Fatal(err)
		}
		requireClosed(t, conn)
	})
	peers.requireWorks(t)
}

// requireClosed sends nonsense, and reads until the server closes the connection.
func requireClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	// Any error but that of the deadline says that the server has closed it.
	_, writeErr := conn.Write(bytes.Repeat([]byte("nonsense"), 1000))
	_, readErr := io.Copy(io.Discard, conn)
	if err := errors.Join(writeErr, readErr); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection stays open: %v", err)
	}
}

func TestServerRefusesPlaintextClients(t *testing.T) {
	peers := newPeers(t)
	connection := dial(t, peers.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	_, err := sluicev1.NewAgentServiceClient(connection).Describe(bounded(t), &sluicev1.DescribeRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("error is %v", err)
	}
	peers.requireWorks(t)
}

func TestClientRefusesAnotherNode(t *testing.T) {
	peers := newPeers(t)
	connection := dial(t, peers.address, protocol.DialOptions(peers.controller, security.RoleAgent, "n2")...)
	_, err := sluicev1.NewAgentServiceClient(connection).SetLease(bounded(t), &sluicev1.SetLeaseRequest{})
	requireError(t, err, store.CodeUnavailable, "the server is sluice://prod/agent/n1, not agent")
}

func TestErrorsKeepTheirCodeAndHint(t *testing.T) {
	_, err := sluicev1.NewAgentServiceClient(newPeers(t).connect(t)).SetLease(bounded(t), &sluicev1.SetLeaseRequest{})
	var failure *store.Error
	if !errors.As(err, &failure) {
		t.Fatalf("no *store.Error: %v", err)
	}
	want := store.Errorf(store.CodeConflict, "taken by policy/p").WithHint("Wait for it.")
	if failure.Code != want.Code || failure.Message != want.Message || failure.Hint != want.Hint {
		t.Errorf("got %+v, want %+v", failure, want)
	}
}

func TestCallsEndWithTheirContext(t *testing.T) {
	client := sluicev1.NewAgentServiceClient(newPeers(t).connect(t))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.StartTask(ctx, &sluicev1.StartTaskRequest{})
	requireError(t, err, store.CodeUnavailable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want the deadline", err)
	}
}
