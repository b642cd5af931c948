package wire_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

func steerReport(report *sluicev1.GetSnapshotResponse, since *durationpb.Duration) *sluicev1.SteerResponse {
	return &sluicev1.SteerResponse{
		LastRequest: 7, SinceRequest: since, Content: &sluicev1.SteerResponse_Snapshot{Snapshot: report},
	}
}

func steerAnswer() *sluicev1.SteerResponse {
	return &sluicev1.SteerResponse{
		LastRequest: 8, SinceRequest: durationpb.New(0),
		Content: &sluicev1.SteerResponse_Answer{Answer: &sluicev1.OrderAnswer{Request: 8, Status: []byte{1, 2}}},
	}
}

func TestSteerMessages(t *testing.T) {
	for name, sent := range map[string]*sluicev1.SteerResponse{
		"report":                     steerReport(goodReport(), durationpb.New(time.Second)),
		"empty report":               steerReport(&sluicev1.GetSnapshotResponse{}, durationpb.New(0)),
		"answer":                     steerAnswer(),
		"what only newer ones know":  {LastRequest: 3},
		"newer, and since a request": {LastRequest: 3, SinceRequest: durationpb.New(5)},
	} {
		t.Run(name, func(t *testing.T) {
			checkSteerMessage(t, encode(t, sent))
		})
	}
}

// A report without it would pass for one that was sent just now.
func TestReportsNeedTheTimeSinceTheRequest(t *testing.T) {
	for _, since := range []*durationpb.Duration{nil, durationpb.New(-1), {Seconds: 1, Nanos: 1e9}} {
		if _, err := wire.ReadSteerMessage(encode(t, steerReport(goodReport(), since))); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("since %v the error is %v", since, err)
		}
	}
}

// FuzzSteerMessage reads bytes as a message of an exchange, which must say what package proto finds in it.
func FuzzSteerMessage(f *testing.F) {
	report, answer := encode(f, steerReport(goodReport(), durationpb.New(time.Second))), encode(f, steerAnswer())
	f.Add(report)
	f.Add(answer)
	f.Add(append(report, answer...))
	f.Fuzz(checkSteerMessage)
}

func checkSteerMessage(t *testing.T, encoded []byte) {
	t.Helper()
	message, err := wire.ReadSteerMessage(encoded)
	response := new(sluicev1.SteerResponse)
	if wantErr := proto.Unmarshal(encoded, response); wantErr != nil {
		// What is wrong within a report shows when that is read.
		if err == nil && message.Report == nil {
			t.Fatalf("%x is read, though %v", encoded, wantErr)
		}
		return
	}
	since, sinceErr := wire.DecodeSinceRequest(response)
	isReport := response.GetSnapshot() != nil
	if isReport && sinceErr != nil {
		if err == nil {
			t.Fatalf("%x is read, though %v", encoded, sinceErr)
		}
		return
	}
	if err != nil || message.LastRequest != response.GetLastRequest() || isReport != (message.Report != nil) ||
		isReport && message.SinceRequest != since || !proto.Equal(message.Answer, response.GetAnswer()) {
		t.Fatalf("%x is read as %+v, %v", encoded, message, err)
	}
	if !isReport {
		return
	}
	report := new(sluicev1.GetSnapshotResponse)
	if err := proto.Unmarshal(message.Report, report); err != nil || !proto.Equal(report, response.GetSnapshot()) {
		t.Fatalf("the report is %v, %v", report, err)
	}
}
