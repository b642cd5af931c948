package stripe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/wire"
)

// connectAgainAfter is the pause before a server is called again that has ended a stream.
const connectAgainAfter = 100 * time.Millisecond

// channel sends a server the changes of a file's segments in order. It keeps what has no answer yet, and
// sends it again over a new stream when one breaks: all requests may be done twice.
type channel struct {
	node    string
	service sluicev1.BlockServiceClient
	options Options
	// abort ends the stream that there is, and cancels what uses the context of run.
	abort context.CancelFunc

	mutex   sync.Mutex
	changed *sync.Cond
	// waiting are the requests without an answer, the first sent of which are on the stream.
	waiting []*sluicev1.WriteSegmentsRequest
	sent    int
	bytes   int
	// answered counts answers; the request that is appended as number n is done when it has reached n.
	appended uint64
	answered uint64
	// added is how much of each segment the server has answered for.
	added map[Place]uint64
	// failure is why the server is lost to the file.
	failure error
	// impatience runs while requests wait, and begins anew with each answer.
	impatience *time.Timer
}

func newChannel(ctx context.Context, node string, service sluicev1.BlockServiceClient, options Options) *channel {
	ctx, abort := context.WithCancel(ctx)
	c := &channel{node: node, service: service, options: options, abort: abort, added: make(map[Place]uint64)}
	c.changed = sync.NewCond(&c.mutex)
	c.impatience = time.AfterFunc(options.Patience, func() {
		c.fail(fmt.Errorf("%s has not answered for %s", node, options.Patience))
	})
	c.impatience.Stop()
	context.AfterFunc(ctx, func() { c.fail(context.Cause(ctx)) })
	go c.run(ctx)
	return c
}

// push sends a request once there is room for it, and returns its number.
func (c *channel) push(request *sluicev1.WriteSegmentsRequest) (uint64, error) {
	size := len(request.GetAppend().GetData())
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for c.failure == nil && len(c.waiting) > 0 &&
		(len(c.waiting) >= c.options.WriteRequests || c.bytes+size > c.options.WriteBytes) {
		c.changed.Wait()
	}
	if c.failure != nil {
		return 0, c.failure
	}
	if len(c.waiting) == 0 {
		c.impatience.Reset(c.options.Patience)
	}
	c.waiting = append(c.waiting, request)
	c.bytes += size
	c.appended++
	c.changed.Broadcast()
	return c.appended, nil
}

// wait returns when the request of a number is done.
func (c *channel) wait(number uint64) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for c.failure == nil && c.answered < number {
		c.changed.Wait()
	}
	if c.answered >= number {
		return nil
	}
	return c.failure
}

// close ends the channel. What waits for an answer is given up.
func (c *channel) close() {
	c.abort()
}

func (c *channel) fail(cause error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.failure == nil {
		c.failure = cause
	}
	c.impatience.Stop()
	c.waiting, c.bytes = nil, 0
	c.changed.Broadcast()
	c.abort()
}

func (c *channel) run(ctx context.Context) {
	defer c.abort()
	for ctx.Err() == nil {
		err := c.converse(ctx)
		var failure *segment.Failure
		if errors.As(err, &failure) {
			c.fail(fmt.Errorf("%s: %w", c.node, err))
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(connectAgainAfter):
		}
	}
}

// converse has one stream, until it breaks or a request fails.
func (c *channel) converse(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	stream, err := c.service.WriteSegments(ctx)
	if err != nil {
		return err
	}
	c.mutex.Lock()
	c.sent = 0
	c.mutex.Unlock()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		// What breaks a stream is told by receiving.
		_ = c.send(ctx, stream)
	}()
	err = c.receive(stream)
	end()
	c.wake()
	<-sent
	return err
}

// wake has everybody look again at what they wait for.
func (c *channel) wake() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.changed.Broadcast()
}

func (c *channel) send(ctx context.Context, stream sluicev1.BlockService_WriteSegmentsClient) error {
	for {
		request := c.next(ctx)
		if request == nil {
			return ctx.Err()
		}
		if err := stream.Send(request); err != nil {
			return err
		}
	}
}

// next waits for the next request to send on the stream of a context, and gives nil when that has ended.
func (c *channel) next(ctx context.Context) *sluicev1.WriteSegmentsRequest {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for ctx.Err() == nil && c.sent >= len(c.waiting) {
		c.changed.Wait()
	}
	if ctx.Err() != nil {
		return nil
	}
	c.sent++
	return c.waiting[c.sent-1]
}

func (c *channel) receive(stream sluicev1.BlockService_WriteSegmentsClient) error {
	for {
		answer, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := wire.DecodeBlockProblem(answer.GetProblem()); err != nil {
			return err
		}
		if err := c.finish(answer.GetLengthBytes()); err != nil {
			return err
		}
	}
}

// finish takes the first of the waiting requests for done, after which its segment has that length.
func (c *channel) finish(lengthBytes uint64) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.sent == 0 || len(c.waiting) == 0 {
		return fmt.Errorf("%s has answered what it was not asked: %w", c.node, io.ErrUnexpectedEOF)
	}
	if err := c.hasAll(c.waiting[0], lengthBytes); err != nil {
		return err
	}
	c.bytes -= len(c.waiting[0].GetAppend().GetData())
	c.waiting[0] = nil
	c.waiting = c.waiting[1:]
	c.sent--
	c.answered++
	c.impatience.Stop()
	if len(c.waiting) > 0 {
		c.impatience.Reset(c.options.Patience)
	}
	c.changed.Broadcast()
	return nil
}

// hasAll wants a segment to have all that the server has answered for: its machine may have lost power since, with what was
// not on the disk.
func (c *channel) hasAll(done *sluicev1.WriteSegmentsRequest, lengthBytes uint64) error {
	place := Place{Slot: int(done.GetSegment().GetSlot()), Copy: int(done.GetSegment().GetCopy())}
	if added := done.GetAppend(); added != nil {
		c.added[place] = max(c.added[place], added.GetOffsetBytes()+uint64(len(added.GetData())))
	}
	if lengthBytes < c.added[place] {
		return segment.Failf(segment.Short, "slot %d copy %d has %d bytes of the %d that were added", place.Slot, place.Copy, lengthBytes, c.added[place])
	}
	return nil
}
