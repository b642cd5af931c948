package host

import (
	"context"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/admission"
	"sluice.dev/control/internal/compaction/worker"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

// watch is over a worker and its caller. What it sees last may end the job; the first reason counts.
type watch struct {
	attempt *attempt
	cancel  context.CancelCauseFunc
	// silent, still and long run out when the caller, the worker and the job take too long.
	silent, still, long *time.Timer
	progress            compaction.Progress
}

// ended is a worker that is gone.
type ended struct {
	report worker.Report
	err    error
}

// work watches over worker and caller until the worker is gone.
func (a *attempt) work(ctx context.Context, program string) (worker.Report, *compaction.Failure) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	moved, done := make(chan compaction.Progress, 1), make(chan ended, 1)
	go func() {
		report, err := a.runWorker(ctx, program, moved)
		done <- ended{report, err}
	}()
	w := &watch{attempt: a, cancel: cancel}
	w.startTimers()
	defer w.stopTimers()
	// A disk that is slow to say what is on it must not keep the caller from hearing of the job.
	go w.size(ctx)
	return w.untilGone(ctx, moved, done)
}

func (a *attempt) runWorker(ctx context.Context, program string, moved chan compaction.Progress) (worker.Report, error) {
	report, err := a.host.run(ctx, a.spec(program, moved))
	if !a.isResumable() || !isLost(err) {
		return report, err
	}
	// Nobody else has the directory: the process is gone, and the job is still this agent's.
	a.host.metrics.Restarted()
	lost := report.CPUTime
	report, err = a.host.run(ctx, a.spec(program, moved))
	report.CPUTime += lost
	return report, err
}

// isLost says whether a worker has ended without a word, as one that was killed.
func isLost(err error) bool {
	return err != nil && compaction.FailureOf(err).Reason == compaction.WorkerLost
}

func (w *watch) startTimers() {
	config := w.attempt.host.config
	w.silent = time.AfterFunc(compaction.Expiry, func() {
		w.end(compaction.Cancelled, "the caller has said nothing for %v", compaction.Expiry)
	})
	w.still = time.AfterFunc(config.LongestStandstill, func() {
		w.end(compaction.WorkerSilent, "the worker has made no progress for %v", config.LongestStandstill)
	})
	w.long = time.AfterFunc(config.LongestJob, func() {
		w.end(compaction.TooLong, "the job has run for %v", config.LongestJob)
	})
}

func (w *watch) stopTimers() {
	for _, timer := range []*time.Timer{w.silent, w.still, w.long} {
		timer.Stop()
	}
}

func (w *watch) untilGone(
	ctx context.Context, moved <-chan compaction.Progress, done <-chan ended,
) (worker.Report, *compaction.Failure) {
	ticker := time.NewTicker(compaction.Heartbeat)
	defer ticker.Stop()
	requests, stopping := w.attempt.requests, w.attempt.host.stopping
	for {
		select {
		case gone := <-done:
			return gone.report, failureOrNil(gone.err)
		case progress := <-moved:
			w.note(progress)
		case <-stopping:
			w.end(compaction.Stopping, "the agent stops")
			stopping = nil
		case request := <-requests:
			w.silent.Reset(compaction.Expiry)
			if request.err != nil || request.GetTake() {
				w.end(compaction.Cancelled, "the caller has ended the job")
				requests = nil
			}
		case <-ticker.C:
			w.sendProgress(ctx)
		}
	}
}

// end has the worker end, which is soon seen.
func (w *watch) end(reason compaction.Reason, format string, arguments ...any) {
	w.cancel(compaction.Failuref(reason, format, arguments...))
}

func (w *watch) note(progress compaction.Progress) {
	if progress != w.progress {
		w.still.Reset(w.attempt.host.config.LongestStandstill)
	}
	w.progress = progress
	// What is written to HDFS or a pool this node does not see.
	most := admission.TemporaryBytesOf(w.attempt.job.InputBytes)
	if w.attempt.job.IsElsewhere() && progress.BytesWritten > most {
		w.end(compaction.TooLarge, "the job has written %d bytes, where its input leaves room for %d", progress.BytesWritten, most)
	}
}

// sendProgress says nothing more of a job that was told to end: a caller must not wait for a worker that
// cannot be killed.
func (w *watch) sendProgress(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	content := &sluicev1.RunCompactionResponse_Progress{Progress: wire.EncodeCompactionProgress(w.progress)}
	if err := w.attempt.stream.Send(&sluicev1.RunCompactionResponse{Content: content}); err != nil {
		w.end(compaction.Cancelled, "the caller cannot be reached: %v", err)
	}
}

// size ends a job that has written too much.
func (w *watch) size(ctx context.Context) {
	ticker := time.NewTicker(compaction.Heartbeat)
	defer ticker.Stop()
	most := w.attempt.grant.TemporaryBytes
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if written := w.attempt.host.size(w.attempt.checked.OutputPath); written > most {
				w.end(compaction.TooLarge, "the job has written %d bytes, where its input leaves room for %d", written, most)
			}
		}
	}
}
