package host

import (
	"context"
	"errors"
	"os"
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
	// grant is what the job was given once it is admitted, and release gives that and its directory back.
	grant   admission.Grant
	release func()
	// checked are the directories of the job, once it is admitted.
	checked scratch.Checked
	// errors is what the worker wrote to its standard error.
	errors string
}

// run gives nil when the caller has taken the result. The job keeps its slot and its directory until what
// it has left is removed.
func (a *attempt) run(ctx context.Context) *compaction.Failure {
	program, failure := a.admit()
	if failure != nil {
		return failure
	}
	if err := a.host.journal.Write(scratch.Entry{OutputPath: a.checked.OutputPath}); err != nil {
		a.cleanUp()
		return compaction.Failuref(compaction.Failed, "the job cannot be noted: %v", err)
	}
	if failure := a.compact(ctx, program); failure != nil {
		a.cleanUp()
		return failure
	}
	if a.job.IsElsewhere() {
		// Its directory was for the worker alone: the output is with the region, or in the pool.
		a.cleanUp()
		return nil
	}
	a.release()
	return nil
}

func (a *attempt) cleanUp() {
	a.host.cleanUp(leftOver{scratch.Entry{OutputPath: a.checked.OutputPath}, a.release})
}

// admit gives the program for the job. It looks at files only when the job has a slot, so that jobs which
// wait for a disk are never more than that.
func (a *attempt) admit() (string, *compaction.Failure) {
	program, failure := a.host.programFor(a.job)
	if failure != nil {
		return "", failure
	}
	grant, failure := a.host.ledger.Admit(admission.Request{InputBytes: a.localBytes()})
	if failure != nil {
		return "", failure
	}
	free, isFree := a.host.folders.claim(a.job.Output())
	if !isFree {
		grant.Release()
		return "", compaction.Failuref(compaction.Path, "another job has the output path %s", a.job.OutputPath)
	}
	a.grant, a.release = grant, func() { free(); grant.Release() }
	if failure := a.checkFiles(); failure != nil {
		a.release()
		return "", failure
	}
	return program, nil
}

// programFor is the program for a job, if jobs are taken at all.
func (h *Host) programFor(job compaction.Job) (string, *compaction.Failure) {
	if isClosed(h.stopping) {
		return "", compaction.Failuref(compaction.Stopping, "the agent stops")
	}
	program, known := h.config.Programs[job.Series()]
	if !known {
		return "", compaction.Failuref(compaction.VersionUnknown, "there is no program for %s here", job.Store())
	}
	if !isClosed(h.cleaned) {
		return "", compaction.Failuref(compaction.Busy, "the agent has been started, and removes first what the one before it has left")
	}
	return program, nil
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// localBytes is the part of the input that the output on file systems of this node is as large as.
func (a *attempt) localBytes() uint64 {
	if a.job.IsElsewhere() {
		return 0
	}
	return a.job.InputBytes
}

func (a *attempt) checkFiles() *compaction.Failure {
	var failure *compaction.Failure
	if a.checked, failure = a.host.config.directories(a.job); failure != nil {
		return failure
	}
	failure = a.grant.CheckFree(func() (uint64, error) { return scratch.FreeBytes(a.checked.OutputPath) })
	if failure != nil && a.job.IsElsewhere() {
		_ = os.Remove(a.checked.OutputPath) // It is new, and empty.
	}
	return failure
}

// directories gives those of a job that may be run here.
func (c Config) directories(job compaction.Job) (scratch.Checked, *compaction.Failure) {
	var failure *compaction.Failure
	switch {
	case job.IsHBase():
		failure = c.HBaseRoots.Check(job)
	case job.Pool != nil:
		failure = c.PoolVolumes.Check(*job.Pool)
	default:
		return c.Allowed.Check(job)
	}
	if failure != nil {
		return scratch.Checked{}, failure
	}
	return scratch.Make(c.ScratchDirectory, job.ID)
}

// poolSocket is for workers of jobs in a pool alone.
func (c Config) poolSocket(job compaction.Job) string {
	if job.Pool == nil {
		return ""
	}
	return c.PoolSocket
}

// compact runs the worker and hands its result over.
func (a *attempt) compact(ctx context.Context, program string) *compaction.Failure {
	accepted := &sluicev1.RunCompactionResponse_Accepted{Accepted: &sluicev1.CompactionAccepted{}}
	if err := a.stream.Send(&sluicev1.RunCompactionResponse{Content: accepted}); err != nil {
		return callerLost(err)
	}
	begun := time.Now()
	report, failure := a.work(ctx, program)
	a.errors = report.Errors
	a.host.metrics.Spent(report.CPUTime)
	if failure != nil {
		return failure
	}
	a.host.metrics.Ran(time.Since(begun), report.OpenSeconds)
	a.host.metrics.Resumed(report.ResumedBytes)
	return a.handOver(report.Result)
}

func (a *attempt) spec(program string, moved chan compaction.Progress) worker.Spec {
	return worker.Spec{
		Program: program,
		Job: message.WorkerJob{
			ProtocolVersion: message.CurrentVersion(), Job: a.job, Libraries: a.host.config.Libraries,
			MemoryLimitBytes: a.grant.MemoryBytes, TemporaryLimitBytes: admission.TemporaryBytesOf(a.job.InputBytes),
			CheckedDatabasePath: a.checked.DatabasePath, CheckedOutputPath: a.checked.OutputPath,
			PoolSocket: a.host.config.poolSocket(a.job), Resumable: a.isResumable(),
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

// isResumable says whether a second worker may go on: what one leaves elsewhere is a file without an end, or a lease.
func (a *attempt) isResumable() bool {
	return a.host.config.ResumeJobs && !a.job.IsElsewhere()
}

// note has the worker ended by the next agent, should this one be killed.
func (a *attempt) note(pid int) error {
	process, err := scratch.Identify(pid)
	if err != nil {
		return err
	}
	return a.host.journal.Write(scratch.Entry{OutputPath: a.checked.OutputPath, Worker: process})
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
			if a.job.IsElsewhere() {
				return nil // What is noted is this node's own.
			}
			if err := a.host.journal.Forget(a.checked.OutputPath); err != nil {
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
