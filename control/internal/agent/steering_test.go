package agent_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// steerer is the controller's side of an exchange.
type steerer struct {
	t      *testing.T
	stream sluicev1.AgentService_SteerClient
	sent   uint64
}

func steer(t *testing.T, client sluicev1.AgentServiceClient) *steerer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	stream, err := client.Steer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return &steerer{t: t, stream: stream}
}

func (s *steerer) send(request *sluicev1.SteerRequest) {
	s.t.Helper()
	s.sent++
	request.Number = s.sent
	// That the agent has ended the exchange shows when something is received.
	if err := s.stream.Send(request); err != nil && !errors.Is(err, io.EOF) {
		s.t.Fatal(err)
	}
}

func (s *steerer) begin() {
	s.t.Helper()
	s.send(wire.EncodeSteering(wire.Steering{Interval: 100 * time.Millisecond}))
}

func (s *steerer) receive() *sluicev1.SteerResponse {
	s.t.Helper()
	response, err := s.stream.Recv()
	if err != nil {
		s.t.Fatal(err)
	}
	return response
}

// answer leaves snapshots out.
func (s *steerer) answer() *sluicev1.OrderAnswer {
	s.t.Helper()
	for {
		if answer := s.receive().GetAnswer(); answer != nil {
			return answer
		}
	}
}

// ending is what the exchange ends with.
func (s *steerer) ending() error {
	for {
		if _, err := s.stream.Recv(); err != nil {
			return err
		}
	}
}

func order(request *sluicev1.SetLeaseRequest) *sluicev1.SteerRequest {
	return &sluicev1.SteerRequest{
		Order: &sluicev1.SteerRequest_SetLease{SetLease: request}, Timeout: durationpb.New(patience),
	}
}

func TestSnapshotsComeUnasked(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	s := steer(t, n.controller(1))
	s.begin()
	var before time.Duration
	for range 3 {
		response := s.receive()
		since := response.GetSinceRequest().AsDuration()
		if response.GetLastRequest() != 1 || since <= before {
			t.Errorf("request %d, %v before, after a message that said %v", response.GetLastRequest(), since, before)
		}
		before = since
		if _, err := wire.DecodeNodeSnapshot(nodeName, response.GetSnapshot(), time.Now()); err != nil {
			t.Errorf("the snapshot is not valid: %v", err)
		}
		if len(response.GetSnapshot().GetSnapshots()) != 1 {
			t.Errorf("the snapshot is %v", response.GetSnapshot())
		}
	}
	if err := s.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := s.ending(); !errors.Is(err, io.EOF) {
		t.Errorf("the exchange ended with %v", err)
	}
}

func TestOrdersOfAnExchange(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	s := steer(t, n.controller(1))
	s.begin()
	s.send(order(hold("a", "policy/a", time.Minute)))
	answer := s.answer()
	if err := wire.DecodeOutcome(answer.GetStatus()); err != nil || answer.GetRequest() != 2 {
		t.Fatalf("the answer is %v: %v", answer, err)
	}
	if lease := answer.GetSetLease().GetLease(); lease.GetOwner() != "policy/a" {
		t.Errorf("the lease is %v", lease)
	}
	s.send(order(hold("b", "policy/a", time.Minute)))
	answer = s.answer()
	if err := wire.DecodeOutcome(answer.GetStatus()); store.CodeOf(err) != store.CodeNotFound || answer.GetRequest() != 3 {
		t.Errorf("the answer is %v: %v", answer, err)
	}
	request := hold("a", "policy/a", time.Minute)
	s.send(&sluicev1.SteerRequest{Timeout: durationpb.New(patience), Order: &sluicev1.SteerRequest_StartTask{
		StartTask: &sluicev1.StartTaskRequest{
			Ref: request.GetRef(), Kind: request.GetKind(), Scope: "orders", Owner: "policy/a", TimeToLive: request.GetTimeToLive(),
		},
	}})
	if err := wire.DecodeOutcome(s.answer().GetStatus()); err != nil {
		t.Errorf("the start of a task: %v", err)
	}
	s.send(&sluicev1.SteerRequest{Order: &sluicev1.SteerRequest_SetLease{SetLease: request}})
	if err := wire.DecodeOutcome(s.answer().GetStatus()); store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("an order without a timeout: %v", err)
	}
	var methods []string
	for _, record := range n.log.records(t, "order") {
		methods = append(methods, record["method"].(string)+" "+record["code"].(string))
		if record["caller"] != "sluice://east/controller/main" {
			t.Errorf("the log has %v", record)
		}
	}
	want := "SetLease OK, SetLease NotFound, StartTask OK, SetLease InvalidArgument"
	if got := strings.Join(methods, ", "); got != want {
		t.Errorf("the log has the orders %s, want %s", got, want)
	}
}

func TestExchangesThatAreRefused(t *testing.T) {
	n := newNode(t)
	n.start()
	client := n.controller(0)
	tests := map[string]struct {
		play func(*steerer)
		says string
	}{
		"no interval": {func(s *steerer) { s.send(&sluicev1.SteerRequest{}) }, "interval is missing"},
		"too often": {func(s *steerer) {
			s.send(wire.EncodeSteering(wire.Steering{Interval: time.Millisecond}))
		}, "interval is 1ms, but must be 100ms to 1m0s"},
		"a number left out": {func(s *steerer) {
			s.begin()
			s.sent++
			s.send(&sluicev1.SteerRequest{})
		}, "request 3 came after request 1"},
		"an interval again": {func(s *steerer) {
			s.begin()
			s.begin()
		}, "only the first request has an interval"},
		"more snapshots than were sent": {func(s *steerer) {
			s.begin()
			s.send(&sluicev1.SteerRequest{ReceivedSnapshots: 1000})
		}, "1000 snapshots cannot have come"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := steer(t, client)
			test.play(s)
			if err := s.ending(); store.CodeOf(err) != store.CodeInvalid || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the exchange ended with %v, want %q", err, test.says)
			}
		})
	}
}

func TestOnlyControllersHaveExchanges(t *testing.T) {
	n := newNode(t)
	n.start()
	n.controller(0)
	for _, role := range []security.Role{security.RoleOperator, security.RoleViewer, security.RoleAgent} {
		s := steer(t, n.client(role, "other"))
		s.begin()
		if err := s.ending(); store.CodeOf(err) != store.CodeForbidden {
			t.Errorf("%s: the exchange ended with %v", role, err)
		}
	}
}

func TestTooManyExchanges(t *testing.T) {
	n := newNode(t)
	n.start()
	client := n.controller(0)
	for range 32 {
		s := steer(t, client)
		s.begin()
		s.receive()
	}
	if err := steer(t, client).ending(); store.CodeOf(err) != store.CodeRefused || !strings.Contains(err.Error(), "32 exchanges") {
		t.Errorf("one more exchange ended with %v", err)
	}
}

func TestExchangeEndsWithTheAgent(t *testing.T) {
	n := newNode(t)
	stop := n.start()
	begun, waiting := steer(t, n.controller(0)), steer(t, n.controller(0))
	begun.begin()
	begun.receive()
	if _, err := waiting.stream.Header(); err != nil {
		t.Fatal(err)
	}
	stop()
	for _, s := range []*steerer{begun, waiting} {
		if err := s.ending(); store.CodeOf(err) != store.CodeUnavailable {
			t.Errorf("the exchange ended with %v", err)
		}
	}
}
