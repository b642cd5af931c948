package controller

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// steeredWorld has the node n1 alone, whose agent has exchanges.
type steeredWorld struct {
	*world
	agent *memoryAgent
}

func newSteeredWorld(t *testing.T, change func(*Config)) *steeredWorld {
	t.Helper()
	w := newWorld(t, func(c *Config) {
		c.Agents = c.Agents[:1]
		if change != nil {
			change(c)
		}
	})
	agent := w.agents["n1"]
	agent.steered = make(chan *memoryExchange, 10)
	t.Cleanup(w.close)
	return &steeredWorld{w, agent}
}

// begin runs a period, in which the agent is asked and given no order, and gives the exchange that follows
// and its first request.
func (w *steeredWorld) begin() (*memoryExchange, *sluicev1.SteerRequest) {
	w.t.Helper()
	isDry := w.config.DryRun
	w.config.DryRun = true
	w.step()
	w.config.DryRun = isDry
	exchange := receive(w.t, w.agent.steered)
	return exchange, receive(w.t, exchange.requests)
}

// exchange is the one that is in use, nil if there is none.
func (w *steeredWorld) exchange() *steering {
	return w.nodesByName["n1"].exchange(w.clock.now(), w.config.Period())
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(testDeadline):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(testDeadline)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("in vain waited for %s", what)
		}
	}
}

// push sends a snapshot of the agent as it is now, and waits until the controller has it.
func (w *steeredWorld) push(exchange *memoryExchange, lastRequest uint64, since time.Duration) {
	w.t.Helper()
	for _, response := range []*sluicev1.SteerResponse{
		{
			LastRequest: lastRequest, SinceRequest: durationpb.New(since),
			Content: &sluicev1.SteerResponse_Snapshot{Snapshot: w.agent.snapshot()},
		},
		{}, // is received when the snapshot has been taken
	} {
		select {
		case exchange.responses <- response:
		case <-time.After(testDeadline):
			w.t.Fatal("the controller takes no snapshot")
		}
	}
}

func TestSnapshotsThatComeUnaskedReplaceCalls(t *testing.T) {
	w := newSteeredWorld(t, nil)
	exchange, first := w.begin()
	steering, err := wire.DecodeSteering(first)
	if err != nil || first.GetNumber() != 1 || steering.Interval != time.Second {
		t.Errorf("the first request is %v: %v", first, err)
	}
	if steering.Delay < 500*time.Millisecond || steering.Delay > 900*time.Millisecond {
		t.Errorf("the first snapshot is to come %v into the period", steering.Delay)
	}
	w.agent.instances["other"] = &memoryStore{}
	w.push(exchange, 1, 0)
	w.clock.advance(time.Second)
	w.readAgents(t.Context(), w.clock.now())
	if w.agent.asked != 1 {
		t.Errorf("the agent was asked %d times, want once", w.agent.asked)
	}
	if known := len(w.nodesByName["n1"].state.Load().latest.report.Instances); known != 2 {
		t.Errorf("%d instances are known, want 2", known)
	}
}

// An answer that the network held back is as old as it is, whatever the agent says of its age.
func TestSnapshotThatWasLongOnItsWayIsOld(t *testing.T) {
	w := newSteeredWorld(t, nil)
	exchange, _ := w.begin()
	w.clock.advance(5 * time.Second)
	w.push(exchange, 1, time.Second)
	if age := w.clock.now().Sub(w.nodesByName["n1"].state.Load().latest.askedAt); age != 4*time.Second {
		t.Errorf("the snapshot counts as %v old, want 4 s", age)
	}
	decision := about(t, w.step(), "n1")
	if decision.GetVerdict() != sluicev1.Verdict_VERDICT_STOP || !strings.Contains(decision.GetReason(), "5s old, more than 3s") {
		t.Errorf("the decision is %v", decision)
	}
}

// An agent whose clock is fast, or jumps, makes nothing fresher than what has just come.
func TestAgentCannotMakeSnapshotsOfTheFuture(t *testing.T) {
	w := newSteeredWorld(t, nil)
	exchange, _ := w.begin()
	w.push(exchange, 1, time.Hour)
	if askedAt := w.nodesByName["n1"].state.Load().latest.askedAt; askedAt.After(w.clock.now()) {
		t.Errorf("the snapshot is of %v, now is %v", askedAt, w.clock.now())
	}
}

func TestAgentThatFallsSilentIsAsked(t *testing.T) {
	w := newSteeredWorld(t, func(c *Config) { c.DryRun = true })
	exchange, _ := w.begin()
	began := w.clock.now()
	w.push(exchange, 1, 0)
	w.step()
	w.step()
	if w.agent.asked != 1 {
		t.Errorf("the agent was asked %d times while its snapshots came, want once", w.agent.asked)
	}
	w.agent.failure = errGone
	decision := about(t, w.step(), "n1")
	if decision.GetVerdict() != sluicev1.Verdict_VERDICT_STOP || !strings.Contains(decision.GetReason(), "does not answer") {
		t.Errorf("the decision is %v", decision)
	}
	w.push(exchange, 1, w.clock.now().Sub(began))
	if decision := about(t, w.step(), "n1"); decision.GetVerdict() == sluicev1.Verdict_VERDICT_STOP {
		t.Errorf("when its snapshots come again the decision is %v", decision)
	}
}

func TestExchangeThatStaysSilentIsBegunAgain(t *testing.T) {
	w := newSteeredWorld(t, func(c *Config) { c.DryRun = true })
	exchange, _ := w.begin()
	w.clock.advance(silencePatience)
	w.step()
	w.step()
	w.step()
	receive(t, exchange.ctx.Done())
	again, _ := w.begin()
	w.push(again, 1, 0)
}

// What was on its way for long comes after the answer to a call.
func TestOlderSnapshotDoesNotReplaceANewerOne(t *testing.T) {
	w := newSteeredWorld(t, nil)
	exchange, _ := w.begin()
	w.clock.advance(3 * time.Second)
	w.step()
	newer := w.nodesByName["n1"].state.Load()
	exchange.responses <- &sluicev1.SteerResponse{
		LastRequest: 1, SinceRequest: durationpb.New(0),
		Content: &sluicev1.SteerResponse_Snapshot{Snapshot: w.agent.snapshot()},
	}
	exchange.failures <- errGone // is taken after the snapshot
	if w.nodesByName["n1"].state.Load() != newer {
		t.Error("an older snapshot has replaced a newer one")
	}
}

// An agent of protocol 1.0 has no exchanges.
func TestAgentWithoutExchangesIsAsked(t *testing.T) {
	w := newSteeredWorld(t, nil)
	w.agent.steered = nil
	for range 5 {
		if decision := about(t, w.step(), "n1"); decision.GetVerdict() == sluicev1.Verdict_VERDICT_STOP {
			t.Errorf("the decision is %v", decision)
		}
		eventually(t, "the end of the attempt", func() bool { return w.exchange() == nil })
	}
	if w.agent.asked != 5 {
		t.Errorf("the agent was asked %d times, want 5", w.agent.asked)
	}
}

// stepBeside runs a period while the test plays the agent.
func (w *steeredWorld) stepBeside() <-chan []*sluicev1.Decision {
	made := make(chan []*sluicev1.Decision, 1)
	go func() { made <- w.step() }()
	return made
}

func TestOrdersGoByTheExchange(t *testing.T) {
	w := newSteeredWorld(t, func(c *Config) { c.RequestTimeoutSeconds = testDeadline.Seconds() })
	w.isTimed = true
	exchange, _ := w.begin()
	w.agent.failWrites = true // a call would fail
	w.push(exchange, 1, 0)
	made := w.stepBeside()
	request := receive(t, exchange.requests)
	_, order, err := wire.DecodeSetLease("n1", request.GetSetLease())
	if err != nil || request.GetNumber() != 2 || request.GetReceivedSnapshots() != 1 || order.Setting.Number != 5e6 {
		t.Fatalf("the order is %v: %v", request, err)
	}
	if timeout := request.GetTimeout().AsDuration(); timeout <= 0 || timeout > w.config.RequestTimeout() {
		t.Errorf("the order is given up after %v, want at most %v", timeout, w.config.RequestTimeout())
	}
	exchange.responses <- answerTo(2, store.Lease{
		Kind: order.Kind, Setting: order.Setting, Owner: order.Owner, TimeLeft: order.TimeToLive,
	}, nil)
	if decision := about(t, receive(t, made), "n1"); !decision.GetWasWritten() || decision.GetProblem() != "" {
		t.Errorf("the decision is %v", decision)
	}
}

func answerTo(number uint64, lease store.Lease, err error) *sluicev1.SteerResponse {
	answer := &sluicev1.OrderAnswer{Request: number, Status: wire.EncodeOutcome(err)}
	if err == nil {
		answer.SetLease = &sluicev1.SetLeaseResponse{Lease: wire.EncodeLease(lease)}
	}
	return &sluicev1.SteerResponse{
		LastRequest: number, SinceRequest: durationpb.New(0), Content: &sluicev1.SteerResponse_Answer{Answer: answer},
	}
}

func TestOrdersThatFailInTheExchange(t *testing.T) {
	tests := map[string]struct {
		play func(*memoryExchange)
		want string
		// isLate says that the time for the order is over before there is an answer to it.
		isLate bool
	}{
		"refused": {func(x *memoryExchange) {
			x.responses <- answerTo(2, store.Lease{}, store.Errorf(store.CodeConflict, "ann has a lease on it"))
		}, "ann has a lease on it", false},
		"never answered": {func(*memoryExchange) {}, "has not answered the order", true},
		"answered for another": {
			func(x *memoryExchange) { x.responses <- answerTo(7, store.Lease{}, nil) }, "has not answered the order", true,
		},
		"obeyed, with a lease that is none": {
			func(x *memoryExchange) { x.responses <- answerTo(2, store.Lease{}, nil) }, "kind is missing", false,
		},
		"exchange that ends before an answer": {func(x *memoryExchange) { x.failures <- errGone }, "has ended before it answered", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newSteeredWorld(t, func(c *Config) { c.RequestTimeoutSeconds = 0.5 })
			exchange, _ := w.begin()
			w.push(exchange, 1, 0)
			w.isTimed = test.isLate
			made := w.stepBeside()
			receive(t, exchange.requests)
			test.play(exchange)
			decision := about(t, receive(t, made), "n1")
			if decision.GetWasWritten() || !strings.Contains(decision.GetProblem(), test.want) {
				t.Errorf("the decision is %v, want the problem %q", decision, test.want)
			}
		})
	}
}

// The agent is told how many snapshots have come before it stops to send any.
func TestAgentIsToldWhatHasCome(t *testing.T) {
	w := newSteeredWorld(t, nil)
	exchange, _ := w.begin()
	for range snapshotsBetweenRequests {
		w.push(exchange, 1, 0)
	}
	request := receive(t, exchange.requests)
	if request.GetNumber() != 2 || request.GetReceivedSnapshots() != snapshotsBetweenRequests || request.GetOrder() != nil {
		t.Errorf("the request is %v", request)
	}
}

func TestExchangesWithAgentsThatTalkNonsenseEnd(t *testing.T) {
	tests := map[string]*sluicev1.SteerResponse{
		"a request that was never sent": {LastRequest: 9, SinceRequest: durationpb.New(0)},
		"no request":                    {SinceRequest: durationpb.New(0)},
		"no time":                       {LastRequest: 1},
		"a negative time":               {LastRequest: 1, SinceRequest: durationpb.New(-time.Second)},
	}
	for name, response := range tests {
		t.Run(name, func(t *testing.T) {
			w := newSteeredWorld(t, nil)
			exchange, _ := w.begin()
			before := w.nodesByName["n1"].state.Load()
			response.Content = &sluicev1.SteerResponse_Snapshot{Snapshot: w.agent.snapshot()}
			exchange.responses <- response
			receive(t, exchange.ctx.Done())
			if w.nodesByName["n1"].state.Load() != before {
				t.Error("the snapshot was taken")
			}
		})
	}
}

// What cannot be read is a problem of the node, as it is in the answer to a call.
func TestSnapshotOfAnotherNodeIsRefused(t *testing.T) {
	w := newSteeredWorld(t, nil)
	exchange, _ := w.begin()
	w.agent.node = "n2"
	w.push(exchange, 1, 0)
	decision := about(t, w.step(), "n1")
	if decision.GetVerdict() != sluicev1.Verdict_VERDICT_STOP || !strings.Contains(decision.GetReason(), "cannot be used") {
		t.Errorf("the decision is %v", decision)
	}
}

func TestExchangeEndsWithItsNodeAndItsPeriod(t *testing.T) {
	w := newSteeredWorld(t, nil)
	exchange, _ := w.begin()
	next := w.config
	next.PeriodSeconds = 0.5
	w.reload(loaded{config: next})
	w.step()
	receive(t, exchange.ctx.Done())
	again := receive(t, w.agent.steered)
	if first := receive(t, again.requests); first.GetInterval().AsDuration() != 500*time.Millisecond {
		t.Errorf("the first request is %v", first)
	}
	next.Agents = []Agent{{"n3", "n3:7411"}}
	w.reload(loaded{config: next})
	receive(t, again.ctx.Done())
}

func TestPhasesAreInTheSecondHalfOfAPeriod(t *testing.T) {
	var counts [4]int
	for i := range 1000 {
		phase := phaseOf(i, time.Second)
		if phase < 500*time.Millisecond || phase >= 900*time.Millisecond {
			t.Fatalf("the snapshots of agent %d come %v into a period", i, phase)
		}
		counts[(phase-500*time.Millisecond)/(100*time.Millisecond)]++
	}
	for _, count := range counts {
		if count < 240 || count > 260 {
			t.Errorf("the snapshots are spread as %v", counts)
			break
		}
	}
}
