package agent

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	"sluice.dev/control/internal/agent/stores"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
)

// countingStream counts what is sent.
type countingStream struct {
	grpc.ServerStream
	sent int
}

func (s *countingStream) Send(*sluicev1.SteerResponse) error {
	s.sent++
	return nil
}

func (s *countingStream) Recv() (*sluicev1.SteerRequest, error) { panic("nothing is received") }

// A controller that does not read is not sent snapshots that would be old when it does.
func TestSlowControllersAreNotSentOldSnapshots(t *testing.T) {
	stream := &countingStream{}
	x := &exchange{stream: stream, service: &service{
		node: "n1", now: time.Now, signals: func() policy.NodeSignals { return policy.NodeSignals{} },
		clients:  func() []policy.ClientLatencies { return nil },
		registry: stores.NewRegistry(time.Second, time.Now, nil, nil),
	}}
	sendMany := func() {
		for range 3 * maxUnreceived {
			if err := x.sendSnapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	sendMany()
	if stream.sent != maxUnreceived {
		t.Errorf("%d snapshots were sent, of which none has come; want %d", stream.sent, maxUnreceived)
	}
	err := x.take(context.Background(), arrival{&sluicev1.SteerRequest{Number: 1, ReceivedSnapshots: 6}, time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	sendMany()
	if stream.sent != maxUnreceived+6 {
		t.Errorf("%d snapshots were sent, of which 6 have come; want %d", stream.sent, maxUnreceived+6)
	}
}
