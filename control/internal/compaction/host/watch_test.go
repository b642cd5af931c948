package host

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/admission"
	"sluice.dev/control/internal/compaction/metrics"
	"sluice.dev/control/internal/compaction/scratch"
	"sluice.dev/control/internal/compaction/worker"
	"sluice.dev/control/internal/compaction/workertest"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// node is a host without a network, whose workers are functions, and whose time is that of the test.
type node struct {
	*Host
	t               *testing.T
	database, state string
	registry        *prometheus.Registry
	// progresses counts those that were sent.
	progresses atomic.Int32
}

func newNode(t *testing.T, run func(context.Context, worker.Spec) (worker.Report, error)) *node {
	t.Helper()
	n := &node{t: t, database: t.TempDir(), state: t.TempDir(), registry: prometheus.NewRegistry()}
	journal, err := scratch.OpenJournal(n.state)
	if err != nil {
		t.Fatal(err)
	}
	config := Config{
		Programs: map[string]string{"11.8": "/sluice-compact"}, Allowed: scratch.Allowed{n.database},
		Limits:     admission.Limits{Slots: 2, MemoryBytes: 2, JobMemoryBytes: 1, TemporaryBytes: 1 << 30},
		LongestJob: time.Hour, LongestStandstill: 2 * time.Minute,
	}
	n.Host = New(config, journal, Surroundings{
		Load: func() Load { return Load{} },
		Metrics: func(usage func() admission.Usage) *metrics.Worker {
			return metrics.NewWorker(n.registry, usage)
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	n.run = run
	return n
}

// tend has jobs taken, until the context ends.
func (n *node) tend(ctx context.Context) {
	go n.Tend(ctx)
	<-n.Cleaned()
}

// attempt is a job of a caller that is there, and takes no result.
func (n *node) attempt(ctx context.Context, output string) *attempt {
	job := workertest.Job(n.t, n.database, "a", "")
	job.OutputPath = output
	requests := make(chan request)
	go func() {
		ticker := time.NewTicker(compaction.Heartbeat)
		defer ticker.Stop()
		for ctx.Err() == nil {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
			select {
			case requests <- request{RunCompactionRequest: &sluicev1.RunCompactionRequest{}}:
			case <-ctx.Done():
			}
		}
	}()
	return &attempt{host: n.Host, job: job, stream: &caller{node: n}, requests: requests}
}

func (n *node) output() string {
	return filepath.Join(n.database, compaction.OutputPrefix+"a")
}

// caller counts what it is told.
type caller struct {
	sluicev1.CompactionService_RunCompactionServer
	node *node
}

func (c *caller) Send(response *sluicev1.RunCompactionResponse) error {
	if response.GetProgress() != nil {
		c.node.progresses.Add(1)
	}
	return nil
}

// moving is a worker that gets on once in a while, until its end is ordered.
func moving(every time.Duration) func(context.Context, worker.Spec) (worker.Report, error) {
	return func(ctx context.Context, spec worker.Spec) (worker.Report, error) {
		for count := uint64(1); ctx.Err() == nil; count++ {
			spec.Progressed(compaction.Progress{BytesRead: count})
			select {
			case <-time.After(every):
			case <-ctx.Done():
			}
		}
		return worker.Report{}, context.Cause(ctx)
	}
}

// standing is a worker that says once a second that it is no further, until its end is ordered.
func standing(ctx context.Context, spec worker.Spec) (worker.Report, error) {
	for ctx.Err() == nil {
		spec.Progressed(compaction.Progress{BytesRead: 1})
		time.Sleep(time.Second)
	}
	return worker.Report{}, context.Cause(ctx)
}

func finished(context.Context, worker.Spec) (worker.Report, error) {
	return worker.Report{Result: compaction.Result{Blob: []byte("result")}}, nil
}

// inTestTime runs a test in a time that passes when all wait.
func inTestTime(t *testing.T, test func(*testing.T, context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		test(t, ctx)
	})
}

func TestStandstills(t *testing.T) {
	for name, test := range map[string]struct {
		run  func(context.Context, worker.Spec) (worker.Report, error)
		want compaction.Reason
	}{
		"none":        {moving(100 * time.Second), compaction.TooLong},
		"too long":    {standing, compaction.WorkerSilent},
		"just so":     {moving(119 * time.Second), compaction.TooLong},
		"beyond that": {moving(121 * time.Second), compaction.WorkerSilent},
	} {
		t.Run(name, func(t *testing.T) {
			inTestTime(t, func(t *testing.T, ctx context.Context) {
				n := newNode(t, test.run)
				n.tend(ctx)
				if failure := n.attempt(ctx, n.output()).run(ctx); failure == nil || failure.Reason != test.want {
					t.Errorf("%v, want %s", failure, test.want)
				}
			})
		})
	}
}

// A worker that cannot be killed is no reason for its caller to wait, whatever it says.
func TestProgressAfterTheEndWasOrdered(t *testing.T) {
	inTestTime(t, func(t *testing.T, ctx context.Context) {
		var n *node
		n = newNode(t, func(ctx context.Context, spec worker.Spec) (worker.Report, error) {
			<-ctx.Done()
			synctest.Wait()
			before := n.progresses.Load()
			for count := range uint64(600) {
				spec.Progressed(compaction.Progress{BytesRead: count})
				time.Sleep(time.Second)
			}
			if more := n.progresses.Load() - before; before == 0 || more > 0 {
				t.Errorf("%d messages before, %d afterwards", before, more)
			}
			return worker.Report{}, context.Cause(ctx)
		})
		n.tend(ctx)
		if failure := n.attempt(ctx, n.output()).run(ctx); failure == nil || failure.Reason != compaction.WorkerSilent {
			t.Error(failure)
		}
	})
}

func TestDiskThatIsSlowToSayWhatIsOnIt(t *testing.T) {
	inTestTime(t, func(t *testing.T, ctx context.Context) {
		n := newNode(t, standing)
		n.size = func(string) uint64 {
			<-ctx.Done()
			return 0
		}
		n.tend(ctx)
		if failure := n.attempt(ctx, n.output()).run(ctx); failure == nil || failure.Reason != compaction.WorkerSilent {
			t.Error(failure)
		}
		if n.progresses.Load() == 0 {
			t.Error("the caller has not heard of the job")
		}
	})
}

// The slot of a job is taken until its result is, or what it has left is removed.
func TestSlotUntilAllIsDone(t *testing.T) {
	inTestTime(t, func(t *testing.T, ctx context.Context) {
		n := newNode(t, finished)
		n.tend(ctx)
		first, ended := n.attempt(ctx, n.output()), make(chan *compaction.Failure, 1)
		go func() { ended <- first.run(ctx) }()
		synctest.Wait()
		if free := n.capacity().FreeSlots; free != 1 {
			t.Errorf("%d slots are free before the result was taken", free)
		}
		n.obstruct()
		if failure := <-ended; failure == nil || failure.Reason != compaction.Cancelled {
			t.Error(failure)
		}
		if free := n.capacity().FreeSlots; free != 1 {
			t.Errorf("%d slots are free before all is removed", free)
		}
		if failure := n.attempt(ctx, n.output()).run(ctx); failure == nil || failure.Reason != compaction.Path {
			t.Errorf("a job for a directory that is to be removed: %v", failure)
		}
		n.clear()
		time.Sleep(2 * cleanAgainPeriod)
		synctest.Wait()
		if free := n.capacity().FreeSlots; free != 2 {
			t.Errorf("%d slots are free after all", free)
		}
	})
}

func (n *node) entry() string {
	return filepath.Join(n.state, fmt.Sprintf("%x.json", sha256.Sum256([]byte(n.output()))))
}

// obstruct has the removal of what a job has left fail at its last step.
func (n *node) obstruct() {
	n.t.Helper()
	n.clear()
	if err := os.MkdirAll(filepath.Join(n.entry(), "in-the-way"), 0o700); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) clear() {
	n.t.Helper()
	if err := os.RemoveAll(n.entry()); err != nil {
		n.t.Fatal(err)
	}
}

// Nothing is in the directory yet that would tell of the first job.
func TestDirectoryIsOneJobs(t *testing.T) {
	inTestTime(t, func(t *testing.T, ctx context.Context) {
		n := newNode(t, standing)
		n.tend(ctx)
		elsewhere := filepath.Join(n.database, "elsewhere")
		if err := os.Symlink(n.database, elsewhere); err != nil {
			t.Fatal(err)
		}
		first, ended := n.attempt(ctx, n.output()), make(chan *compaction.Failure, 1)
		go func() { ended <- first.run(ctx) }()
		synctest.Wait()
		for _, path := range []string{n.output(), filepath.Join(elsewhere, filepath.Base(n.output()))} {
			if failure := n.attempt(ctx, path).run(ctx); failure == nil || failure.Reason != compaction.Path {
				t.Errorf("a second job in %s: %v", path, failure)
			}
		}
		if failure := <-ended; failure == nil || failure.Reason != compaction.WorkerSilent {
			t.Errorf("the first job: %v", failure)
		}
	})
}

func TestNoJobBeforeAllIsCleaned(t *testing.T) {
	inTestTime(t, func(t *testing.T, ctx context.Context) {
		n := newNode(t, standing)
		if free := n.capacity().FreeSlots; free != 0 {
			t.Errorf("%d slots are free", free)
		}
		if failure := n.attempt(ctx, n.output()).run(ctx); failure == nil || failure.Reason != compaction.Busy {
			t.Error(failure)
		}
		n.tend(ctx)
		if free := n.capacity().FreeSlots; free != 2 {
			t.Errorf("%d slots are free once all is cleaned", free)
		}
	})
}

func (n *node) cpuSeconds() float64 {
	n.t.Helper()
	families, err := n.registry.Gather()
	if err != nil {
		n.t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "sluice_compaction_worker_cpu_seconds_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return 0
}

// What the workers of a job have taken counts, whatever has become of it.
func TestProcessorTimeOfWorkersThatAreLost(t *testing.T) {
	inTestTime(t, func(t *testing.T, ctx context.Context) {
		n := newNode(t, func(context.Context, worker.Spec) (worker.Report, error) {
			return worker.Report{CPUTime: 2 * time.Second}, compaction.Failuref(compaction.WorkerLost, "killed")
		})
		n.config.ResumeJobs = true
		n.tend(ctx)
		if failure := n.attempt(ctx, n.output()).run(ctx); failure == nil || failure.Reason != compaction.WorkerLost {
			t.Error(failure)
		}
		if spent := n.cpuSeconds(); spent != 4 {
			t.Errorf("%v s, want 2 s of each of two workers", spent)
		}
	})
}
