package dispatch_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/dispatch"
	"sluice.dev/control/internal/compaction/metrics"
	"sluice.dev/control/internal/compaction/workertest"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policies/offload"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// peer says what a test has it say.
type peer struct {
	sluicev1.UnimplementedCompactionServiceServer
	used float64
	run  func(sluicev1.CompactionService_RunCompactionServer) error
}

func (p *peer) WatchCapacity(_ *sluicev1.WatchCapacityRequest, stream sluicev1.CompactionService_WatchCapacityServer) error {
	ticker := time.NewTicker(compaction.Heartbeat)
	defer ticker.Stop()
	for {
		err := stream.Send(&sluicev1.WatchCapacityResponse{
			CpuUsed: p.used, CpuAge: durationpb.New(0), Cpus: 4, FreeSlots: 2, RocksdbSeries: []string{"11.8"},
		})
		if err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func (p *peer) RunCompaction(stream sluicev1.CompactionService_RunCompactionServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	return p.run(stream)
}

// open makes a dispatcher with peers that it knows the load of.
func open(t *testing.T, peers map[string]*peer) *dispatch.Dispatcher {
	t.Helper()
	authority := securitytest.NewAuthority(t, "test")
	var addresses []dispatch.Address
	for name, served := range peers {
		listener, err := protocol.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer(protocol.ServerOptions(authority.Open(t, security.RoleAgent, name))...)
		sluicev1.RegisterCompactionServiceServer(server, served)
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(server.Stop)
		addresses = append(addresses, dispatch.Address{Node: name, Address: listener.Addr().String()})
	}
	registry := prometheus.NewRegistry()
	d, err := dispatch.Open(authority.Open(t, security.RoleAgent, "db-1"), addresses, offload.Parameters{ThresholdShare: 0.2},
		dispatch.Surroundings{
			Load:    func() (float64, time.Duration) { return 0.9, 0 },
			Metrics: metrics.NewClient(registry), Logger: slog.New(slog.DiscardHandler),
		})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() { d.Watch(ctx); close(watched) }()
	t.Cleanup(func() {
		cancel()
		<-watched
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	workertest.Eventually(t, "the load of all peers", func() bool { return countUp(t, registry) == len(peers) })
	return d
}

func countUp(t *testing.T, registry *prometheus.Registry) int {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, family := range families {
		if family.GetName() != "sluice_compaction_peer_up" {
			continue
		}
		for _, metric := range family.GetMetric() {
			count += int(metric.GetGauge().GetValue())
		}
	}
	return count
}

func job() compaction.Job {
	return compaction.Job{
		ID: "a", DatabasePath: "/srv/db", OutputPath: "/srv/db/.sluice-compaction-a", Input: []byte("x"),
		RocksDB: compaction.Version{Major: 11, Minor: 8},
	}
}

func accepted() *sluicev1.RunCompactionResponse {
	return &sluicev1.RunCompactionResponse{Content: &sluicev1.RunCompactionResponse_Accepted{}}
}

func failed(reason compaction.Reason) *sluicev1.RunCompactionResponse {
	return &sluicev1.RunCompactionResponse{
		Content: &sluicev1.RunCompactionResponse_Failed{Failed: wire.EncodeFailure(compaction.Failuref(reason, ""))},
	}
}

func result(blob []byte) *sluicev1.RunCompactionResponse {
	return &sluicev1.RunCompactionResponse{
		Content: &sluicev1.RunCompactionResponse_Result{Result: &sluicev1.CompactionResult{Result: blob}},
	}
}

// saying is a peer that says some things, and then nothing until its caller goes.
func saying(answers ...*sluicev1.RunCompactionResponse) func(sluicev1.CompactionService_RunCompactionServer) error {
	return func(stream sluicev1.CompactionService_RunCompactionServer) error {
		for _, answer := range answers {
			if err := stream.Send(answer); err != nil {
				return err
			}
		}
		<-stream.Context().Done()
		return stream.Context().Err()
	}
}

// handingOver is a peer that keeps the contract.
func handingOver(stream sluicev1.CompactionService_RunCompactionServer) error {
	if err := stream.Send(accepted()); err != nil {
		return err
	}
	if err := stream.Send(result([]byte("result"))); err != nil {
		return err
	}
	for {
		request, err := stream.Recv()
		if err != nil || request.GetTake() {
			return err
		}
	}
}

func TestLeastLoadedPeerThatTakesTheJob(t *testing.T) {
	d := open(t, map[string]*peer{
		"full": {used: 0.1, run: saying(failed(compaction.Busy))},
		"older": {used: 0.2, run: func(sluicev1.CompactionService_RunCompactionServer) error {
			return store.Errorf(store.CodeUnsupported, "")
		}},
		"taking": {used: 0.3, run: handingOver},
		"loaded": {used: 0.69, run: saying()},
		"above":  {used: 0.71, run: saying()},
	})
	placed, failure := d.Place(t.Context(), job())
	if failure != nil || placed.Node() != "taking" {
		t.Fatalf("%v, %v", placed, failure)
	}
	<-placed.Done()
	if got, failure := placed.End(); failure != nil || string(got.Blob) != "result" {
		t.Errorf("%+v, %v", got, failure)
	}
}

func TestJobThatNobodyTakes(t *testing.T) {
	for name, test := range map[string]struct {
		run  func(sluicev1.CompactionService_RunCompactionServer) error
		want compaction.Reason
	}{
		"busy": {saying(failed(compaction.Busy)), compaction.Busy},
		"path": {saying(failed(compaction.Path)), compaction.Path},
		"no such call": {func(sluicev1.CompactionService_RunCompactionServer) error {
			return store.Errorf(store.CodeUnsupported, "")
		}, compaction.PeerRefused},
		"ends at once":   {func(sluicev1.CompactionService_RunCompactionServer) error { return nil }, compaction.PeerLost},
		"says nothing":   {saying(), compaction.PeerLost},
		"out of turn":    {saying(result([]byte("r"))), compaction.PeerRefused},
		"an empty thing": {saying(&sluicev1.RunCompactionResponse{}), compaction.PeerRefused},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, map[string]*peer{"db-2": {run: test.run}})
			if _, failure := d.Place(t.Context(), job()); failure == nil || failure.Reason != test.want {
				t.Errorf("%v, want %s", failure, test.want)
			}
		})
	}
}

func TestJobsThatEndBadly(t *testing.T) {
	for name, test := range map[string]struct {
		run  func(sluicev1.CompactionService_RunCompactionServer) error
		want compaction.Reason
	}{
		"worker lost":        {saying(accepted(), failed(compaction.WorkerLost)), compaction.WorkerLost},
		"says nothing more":  {saying(accepted()), compaction.PeerLost},
		"does not hand over": {saying(accepted(), result([]byte("r"))), compaction.PeerLost},
		"hands over badly": {func(stream sluicev1.CompactionService_RunCompactionServer) error {
			if err := stream.Send(accepted()); err != nil {
				return err
			}
			if err := stream.Send(result([]byte("r"))); err != nil {
				return err
			}
			return store.Errorf(store.CodeUnavailable, "the directory was not given up")
		}, compaction.PeerLost},
		"empty result":   {saying(accepted(), result(nil)), compaction.PeerRefused},
		"large result":   {saying(accepted(), result(make([]byte, compaction.MaxBlobBytes+1))), compaction.PeerRefused},
		"accepted twice": {saying(accepted(), accepted()), compaction.PeerRefused},
		"ends early": {func(stream sluicev1.CompactionService_RunCompactionServer) error {
			return stream.Send(accepted())
		}, compaction.PeerLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t, map[string]*peer{"db-2": {run: test.run}})
			placed, failure := d.Place(t.Context(), job())
			if failure != nil {
				// The end may come before the acceptance is seen.
				if failure.Reason != test.want {
					t.Errorf("%v, want %s", failure, test.want)
				}
				return
			}
			<-placed.Done()
			if got, failure := placed.End(); failure == nil || failure.Reason != test.want || got.Blob != nil {
				t.Errorf("%v with %d bytes, want %s", failure, len(got.Blob), test.want)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	gone := make(chan struct{})
	d := open(t, map[string]*peer{"db-2": {run: func(stream sluicev1.CompactionService_RunCompactionServer) error {
		defer close(gone)
		return saying(accepted())(stream)
	}}})
	placed, failure := d.Place(t.Context(), job())
	if failure != nil {
		t.Fatal(failure)
	}
	placed.Cancel()
	<-placed.Done()
	if _, failure := placed.End(); failure == nil || failure.Reason != compaction.Cancelled {
		t.Error(failure)
	}
	<-gone
}

// Jobs that are placed at the same time see each other: the second goes to the other peer.
func TestJobsInFlightCount(t *testing.T) {
	d := open(t, map[string]*peer{"a": {run: saying(accepted())}, "b": {used: 0.1, run: saying(accepted())}})
	nodes := map[string]int{}
	for range 2 {
		placed, failure := d.Place(t.Context(), job())
		if failure != nil {
			t.Fatal(failure)
		}
		nodes[placed.Node()]++
	}
	if nodes["a"] != 1 || nodes["b"] != 1 {
		t.Errorf("%v", nodes)
	}
}

// A peer that has the job and is lost may have begun it: a second one would write to the same directory.
func TestJobWhoseAnswerIsLost(t *testing.T) {
	for name, lost := range map[string]func(sluicev1.CompactionService_RunCompactionServer) error{
		"breaks off": func(sluicev1.CompactionService_RunCompactionServer) error {
			return store.Errorf(store.CodeUnavailable, "")
		},
		"ends":        func(sluicev1.CompactionService_RunCompactionServer) error { return nil },
		"out of turn": saying(result([]byte("r"))),
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, map[string]*peer{"first": {run: lost}, "second": {used: 0.1, run: handingOver}})
			placed, failure := d.Place(t.Context(), job())
			if failure == nil {
				t.Fatalf("the job was given to %s after it was sent to the first", placed.Node())
			}
			// For a while the next ones do without that peer.
			placed, failure = d.Place(t.Context(), job())
			if failure != nil || placed.Node() != "second" {
				t.Fatalf("the next job: %v, %v", placed, failure)
			}
			<-placed.Done()
		})
	}
}

// Jobs that come at the same moment see each other, too: no peer is asked for more than its slots.
func TestJobsAtTheSameMoment(t *testing.T) {
	var asked [2]atomic.Int32
	counting := func(peer int) func(sluicev1.CompactionService_RunCompactionServer) error {
		return func(stream sluicev1.CompactionService_RunCompactionServer) error {
			asked[peer].Add(1)
			return saying(accepted())(stream)
		}
	}
	d := open(t, map[string]*peer{"a": {run: counting(0)}, "b": {used: 0.1, run: counting(1)}})
	var stores sync.WaitGroup
	start := make(chan struct{})
	for range 32 {
		stores.Go(func() {
			<-start
			if _, failure := d.Place(t.Context(), job()); failure != nil && failure.Reason != compaction.Busy {
				t.Error(failure)
			}
		})
	}
	close(start)
	stores.Wait()
	if a, b := asked[0].Load(), asked[1].Load(); a != 2 || b != 2 {
		t.Errorf("the peers with 2 slots each were asked %d and %d times", a, b)
	}
}
