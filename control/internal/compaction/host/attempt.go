package host

import (
	"context"
	"errors"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/admission"
	"sluice.dev/control/internal/compaction/message"
	"sluice.dev/control/internal/compaction/scratch"
	"sluice.dev/control/internal/compaction/worker"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

// attempt is one job, from its admission until its result is taken or what it has left is removed. Only
// the goroutine of the call sends.
type attempt struct {
	host     *Host
	job      compaction.Job
	stream   sluicev1.CompactionService_RunCompactionServer
	requests <-chan request
	// errors is what the worker wrote to its standard error.
	errors string
}

// run gives nil when the caller has taken the result.
func (a *attempt) run(ctx context.Context) *compaction.Failure {
	program, grant, failure := a.admit()
	if failure != nil {
		return failure
	}
	defer grant.Release()
	if err := a.host.journal.Write(scratch.Entry{OutputPath: a.job.OutputPath}); err != nil {
		return compaction.Failuref(compaction.Failed, "the job cannot be noted: %v", err)
	}
	failure = a.compact(ctx, program, grant)
	if failure != nil {
		a.host.sweep(a.job.OutputPath)
	}
	return failure
}

// admit looks at what costs least first.
func (a *attempt) admit() (string, admission.Grant, *compaction.Failure) {
	select {
	case <-a.host.stopping:
		return "", admission.Grant{}, compaction.Failuref(compaction.Stopping, "the agent stops")
	default:
	}
	program, known := a.host.config.Programs[a.job.RocksDB.Series()]
	if !known {
		return "", admission.Grant{}, compaction.Failuref(compaction.VersionUnknown,
			"there is no program for RocksDB %s here", a.job.RocksDB.Series())
	}
	if failure := a.host.config.Allowed.Check(a.job); failure != nil {
		return "", admission.Grant{}, failure
	}
	free, err := scratch.FreeBytes(a.job.OutputPath)
	if err != nil {
		return "", admission.Grant{}, compaction.Failuref(compaction.Path, "%v", err)
	}
	grant, failure := a.host.ledger.Admit(a.job.InputBytes, free)
	return program, grant, failure
}

// compact runs the worker and hands its result over.
func (a *attempt) compact(ctx context.Context, program string, grant admission.Grant) *compaction.Failure {
	accepted := &sluicev1.RunCompactionResponse_Accepted{Accepted: &sluicev1.CompactionAccepted{}}
	if err := a.stream.Send(&sluicev1.RunCompactionResponse{Content: accepted}); err != nil {
		return callerLost(err)
	}
	begun := time.Now()
	report, failure := a.work(ctx, program, grant)
	a.errors = report.Errors
	if failure != nil {
		return failure
	}
	a.host.metrics.Ran(time.Since(begun), report.CPUSeconds, report.OpenSeconds)
	a.host.metrics.Resumed(report.ResumedBytes)
	grant.Release()
	return a.handOver(report.Result)
}

// ended is a worker that is gone.
type ended struct {
	report worker.Report
	err    error
}

// work watches over worker and caller until the worker is gone.
func (a *attempt) work(ctx context.Context, program string, grant admission.Grant) (worker.Report, *compaction.Failure) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	moved, done := make(chan compaction.Progress, 1), make(chan ended, 1)
	go func() {
		report, err := worker.Run(ctx, a.spec(program, grant, moved))
		if a.host.config.ResumeJobs && isLost(err) {
			// Nobody else has the directory: the process is gone, and the job is still this agent's.
			a.host.metrics.Restarted()
			report, err = worker.Run(ctx, a.spec(program, grant, moved))
		}
		done <- ended{report, err}
	}()
	end := func(reason compaction.Reason, format string, arguments ...any) {
		cancel(compaction.Failuref(reason, format, arguments...))
	}
	silent := time.AfterFunc(compaction.Expiry, func() { end(compaction.Cancelled, "the caller has said nothing for %v", compaction.Expiry) })
	defer silent.Stop()
	long := time.AfterFunc(a.host.config.LongestJob, func() { end(compaction.TooLong, "the job has run for %v", a.host.config.LongestJob) })
	defer long.Stop()
	ticker := time.NewTicker(compaction.Heartbeat)
	defer ticker.Stop()

	var progress compaction.Progress
	requests, stopping := a.requests, a.host.stopping
	for {
		select {
		case worker := <-done:
			return worker.report, failureOrNil(worker.err)
		case progress = <-moved:
		case <-stopping:
			end(compaction.Stopping, "the agent stops")
			stopping = nil
		case request := <-requests:
			silent.Reset(compaction.Expiry)
			if request.err != nil || request.GetTake() {
				end(compaction.Cancelled, "the caller has ended the job")
				requests = nil
			}
		case <-ticker.C:
			if written := scratch.Size(a.job.OutputPath); written > grant.TemporaryBytes {
				end(compaction.TooLarge, "the job has written %d bytes, where its input leaves room for %d", written, grant.TemporaryBytes)
			}
			if err := a.sendProgress(progress); err != nil {
				end(compaction.Cancelled, "the caller cannot be reached: %v", err)
			}
		}
	}
}

// isLost says whether a worker has ended without a word, as one that was killed.
func isLost(err error) bool {
	return err != nil && compaction.FailureOf(err).Reason == compaction.WorkerLost
}

func (a *attempt) spec(program string, grant admission.Grant, moved chan compaction.Progress) worker.Spec {
	return worker.Spec{
		Program: program,
		Job: message.WorkerJob{
			ProtocolVersion: message.CurrentVersion(), Job: a.job, Libraries: a.host.config.Libraries,
			MemoryLimitBytes: grant.MemoryBytes, TemporaryLimitBytes: grant.TemporaryBytes,
			Resumable: a.host.config.ResumeJobs,
		},
		Nice:  a.host.config.Nice,
		Begun: a.note,
		Progressed: func(progress compaction.Progress) {
			select {
			case <-moved: // Nobody has looked at the last one.
			default:
			}
			moved <- progress
		},
	}
}

// note has the worker ended by the next agent, should this one be killed.
func (a *attempt) note(pid int) error {
	process, err := scratch.Identify(pid)
	if err != nil {
		return err
	}
	return a.host.journal.Write(scratch.Entry{OutputPath: a.job.OutputPath, Worker: process})
}

func (a *attempt) sendProgress(progress compaction.Progress) error {
	return a.stream.Send(&sluicev1.RunCompactionResponse{
		Content: &sluicev1.RunCompactionResponse_Progress{Progress: wire.EncodeCompactionProgress(progress)},
	})
}

// handOver gives the result, and with it the directory, to the caller. The directory is the caller's from
// when it was forgotten here: the caller learns that by the end of the stream, and does not use a result
// before. So there is no moment at which both would remove it, or install it while the other does.
func (a *attempt) handOver(result compaction.Result) *compaction.Failure {
	content := &sluicev1.RunCompactionResponse_Result{Result: wire.EncodeCompactionResult(result)}
	if err := a.stream.Send(&sluicev1.RunCompactionResponse{Content: content}); err != nil {
		return callerLost(err)
	}
	expired := time.After(compaction.Expiry)
	for {
		select {
		case request := <-a.requests:
			if request.err != nil {
				return callerLost(request.err)
			}
			if !request.GetTake() {
				continue // It was on its way before the result.
			}
			if err := a.host.journal.Forget(a.job.OutputPath); err != nil {
				return compaction.Failuref(compaction.Failed, "the result cannot be handed over: %v", err)
			}
			return nil
		case <-expired:
			return compaction.Failuref(compaction.Cancelled, "the caller has not taken the result for %v", compaction.Expiry)
		}
	}
}

func callerLost(err error) *compaction.Failure {
	return compaction.Failuref(compaction.Cancelled, "the caller was lost: %v", err)
}

func failureOrNil(err error) *compaction.Failure {
	var failure *compaction.Failure
	if err == nil || errors.As(err, &failure) {
		return failure
	}
	return compaction.FailureOf(err)
}
