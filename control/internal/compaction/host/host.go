// Package host runs compactions for the stores of other nodes, whose agents call CompactionService.
package host

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/admission"
	"sluice.dev/control/internal/compaction/metrics"
	"sluice.dev/control/internal/compaction/scratch"
	"sluice.dev/control/internal/compaction/worker"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// Config says which jobs are taken, and how they are run.
type Config struct {
	// Programs are the paths of workers by the series of stores, such as 11.8 of RocksDB and hbase-2.6.
	Programs map[string]string
	// Libraries are loaded by each worker before it reads the options of a database.
	Libraries []string
	Allowed   scratch.Allowed
	// HBaseRoots are where stores of HBase may be. PoolVolumes are the volumes of a pool that databases may be
	// in, whose workers reach it at PoolSocket.
	HBaseRoots  scratch.HBaseRoots
	PoolVolumes scratch.PoolVolumes
	PoolSocket  string
	// ScratchDirectory is where workers whose output is elsewhere have directories for temporary files.
	ScratchDirectory string
	Limits           admission.Limits
	// LongestJob is how long a job may run.
	LongestJob time.Duration
	// LongestStandstill is how long a worker may go on without getting any further.
	LongestStandstill time.Duration
	// Nice is the priority of workers, -20 to 19, of which lower ones go first.
	Nice int
	// ResumeJobs has a second worker go on with a job whose first one was lost.
	ResumeJobs bool
}

// Load is that of this node's processors.
type Load struct {
	CPUUsed, CPUs float64
	Age           time.Duration
}

// Host is CompactionService.
type Host struct {
	sluicev1.UnimplementedCompactionServiceServer
	config  Config
	journal *scratch.Journal
	ledger  *admission.Ledger
	metrics *metrics.Worker
	load    func() Load
	logger  *slog.Logger
	folders folders
	left    leftOvers
	// cleaned is closed when what an agent before this one has left is removed.
	cleaned chan struct{}
	// stopping is closed when no more jobs are taken and those that run are to end.
	stopping <-chan struct{}

	// run and size are the outside world, which tests replace.
	run  func(context.Context, worker.Spec) (worker.Report, error)
	size func(path string) uint64
}

// Surroundings are what a host needs of its agent.
type Surroundings struct {
	Load     func() Load
	Metrics  func(usage func() admission.Usage) *metrics.Worker
	Logger   *slog.Logger
	Stopping <-chan struct{}
}

// New makes a host. It takes jobs once Tend has removed what an agent before it has left.
func New(config Config, journal *scratch.Journal, surroundings Surroundings) *Host {
	h := &Host{
		config: config, journal: journal, ledger: admission.NewLedger(config.Limits),
		load: surroundings.Load, logger: surroundings.Logger, stopping: surroundings.Stopping,
		cleaned: make(chan struct{}), run: worker.Run, size: scratch.Size,
	}
	h.metrics = surroundings.Metrics(h.ledger.Usage)
	return h
}

// leastBetween bounds how often a node that is busy with small jobs tells so.
const leastBetween = 20 * time.Millisecond

// WatchCapacity sends what there is left for jobs, once a second and when it changes.
func (h *Host) WatchCapacity(
	_ *sluicev1.WatchCapacityRequest, stream sluicev1.CompactionService_WatchCapacityServer,
) error {
	ticker := time.NewTicker(compaction.Heartbeat)
	defer ticker.Stop()
	for {
		changed, last := h.ledger.Changed(), time.Now()
		if err := stream.Send(wire.EncodeCapacity(h.capacity())); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-changed:
			time.Sleep(leastBetween - time.Since(last))
		case <-stream.Context().Done():
			return stream.Context().Err()
		case <-h.stopping:
			return store.Errorf(store.CodeUnavailable, "the agent stops")
		}
	}
}

func (h *Host) capacity() compaction.Capacity {
	load, slots := h.load(), uint32(0)
	if isClosed(h.cleaned) {
		slots = h.ledger.FreeSlots()
	}
	return compaction.Capacity{
		CPUUsed: load.CPUUsed, CPUAge: load.Age, CPUs: load.CPUs,
		FreeSlots: slots, Series: slices.Sorted(maps.Keys(h.config.Programs)),
	}
}

// RunCompaction runs one job.
func (h *Host) RunCompaction(stream sluicev1.CompactionService_RunCompactionServer) error {
	caller, err := security.FromContext(stream.Context())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	requests := receive(ctx, stream)
	job, err := firstRequest(requests)
	if err != nil {
		return err
	}
	begun := time.Now()
	a := &attempt{host: h, job: job, stream: stream, requests: requests}
	failure := a.run(ctx)
	h.metrics.Ended(failure)
	h.log(caller, job, failure, a.errors, time.Since(begun))
	if failure == nil {
		return nil
	}
	return stream.Send(&sluicev1.RunCompactionResponse{
		Content: &sluicev1.RunCompactionResponse_Failed{Failed: wire.EncodeFailure(failure)},
	})
}

// maxLoggedBytes bounds what a worker or a store has said, in the log.
const maxLoggedBytes = 4 << 10

func (h *Host) log(
	caller security.Identity, job compaction.Job, failure *compaction.Failure, workerErrors string, took time.Duration,
) {
	attributes := []any{
		"caller", caller.String(), "job", job.ID, "database", job.DatabasePath, "input_bytes", job.InputBytes,
		"duration_seconds", took.Seconds(),
	}
	switch {
	case failure == nil:
		h.logger.Info("a compaction was done for another node", attributes...)
	case failure.Reason == compaction.Busy, failure.Reason == compaction.Stopping, failure.Reason == compaction.Cancelled:
		h.logger.Info("a compaction was not done for another node", append(attributes, "reason", failure.Reason, "detail", failure.Detail)...)
	default:
		h.logger.Warn("a compaction was not done for another node", append(attributes, "reason", failure.Reason,
			"detail", fmt.Sprintf("%.*s", maxLoggedBytes, failure.Detail), "worker_errors", workerErrors)...)
	}
}

// request is a request of a stream, or why there are no more.
type request struct {
	*sluicev1.RunCompactionRequest
	err error
}

// receive gives what comes, until its first error.
func receive(ctx context.Context, stream sluicev1.CompactionService_RunCompactionServer) <-chan request {
	requests := make(chan request)
	go func() {
		for {
			received, err := stream.Recv()
			select {
			case requests <- request{received, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return requests
}

func firstRequest(requests <-chan request) (compaction.Job, error) {
	select {
	case first := <-requests:
		if first.err != nil {
			return compaction.Job{}, first.err
		}
		return wire.DecodeJob(first.GetJob())
	case <-time.After(compaction.Expiry):
		return compaction.Job{}, store.Invalidf("there was no job within %v", compaction.Expiry)
	}
}
