package controller

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

const (
	// keptRequests is how many requests are remembered with the time at which they were sent.
	keptRequests = 8
	// snapshotsBetweenRequests is after how many snapshots a request says that they have come. The agent
	// waits for it after 16, and tells the age of its messages by the last request.
	snapshotsBetweenRequests = 5
	// ordersAtOnce bounds the orders to one agent that are under way, so that none of the requests since
	// the last one that the agent has seen is forgotten. Others wait for their turn.
	ordersAtOnce = 4
	// missedSnapshots is after how many periods without a snapshot an agent is asked by a call.
	missedSnapshots = 2
	// silencePatience is for how long it then may go on to be silent: it may be this controller that is late.
	silencePatience = 10 * time.Second
	// sendPatience is far above what sending takes to an agent that takes what it is sent.
	sendPatience = 5 * time.Second
)

// steering is an exchange with the agent of a node: its snapshots come unasked, and orders go to it. It is
// safe for concurrent use.
type steering struct {
	node     *node
	interval time.Duration
	now      func() time.Time
	log      *slog.Logger
	stream   sluicev1.AgentService_SteerClient
	// reports is for the goroutine alone that receives.
	reports *wire.ReportReader
	ctx     context.Context
	cancel  context.CancelFunc

	// turns has an element for each order that is under way.
	turns chan struct{}
	// sending guards sending to the stream, and so the order of the numbers.
	sending sync.Mutex

	mutex sync.Mutex
	// isBegun says that the first request has been sent.
	isBegun bool
	// sent is the number of the last request, sentAt when each of the last ones was sent, at its number
	// modulo their count.
	sent   uint64
	sentAt [keptRequests]time.Time
	// seen is the last request that the agent has.
	seen uint64
	// received counts snapshots, told is how many of them the agent knows of.
	received, told uint64
	// receivedAt is when the last one came, or the exchange began.
	receivedAt time.Time
	// waiting has who waits for the answer to an order, by the number of its request.
	waiting map[uint64]chan<- *sluicev1.OrderAnswer
}

// newSteering begins nothing yet.
func newSteering(ctx context.Context, n *node, interval time.Duration, now func() time.Time, log *slog.Logger) *steering {
	s := &steering{
		node: n, interval: interval, now: now, log: log, receivedAt: now(),
		reports: wire.NewReportReader(n.agent.Node, n.state.Load().latest.report),
		turns:   make(chan struct{}, ordersAtOnce), waiting: make(map[uint64]chan<- *sluicev1.OrderAnswer),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// run begins the exchange, and has it go on until it ends. Snapshots are to come at a phase of the period, which
// begins at some time.
func (s *steering) run(periodBegan time.Time, phase time.Duration) {
	if err := s.open(periodBegan, phase); err != nil {
		s.end(err)
		return
	}
	// The stack that opening a stream needs is twice as large, and would be kept.
	go func() { s.end(s.receive()) }()
}

func (s *steering) end(err error) {
	s.cancel()
	s.log.Debug("an exchange with an agent has ended", "node", s.node.agent.Node, "error", err)
	s.mutex.Lock()
	hasBrought := s.received > 0
	s.mutex.Unlock()
	s.node.end(s, hasBrought)
}

func (s *steering) open(periodBegan time.Time, phase time.Duration) error {
	stream, err := s.node.connection.Steer(s.ctx, protocol.ReceiveEncoded())
	if err != nil {
		return err
	}
	s.stream = stream
	delay := (phase - s.now().Sub(periodBegan)) % s.interval
	if delay < 0 {
		delay += s.interval
	}
	if _, err := s.send(wire.EncodeSteering(wire.Steering{Interval: s.interval, Delay: delay}), nil); err != nil {
		return err
	}
	s.noteBegun()
	return nil
}

func (s *steering) receive() error {
	var encoded protocol.Encoded
	for {
		if err := s.stream.RecvMsg(&encoded); err != nil {
			return err
		}
		message, err := wire.ReadSteerMessage(encoded)
		if err != nil {
			return err
		}
		if err := s.take(message); err != nil {
			return err
		}
	}
}

// send numbers a request and sends it; answered receives the answer to its order. An agent that does not
// take it ends the exchange.
func (s *steering) send(request *sluicev1.SteerRequest, answered chan<- *sluicev1.OrderAnswer) (uint64, error) {
	patience := time.AfterFunc(sendPatience, s.cancel)
	defer patience.Stop()
	s.sending.Lock()
	defer s.sending.Unlock()
	number, err := s.register(request, answered)
	if err != nil {
		return 0, err
	}
	return number, s.stream.Send(request)
}

func (s *steering) register(request *sluicev1.SteerRequest, answered chan<- *sluicev1.OrderAnswer) (uint64, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.sent-s.seen >= keptRequests {
		return 0, store.Errorf(store.CodeUnavailable, "the agent at %s has not taken the requests before", s.node.agent.Address)
	}
	s.sent++
	s.sentAt[s.sent%keptRequests] = s.now()
	s.told = s.received
	if answered != nil {
		s.waiting[s.sent] = answered
	}
	request.Number, request.ReceivedSnapshots = s.sent, s.received
	return s.sent, nil
}

func (s *steering) take(message wire.SteerMessage) error {
	switch {
	case message.Report != nil:
		return s.takeReport(message)
	case message.Answer != nil:
		s.noteSeen(message.LastRequest)
		s.takeAnswer(message.Answer)
	}
	// Anything else is of a newer version.
	return nil
}

// takeReport makes a snapshot the state of the node.
func (s *steering) takeReport(message wire.SteerMessage) error {
	askedAt, err := s.sentBy(message)
	if err != nil {
		return err
	}
	s.noteSeen(message.LastRequest)
	report, err := s.reports.Read(message.Report, askedAt)
	s.node.take(report, err, askedAt)
	s.mutex.Lock()
	s.received++
	s.receivedAt = s.now()
	isDue := s.received-s.told >= snapshotsBetweenRequests
	s.mutex.Unlock()
	if !isDue {
		return nil
	}
	_, err = s.send(&sluicev1.SteerRequest{}, nil)
	return err
}

// sentBy is a moment at which the agent had not sent a message yet, by this controller's clock: that of the
// request that the message names, and the time that the agent says has passed since it came. So what was
// long on its way counts as old, whenever it comes.
func (s *steering) sentBy(message wire.SteerMessage) (time.Time, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	number := message.LastRequest
	if number > s.sent || number+keptRequests <= s.sent || number < s.seen || number == 0 {
		return time.Time{}, store.Invalidf("the agent at %s names request %d, after %d were sent and it had %d",
			s.node.agent.Address, number, s.sent, s.seen)
	}
	moment := s.sentAt[number%keptRequests].Add(message.SinceRequest)
	if now := s.now(); moment.After(now) {
		// The clock of one of both goes wrong, or stood still.
		return now, nil
	}
	return moment, nil
}

func (s *steering) noteSeen(number uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.seen = min(max(s.seen, number), s.sent)
}

func (s *steering) takeAnswer(answer *sluicev1.OrderAnswer) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if waiting := s.waiting[answer.GetRequest()]; waiting != nil {
		delete(s.waiting, answer.GetRequest())
		waiting <- answer
	}
}

// order gives an order and waits for its answer, or for ctx to end. Errors are as those of a call.
func (s *steering) order(ctx context.Context, request *sluicev1.SteerRequest) (*sluicev1.OrderAnswer, error) {
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return nil, s.unanswered(ctx)
	}
	if deadline, isBounded := ctx.Deadline(); isBounded {
		request.Timeout = durationpb.New(max(time.Until(deadline), time.Millisecond))
	}
	// It has space, so that nobody waits for one who has given up.
	answered := make(chan *sluicev1.OrderAnswer, 1)
	number, err := s.send(request, answered)
	if err != nil {
		return nil, err
	}
	defer s.giveUp(number)
	select {
	case answer := <-answered:
		return answer, wire.DecodeOutcome(answer.GetStatus())
	case <-ctx.Done():
		return nil, s.unanswered(ctx)
	case <-s.ctx.Done():
		return nil, store.Errorf(store.CodeUnavailable, "the exchange with the agent at %s has ended before it answered the order",
			s.node.agent.Address)
	}
}

func (s *steering) unanswered(ctx context.Context) error {
	return store.Errorf(store.CodeUnavailable, "the agent at %s has not answered the order: %w",
		s.node.agent.Address, ctx.Err())
}

func (s *steering) giveUp(number uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.waiting, number)
}

func (s *steering) noteBegun() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.isBegun = true
}

// isLive says whether snapshots come, each period one, and orders can go.
func (s *steering) isLive(now time.Time, period time.Duration) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.isBegun && s.ctx.Err() == nil && s.interval == period && now.Sub(s.receivedAt) <= missedSnapshots*period
}

// isDead says whether an exchange has ended, is of another period, or has been silent for long.
func (s *steering) isDead(now time.Time, period time.Duration) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.ctx.Err() != nil || s.interval != period || now.Sub(s.receivedAt) > missedSnapshots*period+silencePatience
}
