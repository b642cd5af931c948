package host_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/admission"
	"sluice.dev/control/internal/compaction/host"
	"sluice.dev/control/internal/compaction/metrics"
	"sluice.dev/control/internal/compaction/scratch"
	"sluice.dev/control/internal/compaction/workertest"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
	"sluice.dev/control/tests/process"
)

func TestMain(m *testing.M) {
	os.Exit(workertest.Run(m))
}

// node is a host with its server.
type node struct {
	t        *testing.T
	database string
	state    string
	stopping chan struct{}
	client   sluicev1.CompactionServiceClient
}

func newNode(t *testing.T, change func(*host.Config)) *node {
	t.Helper()
	n := &node{t: t, database: t.TempDir(), state: process.MemoryDirectory(t), stopping: make(chan struct{})}
	config := host.Config{
		Programs: map[string]string{"11.8": workertest.Program}, Allowed: scratch.Allowed{n.database},
		Limits: admission.Limits{
			Slots: 2, MemoryBytes: 1 << 30, JobMemoryBytes: 512 << 20, TemporaryBytes: 1 << 30,
		},
		LongestJob: time.Hour, LongestStandstill: time.Hour,
	}
	if change != nil {
		change(&config)
	}
	journal, err := scratch.OpenJournal(n.state)
	if err != nil {
		t.Fatal(err)
	}
	served := host.New(config, journal, host.Surroundings{
		Load: func() host.Load { return host.Load{CPUUsed: 0.25, CPUs: 4} },
		Metrics: func(usage func() admission.Usage) *metrics.Worker {
			return metrics.NewWorker(prometheus.NewRegistry(), usage)
		},
		Logger: slog.New(slog.DiscardHandler), Stopping: n.stopping,
	})
	tend(t, served)
	authority := securitytest.NewAuthority(t, "test")
	listener, err := protocol.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(protocol.ServerOptions(authority.Open(t, security.RoleAgent, "db-2"))...)
	sluicev1.RegisterCompactionServiceServer(server, served)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	connection, err := grpc.NewClient(listener.Addr().String(),
		protocol.DialOptions(authority.Open(t, security.RoleAgent, "db-1"), security.RoleAgent, "db-2")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	n.client = sluicev1.NewCompactionServiceClient(connection)
	return n
}

// tend has a host take jobs.
func tend(t *testing.T, h *host.Host) {
	ctx, cancel := context.WithCancel(context.Background())
	tended := make(chan struct{})
	go func() { h.Tend(ctx); close(tended) }()
	t.Cleanup(func() { cancel(); <-tended })
	<-h.Cleaned()
}

func (n *node) open() *stream {
	n.t.Helper()
	opened, err := n.client.RunCompaction(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	return &stream{CompactionService_RunCompactionClient: opened}
}

// run begins a job.
func (n *node) run(id, act string) (*stream, compaction.Job) {
	n.t.Helper()
	job := workertest.Job(n.t, n.database, id, act)
	opened := n.open()
	n.begin(opened, job)
	return opened, job
}

// begin begins a job of a caller that is there until the stream ends.
func (n *node) begin(to *stream, job compaction.Job) {
	n.t.Helper()
	n.send(to, &sluicev1.RunCompactionRequest{Job: wire.EncodeJob(job)})
	go to.keepAlive()
}

func (n *node) send(to *stream, request *sluicev1.RunCompactionRequest) {
	n.t.Helper()
	if err := to.Send(request); err != nil {
		n.t.Fatal(err)
	}
}

// next is the next answer that is no progress.
func (n *node) next(from *stream) *sluicev1.RunCompactionResponse {
	n.t.Helper()
	for {
		answer, err := from.Recv()
		if err != nil {
			n.t.Fatal(err)
		}
		if answer.GetProgress() == nil {
			return answer
		}
	}
}

func (n *node) expectAccepted(from *stream) {
	n.t.Helper()
	if answer := n.next(from); answer.GetAccepted() == nil {
		n.t.Fatalf("%v", answer)
	}
}

func (n *node) expectFailure(from *stream, reason compaction.Reason) {
	n.t.Helper()
	if failure := wire.DecodeFailure(n.next(from).GetFailed()); failure.Reason != reason {
		n.t.Fatalf("%v, want %s", failure, reason)
	}
	if _, err := from.Recv(); !errors.Is(err, io.EOF) {
		n.t.Errorf("after the failure: %v", err)
	}
}

func (n *node) expectNothingLeft(job compaction.Job) {
	n.t.Helper()
	workertest.Eventually(n.t, "the removal of what the job has left", func() bool {
		_, err := os.Stat(job.OutputPath)
		noted, globErr := filepath.Glob(filepath.Join(n.state, "*"))
		return os.IsNotExist(err) && globErr == nil && len(noted) == 0
	})
}

func TestHandover(t *testing.T) {
	n := newNode(t, nil)
	s, job := n.run("a", "result")
	n.expectAccepted(s)
	result, err := wire.DecodeCompactionResult(n.next(s).GetResult())
	if err != nil || string(result.Blob) != "result of a" || result.BytesRead != 2 {
		t.Errorf("%+v, %v", result, err)
	}
	n.send(s, &sluicev1.RunCompactionRequest{Take: true})
	if _, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the end of the stream is %v", err)
	}
	if noted, err := filepath.Glob(filepath.Join(n.state, "*")); err != nil || len(noted) != 0 {
		t.Errorf("%v is still noted, %v", noted, err)
	}
	if _, err := os.Stat(filepath.Join(job.OutputPath, "000001.sst")); err != nil {
		t.Errorf("the output: %v", err)
	}
}

func TestJobWhoseWorkerIsLostIsResumed(t *testing.T) {
	n := newNode(t, func(c *host.Config) { c.ResumeJobs = true })
	s, job := n.run("a", "killed-once")
	n.expectAccepted(s)
	result, err := wire.DecodeCompactionResult(n.next(s).GetResult())
	if err != nil || string(result.Blob) != "resumable true" {
		t.Errorf("%+v, %v", result, err)
	}
	n.send(s, &sluicev1.RunCompactionRequest{Take: true})
	if _, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the end of the stream is %v", err)
	}
	if _, err := os.Stat(job.OutputPath); err != nil {
		t.Errorf("the output: %v", err)
	}
}

func TestJobWhoseWorkersAreLostIsGivenUp(t *testing.T) {
	n := newNode(t, func(c *host.Config) { c.ResumeJobs = true })
	s, job := n.run("a", "crash")
	n.expectAccepted(s)
	n.expectFailure(s, compaction.WorkerLost)
	n.expectNothingLeft(job)
}

// What RocksDB calls experimental has to be asked for.
func TestJobWhoseWorkerIsLostIsNotResumedUnasked(t *testing.T) {
	n := newNode(t, nil)
	s, job := n.run("a", "killed-once")
	n.expectAccepted(s)
	n.expectFailure(s, compaction.WorkerLost)
	n.expectNothingLeft(job)
}

func TestResultThatNobodyTakes(t *testing.T) {
	n := newNode(t, nil)
	s, job := n.run("a", "result")
	n.expectAccepted(s)
	n.next(s)
	n.send(s, &sluicev1.RunCompactionRequest{})
	n.expectFailure(s, compaction.Cancelled)
	n.expectNothingLeft(job)
}

func TestResultWhoseCallerIsLost(t *testing.T) {
	n := newNode(t, nil)
	s, job := n.run("a", "result")
	n.expectAccepted(s)
	n.next(s)
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	n.expectFailure(s, compaction.Cancelled)
	n.expectNothingLeft(job)
}

func TestCallerThatSaysNothing(t *testing.T) {
	n := newNode(t, nil)
	s, job := n.open(), workertest.Job(t, n.database, "a", "wait")
	n.send(s, &sluicev1.RunCompactionRequest{Job: wire.EncodeJob(job)})
	n.expectAccepted(s)
	n.expectFailure(s, compaction.Cancelled)
	n.expectNothingLeft(job)
}

func TestTakeBeforeThereIsAResult(t *testing.T) {
	n := newNode(t, nil)
	s, job := n.run("a", "wait")
	n.expectAccepted(s)
	n.send(s, &sluicev1.RunCompactionRequest{Take: true})
	n.expectFailure(s, compaction.Cancelled)
	n.expectNothingLeft(job)
}

func TestJobThatTakesTooLong(t *testing.T) {
	n := newNode(t, func(c *host.Config) { c.LongestJob = time.Second })
	s, job := n.run("a", "wait")
	n.expectAccepted(s)
	n.expectFailure(s, compaction.TooLong)
	n.expectNothingLeft(job)
}

func TestAgentThatStops(t *testing.T) {
	n := newNode(t, nil)
	s, job := n.run("a", "wait")
	n.expectAccepted(s)
	close(n.stopping)
	n.expectFailure(s, compaction.Stopping)
	n.expectNothingLeft(job)
	late, _ := n.run("b", "wait")
	n.expectFailure(late, compaction.Stopping)
}

func TestSecondJobForTheSameDirectory(t *testing.T) {
	n := newNode(t, nil)
	first, job := n.run("a", "wait")
	n.expectAccepted(first)
	workertest.Eventually(t, "the output of the first", func() bool {
		_, err := os.Stat(filepath.Join(job.OutputPath, "000001.sst"))
		return err == nil
	})
	second, _ := n.run("a", "wait")
	n.expectFailure(second, compaction.Path)
	if _, err := os.Stat(filepath.Join(job.OutputPath, "000001.sst")); err != nil {
		t.Errorf("the output of the first: %v", err)
	}
}

func TestFirstRequestsThatAreNone(t *testing.T) {
	n := newNode(t, nil)
	for name, request := range map[string]*sluicev1.RunCompactionRequest{
		"no job": {}, "take": {Take: true}, "bad job": {Job: &sluicev1.CompactionJob{Id: "/"}},
	} {
		s := n.open()
		n.send(s, request)
		if _, err := s.Recv(); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := n.open().Recv(); store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("nothing at all: %v", err)
	}
}

func TestCapacityIsToldWhenItChanges(t *testing.T) {
	n := newNode(t, nil)
	watch, err := n.client.WatchCapacity(t.Context(), &sluicev1.WatchCapacityRequest{})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(slots uint32) {
		t.Helper()
		for {
			message, err := watch.Recv()
			if err != nil {
				t.Fatal(err)
			}
			capacity, err := wire.DecodeCapacity(message)
			if err != nil || capacity.CPUUsed != 0.25 || capacity.CPUs != 4 || capacity.Series[0] != "11.8" {
				t.Fatalf("%+v, %v", capacity, err)
			}
			if capacity.FreeSlots == slots {
				return
			}
		}
	}
	expect(2)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := n.client.RunCompaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n.begin(&stream{CompactionService_RunCompactionClient: s}, workertest.Job(t, n.database, "a", "wait"))
	expect(1)
	cancel()
	expect(2)
	close(n.stopping)
	for err == nil {
		_, err = watch.Recv()
	}
	if store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("the watch ended with %v", err)
	}
}

// What an agent that was killed has noted is removed by the next one, before it takes jobs.
func TestWhatIsLeftIsRemovedAtTheStart(t *testing.T) {
	state, database := t.TempDir(), t.TempDir()
	journal, err := scratch.OpenJournal(state)
	if err != nil {
		t.Fatal(err)
	}
	job := workertest.Job(t, database, "a", "wait")
	if err := journal.Write(scratch.Entry{OutputPath: job.OutputPath}); err != nil {
		t.Fatal(err)
	}
	next := host.New(host.Config{}, journal, host.Surroundings{
		Metrics: func(usage func() admission.Usage) *metrics.Worker {
			return metrics.NewWorker(prometheus.NewRegistry(), usage)
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	tend(t, next)
	if entries, err := journal.Entries(); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := os.Stat(job.OutputPath); !os.IsNotExist(err) {
		t.Errorf("the directory: %v", err)
	}
}
