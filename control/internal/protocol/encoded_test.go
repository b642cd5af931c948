package protocol_test

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
)

// steerSizes are of messages that the library keeps in buffers of several kinds.
var steerSizes = []int{0, 10, 500, 1 << 10, 3 << 10, 20 << 10, 60 << 10, 200 << 10}

func steerMessage(size int) *sluicev1.SteerResponse {
	report := &sluicev1.GetSnapshotResponse{Node: "n1", Version: strings.Repeat("x", size)}
	return &sluicev1.SteerResponse{
		LastRequest: uint64(size), Content: &sluicev1.SteerResponse_Snapshot{Snapshot: report},
	}
}

// Steer sends messages of all sizes, again and again.
func (agentService) Steer(stream sluicev1.AgentService_SteerServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	for range 3 {
		for _, size := range steerSizes {
			if err := stream.Send(steerMessage(size)); err != nil {
				return err
			}
		}
	}
	return nil
}

func steerEncoded(t *testing.T) sluicev1.AgentService_SteerClient {
	t.Helper()
	client := sluicev1.NewAgentServiceClient(newPeers(t).connect(t))
	stream, err := client.Steer(bounded(t), protocol.ReceiveEncoded())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&sluicev1.SteerRequest{Number: 1}); err != nil {
		t.Fatal(err)
	}
	return stream
}

// What was received is the receiver's, whatever comes after it.
func TestEncodedMessagesAreKept(t *testing.T) {
	stream := steerEncoded(t)
	kept := make([]protocol.Encoded, 3*len(steerSizes))
	for i := range kept {
		if err := stream.RecvMsg(&kept[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i, got := range kept {
		want, err := proto.Marshal(steerMessage(steerSizes[i%len(steerSizes)]))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("message %d has %d bytes that are not those that were sent, %d", i, len(got), len(want))
		}
	}
}

// A stream with encoded messages takes others as well.
func TestMessagesThatAreNotWantedEncoded(t *testing.T) {
	stream := steerEncoded(t)
	if got, err := stream.Recv(); err != nil || !proto.Equal(got, steerMessage(0)) {
		t.Errorf("%v, %v", got, err)
	}
}
