package agent_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/internal/agent"
	"sluice.dev/control/internal/compaction"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
)

// idlePeer has room for jobs, and refuses those that it is given.
type idlePeer struct {
	sluicev1.UnimplementedCompactionServiceServer
	jobs chan *sluicev1.CompactionJob
}

func (p *idlePeer) WatchCapacity(
	_ *sluicev1.WatchCapacityRequest, stream sluicev1.CompactionService_WatchCapacityServer,
) error {
	err := stream.Send(&sluicev1.WatchCapacityResponse{
		CpuAge: durationpb.New(0), Cpus: 4, FreeSlots: 1, RocksdbSeries: []string{"11.8"},
	})
	if err != nil {
		return err
	}
	<-stream.Context().Done()
	return stream.Context().Err()
}

func (p *idlePeer) RunCompaction(stream sluicev1.CompactionService_RunCompactionServer) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	p.jobs <- request.GetJob()
	return stream.Send(&sluicev1.RunCompactionResponse{Content: &sluicev1.RunCompactionResponse_Failed{
		Failed: &sluicev1.CompactionFailed{Failure: sluicev1.CompactionFailure_COMPACTION_FAILURE_PATH, Detail: "seen"},
	}})
}

// startPeer serves as the agent of node db-2.
func startPeer(t *testing.T, authority *securitytest.Authority) (peer *idlePeer, address agent.Peer) {
	t.Helper()
	peer = &idlePeer{jobs: make(chan *sluicev1.CompactionJob, 1)}
	listener, err := protocol.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(protocol.ServerOptions(authority.Open(t, security.RoleAgent, "db-2"))...)
	sluicev1.RegisterCompactionServiceServer(server, peer)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return peer, agent.Peer{Node: "db-2", Address: listener.Addr().String()}
}

// begin begins a session with the pool, and gives its name.
func begin(t *testing.T, socket, method, members string) string {
	t.Helper()
	connection, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	const request = `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"protocol_version":{"major":1,"minor":1},"volume":"orders"%s}}` + "\n"
	if _, err := fmt.Fprintf(connection, request, method, members); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(connection).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result struct{ Session string }
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.Result.Session == "" {
		t.Fatalf("%s, %v", line, err)
	}
	return answer.Result.Session
}

func poolJob(session string) compaction.Job {
	offered := job()
	offered.PoolSession = session
	return offered
}

// A peer is told the volume and the epoch of the store's lease, and not of its session.
func TestJobOfADatabaseInAPool(t *testing.T) {
	n, pool, client := newNodeInPool(t)
	peer, address := startPeer(t, pool.Authority)
	n.config.Pool.Client.Socket = filepath.Join(n.sockets, "pool.sock")
	socket := filepath.Join(n.sockets, "compaction.sock")
	n.config.Compaction.Client = &agent.CompactionClient{Socket: socket, Peers: []agent.Peer{address}, ThresholdShare: -1}
	n.start()
	session := begin(t, n.config.Pool.Client.Socket, "attach", `,"path":"/","holder":"rocksdb"`)
	leases, _, err := client.Leases(t.Context(), "orders", entry.Page[string]{})
	if err != nil || len(leases) != 1 {
		t.Fatalf("%+v, %v", leases, err)
	}
	// The agent has to hear of its peer first.
	eventually(t, "the job at the peer", func() bool {
		return strings.Contains(offer(t, socket, poolJob(session)), `"placement":"local","reason":"path","detail":"seen"`)
	})
	got := <-peer.jobs
	if place := got.GetPool(); place.GetVolume() != "orders" || place.GetOuterEpoch() != leases[0].Epoch || got.GetDatabasePath() != "/srv/db" {
		t.Errorf("%v", got)
	}

	view := begin(t, n.config.Pool.Client.Socket, "view", "")
	for name, want := range map[string]string{view: "has no lease", strings.Repeat("0", 32): "there is no such session"} {
		if answer := offer(t, socket, poolJob(name)); !strings.Contains(answer, `"reason":"path"`) || !strings.Contains(answer, want) {
			t.Errorf("%s: want %q", answer, want)
		}
	}
	if len(peer.jobs) > 0 {
		t.Error("the peer was asked")
	}
}

// A store has nothing compacted that is beside its own directory.
func TestDatabaseBesideTheLease(t *testing.T) {
	n, _, client := newNodeInPool(t)
	lease, _, err := client.AcquireLease(t.Context(), metadata.NewLease{Volume: "orders", Path: "/", Holder: "test", TimeToLive: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	root := metadata.At{Volume: "orders", Path: "/", Epoch: lease.Epoch}
	srv := root
	srv.Path = "/srv"
	if err := errors.Join(client.CreateDirectory(t.Context(), srv), client.ReleaseLease(t.Context(), root)); err != nil {
		t.Fatal(err)
	}
	n.config.Pool.Client.Socket = filepath.Join(n.sockets, "pool.sock")
	socket := filepath.Join(n.sockets, "compaction.sock")
	n.config.Compaction.Client = &agent.CompactionClient{Socket: socket}
	n.start()
	session := begin(t, n.config.Pool.Client.Socket, "attach", `,"path":"/srv","holder":"rocksdb"`)
	if answer := offer(t, socket, poolJob(session)); !strings.Contains(answer, `"reason":"no-peer"`) {
		t.Error(answer)
	}
	beside := poolJob(session)
	beside.DatabasePath, beside.OutputPath = "/srv2", "/srv2/.sluice-compaction-a"
	if answer := offer(t, socket, beside); !strings.Contains(answer, `"reason":"path"`) || !strings.Contains(answer, "/srv2 is not below /srv") {
		t.Error(answer)
	}
}

func TestJobInAPoolWithoutAccessToOne(t *testing.T) {
	n := newNode(t)
	socket := filepath.Join(n.sockets, "compaction.sock")
	n.config.Compaction.Client = &agent.CompactionClient{Socket: socket}
	n.start()
	if answer := offer(t, socket, poolJob(strings.Repeat("0", 32))); !strings.Contains(answer, `"reason":"path"`) || !strings.Contains(answer, "pool.client.socket") {
		t.Error(answer)
	}
	families := n.scrape(security.RoleViewer, "prometheus")
	for _, metric := range families["sluice_compaction_client_jobs_total"].GetMetric() {
		if result := metric.GetLabel()[0].GetValue(); result == "path" && metric.GetCounter().GetValue() != 1 {
			t.Errorf("%v jobs are counted", metric.GetCounter().GetValue())
		}
	}
}
