package wire_test

import (
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/status"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

func seed(f *testing.F, messages ...proto.Message) {
	f.Helper()
	for _, message := range messages {
		encoded, err := proto.Marshal(message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
}

// FuzzOrders decodes bytes as each request that changes something. What is accepted is valid, and the
// same after another trip.
func FuzzOrders(f *testing.F) {
	start := goodOrder()
	start.Setting = store.Setting{}
	variant := goodOrder()
	variant.Variant = store.Major
	seed(f,
		wire.EncodeSetLease(postgres, goodOrder()),
		wire.EncodeStartTask(postgres, start),
		wire.EncodeClearLeases(postgres, store.Selection{Owner: "o", Kind: store.Cache, Scope: "s"}),
		wire.EncodeStartTask(postgres, variant),
		wire.EncodeAbortTask(postgres, store.Abortion{Kind: store.Compaction, Task: "c-7", Owner: "o"}),
	)
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var set sluicev1.SetLeaseRequest
		if proto.Unmarshal(encoded, &set) == nil {
			checkOrder(t, false, &set, wire.DecodeSetLease, wire.EncodeSetLease)
		}
		var start sluicev1.StartTaskRequest
		if proto.Unmarshal(encoded, &start) == nil {
			checkOrder(t, true, &start, wire.DecodeStartTask, wire.EncodeStartTask)
		}
		var clear sluicev1.ClearLeasesRequest
		if proto.Unmarshal(encoded, &clear) == nil {
			checkSelection(t, &clear)
		}
		var abort sluicev1.AbortTaskRequest
		if proto.Unmarshal(encoded, &abort) == nil {
			checkAbortion(t, &abort)
		}
	})
}

func checkOrder[M proto.Message](
	t *testing.T, starts bool, message M,
	decode func(string, M) (policy.Ref, store.Order, error), encode func(policy.Ref, store.Order) M,
) {
	t.Helper()
	ref, order, err := decode("n1", message)
	if err != nil {
		return
	}
	if err := order.Validate(starts); err != nil {
		t.Fatalf("%+v is accepted, though %v", order, err)
	}
	_, again, err := decode("n1", overTheNetwork(t, encode(ref, order)))
	requireEqual(t, again, order, err)
}

func checkSelection(t *testing.T, message *sluicev1.ClearLeasesRequest) {
	t.Helper()
	ref, selection, err := wire.DecodeClearLeases("n1", message)
	if err != nil {
		return
	}
	_, again, err := wire.DecodeClearLeases("n1", overTheNetwork(t, wire.EncodeClearLeases(ref, selection)))
	requireEqual(t, again, selection, err)
}

func checkAbortion(t *testing.T, message *sluicev1.AbortTaskRequest) {
	t.Helper()
	ref, abortion, err := wire.DecodeAbortTask("n1", message)
	if err != nil {
		return
	}
	_, again, err := wire.DecodeAbortTask("n1", overTheNetwork(t, wire.EncodeAbortTask(ref, abortion)))
	requireEqual(t, again, abortion, err)
}

// FuzzReports decodes bytes as each answer that is more than a text.
func FuzzReports(f *testing.F) {
	seed(f, goodReport(), wire.EncodeDecision(wire.DecisionRecord{
		Decision: policy.Decision{Target: postgres, Kind: store.Checkpoint, Verdict: policy.Keep},
		Policy:   "p", MadeAt: time.Unix(1, 0),
	}))
	now := time.Now()
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var report sluicev1.GetSnapshotResponse
		if proto.Unmarshal(encoded, &report) == nil {
			checkReport(t, &report, now)
		}
		var decision sluicev1.Decision
		if proto.Unmarshal(encoded, &decision) == nil {
			checkDecision(t, &decision)
		}
	})
}

func checkReport(t *testing.T, message *sluicev1.GetSnapshotResponse, now time.Time) {
	t.Helper()
	snapshot, err := wire.DecodeNodeSnapshot("n1", message, now)
	if err != nil {
		return
	}
	again, err := wire.DecodeNodeSnapshot("n1", overTheNetwork(t, wire.EncodeNodeSnapshot(snapshot, now)), now)
	requireEqual(t, again, snapshot, err)
}

func checkDecision(t *testing.T, message *sluicev1.Decision) {
	t.Helper()
	record, err := wire.DecodeDecision(message)
	if err != nil {
		return
	}
	again, err := wire.DecodeDecision(overTheNetwork(t, wire.EncodeDecision(record)))
	requireEqual(t, again, record, err)
}

// FuzzError decodes bytes as the status of a call. Whatever it is, it becomes an error that can be
// passed on with the same code.
func FuzzError(f *testing.F) {
	for _, code := range []store.Code{store.CodeConflict, store.CodeIncompatible} {
		sent := wire.Status(store.Errorf(code, "message").WithHint("hint"))
		seed(f, grpcstatus.Convert(sent).Proto())
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var message status.Status
		if proto.Unmarshal(encoded, &message) != nil || message.GetCode() == 0 {
			return
		}
		received := wire.Error(grpcstatus.ErrorProto(&message))
		passedOn := wire.Error(wire.Status(received))
		if store.CodeOf(passedOn) != store.CodeOf(received) {
			t.Errorf("%v is %s, passed on it is %s", received, store.CodeOf(received), store.CodeOf(passedOn))
		}
	})
}
