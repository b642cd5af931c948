package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/internal/agent"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/localprotocol/reference"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
)

const (
	cluster  = "east"
	nodeName = "db-1"
	patience = 2 * time.Minute
)

// storeBinary is the reference store, compiled once for all tests.
var storeBinary string

func TestMain(m *testing.M) {
	os.Exit(runWithStoreBinary(m))
}

func runWithStoreBinary(m *testing.M) int {
	directory, err := os.MkdirTemp("", "sluice")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(directory)
	storeBinary = filepath.Join(directory, "sluice-reference-store")
	output, err := exec.Command("go", "build", "-o", storeBinary, "sluice.dev/control/cmd/sluice-reference-store").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "the reference store cannot be built: %v\n%s", err, output)
		return 1
	}
	return m.Run()
}

// node is a node of a cluster: its sockets, its certificates, and its agent while one runs.
type node struct {
	t         *testing.T
	authority *securitytest.Authority
	sockets   string
	config    agent.Config
	log       *logBuffer
	agent     *agent.Agent
}

func newNode(t *testing.T) *node {
	t.Helper()
	authority := securitytest.NewAuthority(t, cluster)
	sockets := referencetest.SocketDirectory(t)
	return &node{
		t: t, authority: authority, sockets: sockets, log: &logBuffer{},
		config: agent.Config{
			Cluster: cluster, Node: nodeName, Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0",
			TLS:             authority.Files(t, security.RoleAgent, nodeName),
			SocketDirectory: sockets, SnapshotPeriodSeconds: 0.1, LogLevel: "debug",
		},
	}
}

// start runs an agent until it is stopped or the test ends.
func (n *node) start() (stop func()) {
	n.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	logger := slog.New(slog.NewJSONHandler(n.log, &slog.HandlerOptions{Level: n.config.Level()}))
	opened, err := agent.Open(ctx, n.config, logger)
	if err != nil {
		n.t.Fatal(err)
	}
	n.agent = opened
	done := make(chan error, 1)
	go func() { done <- opened.Serve(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			n.t.Error(err)
		}
	})
	n.t.Cleanup(stop)
	return stop
}

// client calls the agent as the holder of a certificate of its own.
func (n *node) client(role security.Role, name string) sluicev1.AgentServiceClient {
	return sluicev1.NewAgentServiceClient(n.connection(role, name))
}

func (n *node) connection(role security.Role, name string) *grpc.ClientConn {
	n.t.Helper()
	credentials := n.authority.Open(n.t, role, name)
	connection, err := grpc.NewClient(n.agent.Address().String(),
		protocol.DialOptions(credentials, security.RoleAgent, nodeName)...)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { connection.Close() })
	return connection
}

// controller is a client that may order, of an agent that knows some stores.
func (n *node) controller(stores int) sluicev1.AgentServiceClient {
	n.t.Helper()
	client := n.client(security.RoleController, "main")
	eventually(n.t, "the stores to answer", func() bool {
		return len(describe(n.t, client).GetStores()) == stores
	})
	return client
}

func describe(t *testing.T, client sluicev1.AgentServiceClient) *sluicev1.DescribeResponse {
	t.Helper()
	answer, err := client.Describe(t.Context(), &sluicev1.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func snapshot(t *testing.T, client sluicev1.AgentServiceClient) *sluicev1.GetSnapshotResponse {
	t.Helper()
	answer, err := client.GetSnapshot(t.Context(), &sluicev1.GetSnapshotRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// snapshotOf is the snapshot of one instance of the reference store, nil if there is none.
func snapshotOf(t *testing.T, client sluicev1.AgentServiceClient, instance string) *sluicev1.Snapshot {
	t.Helper()
	for _, candidate := range snapshot(t, client).GetSnapshots() {
		if candidate.GetRef().GetInstance() == instance {
			return candidate
		}
	}
	return nil
}

func hold(instance, owner string, timeToLive time.Duration) *sluicev1.SetLeaseRequest {
	return &sluicev1.SetLeaseRequest{
		Ref:  &sluicev1.StoreRef{Store: reference.StoreName, Instance: instance},
		Kind: sluicev1.Kind_KIND_COMPACTION, Setting: &sluicev1.Setting{Name: "hold"},
		Owner: owner, TimeToLive: durationpb.New(timeToLive),
	}
}

func mustSet(t *testing.T, client sluicev1.AgentServiceClient, request *sluicev1.SetLeaseRequest) *sluicev1.Lease {
	t.Helper()
	answer, err := client.SetLease(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return answer.GetLease()
}

// startStore runs a reference store in a process of its own, whose debt comes to no limit, at which it would end all leases.
func (n *node) startStore(instance string) *referencetest.Process {
	n.t.Helper()
	return referencetest.Start(n.t, storeBinary, n.sockets, "--instance", instance, "--limit-bytes", "1000000000000")
}

// kill ends a store as a crash does.
func kill(t *testing.T, process *referencetest.Process) {
	t.Helper()
	var killed *exec.ExitError
	if err := process.Kill(); !errors.As(err, &killed) {
		t.Fatalf("the store was not killed: %v", err)
	}
}

// hang makes a socket that accepts and never answers.
func (n *node) hang(instance string) {
	n.t.Helper()
	folder := filepath.Join(n.sockets, "hanging")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		n.t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(folder, instance+".sock"))
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { listener.Close() })
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("in vain waited for %s", what)
		}
	}
}

// logBuffer keeps the agent's log.
type logBuffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *logBuffer) Write(text []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(text)
}

// records are the lines with a message, as JSON has them.
func (b *logBuffer) records(t *testing.T, message string) []map[string]any {
	t.Helper()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	var records []map[string]any
	for line := range bytes.Lines(b.text.Bytes()) {
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("the log has a line that is no JSON: %s", line)
		}
		if record["msg"] == message {
			records = append(records, record)
		}
	}
	return records
}
