// Package worker runs a compaction in a process of its own, such as sluice-compact, and sees to it that the process
// says what its contract has, lives no longer than it is wanted, and is gone afterwards.
package worker

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/message"
	"sluice.dev/control/internal/localprotocol"
)

const (
	// silence is how long a worker may say nothing.
	silence = compaction.Expiry
	// startOfJava is how long a worker of HBase may take until its first line: a Java machine on a node that
	// is busy needs longer than any later silence lasts.
	startOfJava = 30 * time.Second
	// goodbye is how long a worker may take to exit when it is told to, or has said its last line.
	goodbye = 2 * time.Second
)

// Spec is a worker and what it is told.
type Spec struct {
	// Program is the path of sluice-compact.
	Program string
	Job     message.WorkerJob
	// Nice is the priority of the process, -20 to 19, of which lower ones go first.
	Nice int
	// Begun is told the process before it gets its job; an error ends it.
	Begun func(pid int) error
	// Progressed is told how far the job is.
	Progressed func(compaction.Progress)
}

// Report is what is known of a worker that has ended.
type Report struct {
	Result compaction.Result
	// OpenSeconds is what a worker with a result has said of itself.
	OpenSeconds float64
	// CPUTime is what the kernel says of the process, whatever has become of it.
	CPUTime time.Duration
	// ResumedBytes is what a worker before it had written of the output.
	ResumedBytes uint64
	// Errors is the end of what it wrote to its standard error.
	Errors string
}

// Run runs a worker to its end, which the end of the context brings about. The process is gone when it
// returns. An error is a *compaction.Failure; the cause of the context is one where that is the reason.
func Run(ctx context.Context, spec Spec) (Report, error) {
	line, err := message.ForWorker(spec.Job)
	if err != nil {
		return Report{}, compaction.Failuref(compaction.Failed, "the job cannot be told: %v", err)
	}
	process, err := start(spec)
	if err != nil {
		return Report{}, compaction.Failuref(compaction.WorkerLost, "%s cannot be started: %v", spec.Program, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, process.terminate)
	defer stop()

	if err := spec.Begun(process.pid()); err != nil {
		cancel(compaction.Failuref(compaction.Failed, "the worker cannot be noted: %v", err))
	}
	talk := &conversation{spec: spec, silent: time.AfterFunc(firstSilence(spec), func() {
		cancel(compaction.Failuref(compaction.WorkerSilent, "the worker has said nothing for %v, or for %v at its start", silence, firstSilence(spec)))
	})}
	defer talk.silent.Stop()
	// A worker that reads nothing must not keep this from being told so.
	go func() { _, _ = process.input.Write(line) }()
	ended := talk.listen(process.output)
	talk.silent.Stop()
	if ended != nil {
		cancel(ended)
	}
	exit := process.wait()
	report := talk.report
	report.Errors, report.CPUTime = process.errors.String(), process.cpuTime()
	return report, verdict(ctx, talk, exit)
}

// firstSilence is how long a worker may take to say that it is there.
func firstSilence(spec Spec) time.Duration {
	if spec.Job.Job.IsHBase() {
		return startOfJava
	}
	return silence
}

// verdict is why there is no result, nil if there is one.
func verdict(ctx context.Context, talk *conversation, exit error) error {
	if cause := context.Cause(ctx); cause != nil {
		return compaction.FailureOf(causeOf(cause))
	}
	switch {
	case talk.failure != nil:
		return talk.failure
	case !talk.isDone || exit != nil:
		return compaction.Failuref(compaction.WorkerLost, "the worker has ended without a result: %s", exitText(exit))
	}
	return nil
}

func causeOf(cause error) error {
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return compaction.Failuref(compaction.Cancelled, "the job was cancelled")
	}
	return cause
}

func exitText(exit error) string {
	if exit == nil {
		return "exit status 0"
	}
	return exit.Error()
}

// conversation is what a worker says.
type conversation struct {
	spec    Spec
	silent  *time.Timer
	started bool
	isDone  bool
	report  Report
	failure *compaction.Failure
}

// listen takes lines until the worker closes its output, and returns what is wrong with them.
func (c *conversation) listen(output io.Reader) error {
	reader := bufio.NewReaderSize(output, localprotocol.ReadBufferBytes)
	for {
		line, err := localprotocol.ReadLineUpTo(reader, message.MaxLineBytes)
		switch {
		case errors.Is(err, localprotocol.ErrLineTooLong):
			return compaction.Failuref(compaction.TooLarge, "a line of the worker is longer than %d bytes", message.MaxLineBytes)
		case err != nil:
			// What is missing shows in what was said until then.
			return nil
		}
		if err := c.take(line); err != nil {
			return err
		}
	}
}

func (c *conversation) take(line []byte) error {
	// What it takes to read a line is not the worker's silence.
	c.silent.Reset(silence)
	said, err := message.ParseWorkerLine(line)
	switch {
	case err != nil && len(line) > base64.StdEncoding.EncodedLen(compaction.MaxBlobBytes):
		return compaction.Failuref(compaction.TooLarge, "the result of the worker is over %d bytes", compaction.MaxBlobBytes)
	case err != nil:
		return compaction.Failuref(compaction.WorkerOutput, "the worker said %.100q: %v", line, err)
	}
	if c.isDone || c.failure != nil || (said.Started != nil) == c.started && said.Failure == nil {
		return compaction.Failuref(compaction.WorkerOutput, "the worker said %.100q out of turn", line)
	}
	switch {
	case said.Started != nil:
		c.started = true
		return c.checkVersion(said.Started.Store())
	case said.Progress != nil:
		c.spec.Progressed(*said.Progress)
	case said.Result != nil:
		c.isDone = true
		c.report = Report{
			Result:      compaction.Result{Blob: said.Result.Result, Progress: said.Result.Progress},
			OpenSeconds: said.Result.OpenSeconds, ResumedBytes: said.Result.ResumedBytes,
		}
	default:
		c.failure = &compaction.Failure{Reason: said.Failure.Reason, Detail: said.Failure.Message}
	}
	return nil
}

func (c *conversation) checkVersion(worker string) error {
	if store := c.spec.Job.Job.Store(); worker != store {
		return compaction.Failuref(compaction.VersionUnknown, "the worker is of %s, the store of %s: correct the configured path",
			worker, store)
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	kept []byte
}

const maxTailBytes = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(part []byte) (int, error) {
	t.kept = append(t.kept, part...)
	if excess := len(t.kept) - maxTailBytes; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess:]...)
	}
	return len(part), nil
}

// String gives what was kept.
func (t *tail) String() string {
	return string(t.kept)
}
