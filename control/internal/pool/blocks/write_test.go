package blocks_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/wire"
)

func requestTo(slot int, epoch uint64) *sluicev1.WriteSegmentsRequest {
	id := segment.ID{File: layout.FileID{1}, Slot: slot}
	return &sluicev1.WriteSegmentsRequest{Segment: wire.EncodeSegmentID(id), Epoch: epoch}
}

func appendTo(slot int, offset uint64, data string) *sluicev1.WriteSegmentsRequest {
	request := requestTo(slot, 1)
	request.Change = &sluicev1.WriteSegmentsRequest_Append{Append: &sluicev1.AppendBytes{OffsetBytes: offset, Data: []byte(data)}}
	return request
}

func syncOf(slot int, epoch uint64) *sluicev1.WriteSegmentsRequest {
	request := requestTo(slot, epoch)
	request.Change = &sluicev1.WriteSegmentsRequest_Sync{Sync: &sluicev1.SyncSegment{}}
	return request
}

func sealOf(slot int, length uint64) *sluicev1.WriteSegmentsRequest {
	request := requestTo(slot, 1)
	request.Change = &sluicev1.WriteSegmentsRequest_Seal{Seal: &sluicev1.SealSegment{LengthBytes: length}}
	return request
}

func begin(t *testing.T) sluicev1.BlockService_WriteSegmentsClient {
	t.Helper()
	pool := pooltest.New(t, 1)
	service, err := pool.Service("pool1")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := service.WriteSegments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// ask sends all requests before it reads the first answer.
func ask(t *testing.T, requests []*sluicev1.WriteSegmentsRequest) []string {
	t.Helper()
	stream := begin(t)
	for _, request := range requests {
		// Why a stream has ended is told by receiving.
		if err := stream.Send(request); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var answers []string
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return answers
		}
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, fmt.Sprintf("%d %s", answer.GetLengthBytes(), answer.GetProblem().GetFailure()))
	}
}

const fine = "BLOCK_FAILURE_UNSPECIFIED"

// Many segments are brought to the disk at once, more than may be under way, and what comes after waits for its own.
func TestAnswersAreInTheOrderOfTheRequests(t *testing.T) {
	const segments = 100
	var requests []*sluicev1.WriteSegmentsRequest
	var want []string
	add := func(request *sluicev1.WriteSegmentsRequest, length int) {
		requests, want = append(requests, request), append(want, fmt.Sprintf("%d %s", length, fine))
	}
	for slot := range segments {
		add(appendTo(slot, 0, "first"), 5)
	}
	for slot := range segments {
		add(syncOf(slot, 1), 5)
	}
	for slot := range segments {
		add(appendTo(slot, 5, "second"), 11)
		add(syncOf(slot, 1), 11)
		add(sealOf(slot, 11), 11)
	}
	answers := ask(t, requests)
	if len(answers) != len(want) {
		t.Fatalf("%d answers to %d requests", len(answers), len(want))
	}
	for i := range want {
		if answers[i] != want[i] {
			t.Errorf("request %d is answered with %s, not %s", i, answers[i], want[i])
		}
	}
}

// The first failure is the last answer, whether it comes at once or from the disk.
func TestNothingIsAnsweredAfterAFailure(t *testing.T) {
	for name, bad := range map[string]*sluicev1.WriteSegmentsRequest{
		"at once": appendTo(1, 99, "beyond"), "from the disk": sealOf(1, 99), "no segment": syncOf(9, 1), "no request": {},
	} {
		t.Run(name, func(t *testing.T) {
			requests := []*sluicev1.WriteSegmentsRequest{appendTo(0, 0, "data"), appendTo(1, 0, "data"), syncOf(0, 1), bad}
			for range 200 {
				requests = append(requests, syncOf(0, 1))
			}
			answers := ask(t, requests)
			if len(answers) != 4 || answers[2] != "4 "+fine || answers[3] == "4 "+fine {
				t.Errorf("%d answers: %v", len(answers), answers[:min(len(answers), 6)])
			}
		})
	}
}

// A writer with a lower epoch is refused by a sync as by anything else.
func TestSyncIsFenced(t *testing.T) {
	answers := ask(t, []*sluicev1.WriteSegmentsRequest{appendTo(0, 0, "data"), syncOf(0, 2), syncOf(0, 1)})
	if len(answers) != 3 || answers[1] != "4 "+fine || answers[2] != "4 BLOCK_FAILURE_FENCED" {
		t.Errorf("%v", answers)
	}
}
