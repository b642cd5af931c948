package dispatch

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/control/internal/compaction"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// Job is a job at a peer.
type Job struct {
	peer   *peer
	cancel context.CancelFunc
	// accepted is closed when the peer has begun, done when the job has ended.
	accepted, done chan struct{}

	mutex    sync.Mutex
	progress compaction.Progress

	// result and failure are there when done is closed; one of them.
	result  compaction.Result
	failure *compaction.Failure
	// isSent says that the peer may have the job, isRefused that it has said it does not run it. Both are
	// there when done is closed.
	isSent, isRefused bool
}

// isFree says of a job that has ended before it was accepted whether another peer may have it: not where
// this one may have begun, since two workers would then write to one directory.
func (j *Job) isFree() bool {
	return !j.isSent || j.isRefused
}

// Node is where the job runs.
func (j *Job) Node() string { return j.peer.name }

// Cancel ends the job, whose end is then soon seen in Done.
func (j *Job) Cancel() { j.cancel() }

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Progress is how far the job is.
func (j *Job) Progress() compaction.Progress {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.progress
}

// End is what has become of a job that is done.
func (j *Job) End() (compaction.Result, *compaction.Failure) {
	return j.result, j.failure
}

// run sends the job and follows it.
func (j *Job) run(ctx context.Context, client sluicev1.CompactionServiceClient, job *sluicev1.CompactionJob) {
	defer close(j.done)
	defer j.cancel()
	stream, err := client.RunCompaction(ctx)
	if err == nil {
		j.isSent = true
		// An error of sending is one of receiving, which says more.
		_ = stream.Send(&sluicev1.RunCompactionRequest{Job: job})
		j.result, err = j.follow(ctx, stream)
	}
	if err != nil {
		j.isRefused = j.isRefused || isRefusal(err)
		j.failure = failureOf(ctx, j.peer.name, err)
	}
}

// isRefusal says whether an error is one that only a peer gives, in place of beginning a job. Others may be
// of the way there or back, as far as anybody knows.
func isRefusal(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
		return true
	default:
		return false
	}
}

type stream = sluicev1.CompactionService_RunCompactionClient

// arrival is an answer of the peer, or why there are no more.
type arrival struct {
	*sluicev1.RunCompactionResponse
	err error
}

// follow returns when there is a result that is this node's, or none is to come. Only its goroutine sends.
func (j *Job) follow(ctx context.Context, stream stream) (compaction.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	arrivals := make(chan arrival)
	go receive(ctx, stream, arrivals)
	ticker := time.NewTicker(compaction.Heartbeat)
	defer ticker.Stop()
	silent := time.NewTimer(compaction.Expiry)
	defer silent.Stop()
	var result *compaction.Result
	for {
		select {
		case <-ctx.Done():
			return compaction.Result{}, ctx.Err()
		case <-silent.C:
			return compaction.Result{}, compaction.Failuref(compaction.PeerLost, "%s has said nothing for %v", j.peer.name, compaction.Expiry)
		case <-ticker.C:
			_ = stream.Send(&sluicev1.RunCompactionRequest{})
		case answer := <-arrivals:
			silent.Reset(compaction.Expiry)
			if errors.Is(answer.err, io.EOF) && result != nil {
				return *result, nil
			}
			if answer.err != nil {
				return compaction.Result{}, answer.err
			}
			var err error
			if result, err = j.take(answer.RunCompactionResponse, result); err != nil {
				return compaction.Result{}, err
			}
			if result != nil {
				ticker.Stop()
				_ = stream.Send(&sluicev1.RunCompactionRequest{Take: true})
				_ = stream.CloseSend()
			}
		}
	}
}

func receive(ctx context.Context, stream stream, arrivals chan<- arrival) {
	for {
		answer, err := stream.Recv()
		select {
		case arrivals <- arrival{answer, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// take takes an answer, and gives the result that there is by then.
func (j *Job) take(answer *sluicev1.RunCompactionResponse, before *compaction.Result) (*compaction.Result, error) {
	isAccepted := isClosed(j.accepted)
	switch content := answer.GetContent().(type) {
	case *sluicev1.RunCompactionResponse_Failed:
		j.isRefused = true
		return nil, wire.DecodeFailure(content.Failed)
	case *sluicev1.RunCompactionResponse_Accepted:
		if !isAccepted {
			close(j.accepted)
			return nil, nil
		}
	case *sluicev1.RunCompactionResponse_Progress:
		if isAccepted && before == nil {
			j.note(wire.DecodeCompactionProgress(content.Progress))
			return nil, nil
		}
	case *sluicev1.RunCompactionResponse_Result:
		if isAccepted && before == nil {
			result, err := wire.DecodeCompactionResult(content.Result)
			return &result, err
		}
	}
	return nil, store.Invalidf("%s has answered %T out of turn", j.peer.name, answer.GetContent())
}

func (j *Job) note(progress compaction.Progress) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.progress = progress
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// failureOf puts an error of a stream into the words of a failure. A peer that is older, or does not take
// jobs, has refused: asking it again is of no use.
func failureOf(ctx context.Context, node string, err error) *compaction.Failure {
	var failure *compaction.Failure
	switch {
	case errors.As(err, &failure):
		return failure
	case ctx.Err() != nil:
		return compaction.Failuref(compaction.Cancelled, "the job was cancelled")
	case store.CodeOf(err) == store.CodeUnavailable || errors.Is(err, io.EOF):
		return compaction.Failuref(compaction.PeerLost, "%s: %v", node, err)
	}
	return compaction.Failuref(compaction.PeerRefused, "%s: %v", node, err)
}
