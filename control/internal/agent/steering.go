package agent

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

const (
	// maxSteerings is enough for many controllers, and for exchanges whose end was not noticed yet.
	maxSteerings = 32
	// maxUnreceived is how many snapshots are sent beyond those that the controller says have come.
	maxUnreceived = 16
	// maxOrders bounds the orders of one exchange that are under way.
	maxOrders = 64
	// firstRequestTime ends an exchange that nobody begins.
	firstRequestTime = 10 * time.Second
)

// Steer sends the state of the node once an interval, and obeys orders in between.
func (s *service) Steer(stream sluicev1.AgentService_SteerServer) error {
	defer s.steerings.Add(-1)
	if s.steerings.Add(1) > maxSteerings {
		return store.Errorf(store.CodeRefused, "there are %d exchanges with controllers already", maxSteerings).
			WithHint("Call GetSnapshot and SetLease instead, or end some.")
	}
	// A controller takes the version from the headers, and should not have to wait for a snapshot.
	if err := stream.SendHeader(metadata.MD{}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	x := &exchange{
		service: s, stream: stream,
		requests: make(chan arrival), ended: make(chan error, 1), answers: make(chan *sluicev1.OrderAnswer),
		lastOrders: make(map[orderedRef]chan struct{}),
	}
	go x.receive(ctx)
	return x.run(ctx)
}

// exchange is one stream of Steer. What is below the channels is the loop's alone, as is sending.
type exchange struct {
	service *service
	stream  sluicev1.AgentService_SteerServer

	requests chan arrival
	// ended receives why there are no more requests.
	ended   chan error
	answers chan *sluicev1.OrderAnswer

	last arrival
	// sent counts the snapshots, received those that the controller says have come.
	sent, received uint64
	// orders is how many are under way.
	orders int

	mutex sync.Mutex
	// lastOrders has the order for each instance that came last, while it is under way.
	lastOrders map[orderedRef]chan struct{}
}

// arrival is a request and when it came.
type arrival struct {
	*sluicev1.SteerRequest
	at time.Time
}

// orderedRef is an instance as an order names it, which may be none that there is.
type orderedRef struct{ store, instance string }

func (x *exchange) receive(ctx context.Context) {
	for {
		request, err := x.stream.Recv()
		if err != nil {
			x.ended <- err
			return
		}
		select {
		case x.requests <- arrival{request, x.service.now()}:
		case <-ctx.Done():
			return
		}
	}
}

func (x *exchange) run(ctx context.Context) error {
	steering, err := x.begin(ctx)
	if err != nil {
		return err
	}
	// There is no ticker without a delay.
	ticker := time.NewTicker(max(steering.Delay, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-x.service.stopping:
			return store.Errorf(store.CodeUnavailable, "the agent stops")
		case err := <-x.ended:
			return ending(err)
		case next := <-x.requests:
			err = x.take(ctx, next)
		case answer := <-x.answers:
			x.orders--
			err = x.send(&sluicev1.SteerResponse{Content: &sluicev1.SteerResponse_Answer{Answer: answer}})
		case <-ticker.C:
			if x.sent == 0 {
				ticker.Reset(steering.Interval)
			}
			err = x.sendSnapshot()
		}
		if err != nil {
			return err
		}
	}
}

// ending is no error if the controller has ended the exchange.
func ending(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// begin waits for the first request.
func (x *exchange) begin(ctx context.Context) (wire.Steering, error) {
	select {
	case <-x.service.stopping:
		return wire.Steering{}, store.Errorf(store.CodeUnavailable, "the agent stops")
	case err := <-x.ended:
		return wire.Steering{}, store.Errorf(store.CodeInvalid, "the exchange has ended before its first request: %w", err)
	case <-time.After(firstRequestTime):
		return wire.Steering{}, store.Invalidf("no request has come within %v", firstRequestTime)
	case first := <-x.requests:
		steering, err := wire.DecodeSteering(first.SteerRequest)
		if err != nil {
			return wire.Steering{}, err
		}
		return steering, x.take(ctx, first)
	}
}

// take notes a request, and has its order obeyed.
func (x *exchange) take(ctx context.Context, next arrival) error {
	switch {
	case next.GetNumber() != x.last.GetNumber()+1:
		return store.Invalidf("request %d came after request %d", next.GetNumber(), x.last.GetNumber())
	case next.GetNumber() > 1 && (next.GetInterval() != nil || next.GetDelay() != nil):
		return store.Invalidf("only the first request has an interval and a delay").
			WithHint("Begin another exchange.")
	case next.GetReceivedSnapshots() < x.received || next.GetReceivedSnapshots() > x.sent:
		return store.Invalidf("%d snapshots cannot have come: %d were sent, and %d had come before",
			next.GetReceivedSnapshots(), x.sent, x.received)
	}
	x.last, x.received = next, next.GetReceivedSnapshots()
	if next.GetOrder() == nil {
		return nil
	}
	if x.orders == maxOrders {
		return store.Errorf(store.CodeRefused, "%d orders are under way already", maxOrders).
			WithHint("Wait for their answers.")
	}
	x.orders++
	x.start(ctx, next)
	return nil
}

// sendSnapshot leaves a snapshot out while the controller has not received those before.
func (x *exchange) sendSnapshot() error {
	if x.sent-x.received >= maxUnreceived {
		return nil
	}
	x.sent++
	return x.send(&sluicev1.SteerResponse{
		Content: &sluicev1.SteerResponse_Snapshot{Snapshot: x.service.snapshot()},
	})
}

func (x *exchange) send(response *sluicev1.SteerResponse) error {
	response.LastRequest = x.last.GetNumber()
	response.SinceRequest = durationpb.New(max(0, x.service.now().Sub(x.last.at)))
	return x.stream.Send(response)
}

// start has an order obeyed when the one before it for the same instance has been: orders for other
// instances do not wait for it.
func (x *exchange) start(ctx context.Context, request arrival) {
	ref, done := refOf(request), make(chan struct{})
	x.mutex.Lock()
	before := x.lastOrders[ref]
	x.lastOrders[ref] = done
	x.mutex.Unlock()
	go func() {
		answer := x.obeyAfter(ctx, before, request)
		x.mutex.Lock()
		if x.lastOrders[ref] == done {
			delete(x.lastOrders, ref)
		}
		x.mutex.Unlock()
		close(done)
		select {
		case x.answers <- answer:
		case <-ctx.Done():
		}
	}()
}

func refOf(request arrival) orderedRef {
	ref := request.GetSetLease().GetRef()
	if ref == nil {
		ref = request.GetStartTask().GetRef()
	}
	return orderedRef{ref.GetStore(), ref.GetInstance()}
}

func (x *exchange) obeyAfter(ctx context.Context, before <-chan struct{}, request arrival) *sluicev1.OrderAnswer {
	if before != nil {
		<-before
	}
	answer := &sluicev1.OrderAnswer{Request: request.GetNumber()}
	var err error
	switch order := request.GetOrder().(type) {
	case *sluicev1.SteerRequest_SetLease:
		err = x.obey(ctx, request, "SetLease", order.SetLease, func(ctx context.Context) (err error) {
			answer.SetLease, err = x.service.setLease(ctx, order.SetLease, request.at)
			return err
		})
	case *sluicev1.SteerRequest_StartTask:
		err = x.obey(ctx, request, "StartTask", order.StartTask, func(ctx context.Context) error {
			_, err := x.service.startTask(ctx, order.StartTask, request.at)
			return err
		})
	}
	answer.Status = wire.EncodeOutcome(err)
	return answer
}

// obey gives an order up at the time that it names, counted from when it came, as the deadline of a call
// is.
func (x *exchange) obey(
	ctx context.Context, request arrival, method string, order orderRequest, give func(context.Context) error,
) error {
	return x.service.audit.observe(ctx, method, order, func() error {
		timeout, err := wire.DecodeOrderTimeout(request.SteerRequest)
		if err != nil {
			return wire.Status(err)
		}
		left := min(timeout, longestOrder) - x.service.now().Sub(request.at)
		ctx, cancel := context.WithTimeout(ctx, left)
		defer cancel()
		return wire.Status(give(ctx))
	})
}
