package wire_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

var postgres = policy.Ref{Node: "n1", Store: "postgres", Instance: "main"}

func requireInvalid(t *testing.T, err error, message string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), message) {
		t.Errorf("error is %v, want one with %q", err, message)
	}
	if store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("code is %s", store.CodeOf(err))
	}
}

func goodOrder() store.Order {
	return store.Order{
		Kind: store.Checkpoint, Setting: store.Setting{Name: store.RateBytesPerSecond, Number: 1e6},
		Owner: "operator/a", TimeToLive: time.Minute,
	}
}

func TestSetLeaseRefuses(t *testing.T) {
	tests := map[string]struct {
		damage  func(request *sluicev1.SetLeaseRequest)
		message string
	}{
		"no instance": {func(r *sluicev1.SetLeaseRequest) { r.Ref = nil }, "ref.store is missing"},
		"no kind":     {func(r *sluicev1.SetLeaseRequest) { r.Kind = 0 }, "kind is missing"},
		"new kind":    {func(r *sluicev1.SetLeaseRequest) { r.Kind = 99 }, "number 99 is not known"},
		"no setting":  {func(r *sluicev1.SetLeaseRequest) { r.Setting = nil }, "setting is missing"},
		"no owner":    {func(r *sluicev1.SetLeaseRequest) { r.Owner = "" }, "needs an owner"},
		"long owner": {
			func(r *sluicev1.SetLeaseRequest) { r.Owner = strings.Repeat("o", 64) }, "at most 63 are allowed",
		},
		"line break":      {func(r *sluicev1.SetLeaseRequest) { r.Scope = "a\nb" }, "not printable text"},
		"no time to live": {func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = nil }, "time_to_live is missing"},
		"time to live of 0": {
			func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = durationpb.New(0) }, "time to live must be positive",
		},
		"negative time to live": {
			func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = durationpb.New(-1) }, "must not be negative",
		},
		"time to live without end": {
			func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = durationpb.New(math.MaxInt64) }, "time_to_live is",
		},
		"time to live of two signs": {
			func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = &durationpb.Duration{Seconds: 1, Nanos: -1} },
			"no valid duration",
		},
		"new setting": {
			func(r *sluicev1.SetLeaseRequest) { r.Setting.Name = "colour" }, `setting "colour" is not known`,
		},
		"rate without a value": {func(r *sluicev1.SetLeaseRequest) { r.Setting.Value = nil }, "needs a number"},
		"rate that is a text": {
			func(r *sluicev1.SetLeaseRequest) { r.Setting.Value = &sluicev1.Setting_Text{Text: "fast"} },
			"needs a number",
		},
		"rate that is no number": {func(r *sluicev1.SetLeaseRequest) { setNumber(r.Setting, math.NaN()) }, "not NaN"},
		"rate without end":       {func(r *sluicev1.SetLeaseRequest) { setNumber(r.Setting, math.Inf(1)) }, "not +Inf"},
		"negative rate":          {func(r *sluicev1.SetLeaseRequest) { setNumber(r.Setting, -1) }, "at least 1"},
		"hold with a number":     {func(r *sluicev1.SetLeaseRequest) { r.Setting.Name = "hold" }, "takes no number"},
		"tier that is too long":  {func(r *sluicev1.SetLeaseRequest) { setTier(r, strings.Repeat("t", 1025)) }, "at most 1024"},
		"tier of two lines":      {func(r *sluicev1.SetLeaseRequest) { setTier(r, "a\nb") }, "not printable text"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := wire.EncodeSetLease(postgres, goodOrder())
			test.damage(request)
			_, order, err := wire.DecodeSetLease("n1", request)
			requireInvalid(t, err, test.message)
			if order != (store.Order{}) {
				t.Errorf("an order is given all the same: %+v", order)
			}
		})
	}
}

func setTier(request *sluicev1.SetLeaseRequest, text string) {
	request.Setting = &sluicev1.Setting{Name: string(store.Tier), Value: &sluicev1.Setting_Text{Text: text}}
}

func setNumber(setting *sluicev1.Setting, number float64) {
	setting.Value = &sluicev1.Setting_Number{Number: number}
}

// A duration of 0 is an order that can be given, and so is not what a missing value may be taken for.
func TestStartTaskRefusesWhatIsNoVariant(t *testing.T) {
	for _, variant := range []string{"Major", "-a", "a b", "é", "\xff", strings.Repeat("a", 64)} {
		request := wire.EncodeStartTask(postgres, goodOrder())
		request.Variant = variant
		_, _, err := wire.DecodeStartTask("n1", request)
		requireInvalid(t, err, "is no word")
	}
}

func TestAbortTaskRefuses(t *testing.T) {
	tests := map[string]struct {
		damage  func(request *sluicev1.AbortTaskRequest)
		message string
	}{
		"no instance": {func(r *sluicev1.AbortTaskRequest) { r.Ref = nil }, "ref.store is missing"},
		"no kind":     {func(r *sluicev1.AbortTaskRequest) { r.Kind = 0 }, "kind is missing"},
		"no owner":    {func(r *sluicev1.AbortTaskRequest) { r.Owner = "" }, "needs an owner"},
		"no task":     {func(r *sluicev1.AbortTaskRequest) { r.TaskId = "" }, "which task to abort is missing"},
		"long task":   {func(r *sluicev1.AbortTaskRequest) { r.TaskId = strings.Repeat("t", 256) }, "at most 255 are allowed"},
		"line break":  {func(r *sluicev1.AbortTaskRequest) { r.TaskId = "a\nb" }, "not printable text"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := wire.EncodeAbortTask(postgres, store.Abortion{Kind: store.Compaction, Task: "c-7", Owner: "o"})
			test.damage(request)
			_, _, err := wire.DecodeAbortTask("n1", request)
			requireInvalid(t, err, test.message)
		})
	}
}

func TestDecodeSettingTellsNoNumberFromZero(t *testing.T) {
	_, err := wire.DecodeSetting(&sluicev1.Setting{Name: string(store.DurationSeconds)})
	requireInvalid(t, err, "duration_seconds needs a number")
}

func TestClearLeasesRefuses(t *testing.T) {
	_, _, err := wire.DecodeClearLeases("n1", &sluicev1.ClearLeasesRequest{Ref: wire.EncodeRef(postgres)})
	requireInvalid(t, err, "needs an owner")
	request := wire.EncodeClearLeases(postgres, store.Selection{Owner: "o", Scope: "table"})
	_, _, err = wire.DecodeClearLeases("n1", request)
	requireInvalid(t, err, `kind "" is not known`)
	request.Kind = 99
	_, _, err = wire.DecodeClearLeases("n1", request)
	requireInvalid(t, err, "number 99 is not known")
}

func goodReport() *sluicev1.GetSnapshotResponse {
	return &sluicev1.GetSnapshotResponse{
		Node:    "n1",
		Signals: &sluicev1.NodeSignals{CpuUsed: 0.5, Devices: []*sluicev1.DeviceSignals{{Name: "sda"}}},
		Descriptions: []*sluicev1.Description{{
			Ref: wire.EncodeRef(postgres), MaxTimeToLive: durationpb.New(time.Minute),
			Capabilities: []*sluicev1.Capability{{Kind: sluicev1.Kind_KIND_CHECKPOINT}},
		}},
		Snapshots: []*sluicev1.Snapshot{{
			Ref: wire.EncodeRef(postgres), Age: durationpb.New(time.Second), Figures: map[string]float64{"wal_bytes_total": 1},
			Tasks: []*sluicev1.Task{{Id: "1", Kind: sluicev1.Kind_KIND_CHECKPOINT}},
			Debts: []*sluicev1.Debt{{Kind: sluicev1.Kind_KIND_CHECKPOINT}},
			Leases: []*sluicev1.Lease{wire.EncodeLease(store.Lease{
				Kind: store.Checkpoint, Owner: "o", Setting: goodOrder().Setting,
			})},
			Latencies: []*sluicev1.Latency{{
				RequestClass: "read", Age: durationpb.New(0), Interval: durationpb.New(1), Count: 1, P99: durationpb.New(1),
			}},
			ScopeLatencies: []*sluicev1.ScopeLatency{{Scope: "k.t", Latency: &sluicev1.Latency{
				RequestClass: "read", Age: durationpb.New(0), Interval: durationpb.New(1),
			}}},
		}},
		ClientLatencies: []*sluicev1.ClientLatencies{{
			Store: "hbase", Clients: 2, Age: durationpb.New(0),
			Latencies: []*sluicev1.Latency{{RequestClass: "read", Age: durationpb.New(0), Interval: durationpb.New(1)}},
			ScopeLatencies: []*sluicev1.ScopeLatency{{Scope: "t", Latency: &sluicev1.Latency{
				RequestClass: "read", Age: durationpb.New(0), Interval: durationpb.New(1),
			}}},
		}},
	}
}

func TestNodeSnapshotRefuses(t *testing.T) {
	type report = sluicev1.GetSnapshotResponse
	tests := map[string]struct {
		damage  func(r *report)
		message string
	}{
		"another node":    {func(r *report) { r.Node = "n2" }, `agent of node "n1" answers for node "n2"`},
		"no signals":      {func(r *report) { r.Signals = nil }, "signals are missing"},
		"cpu over 1":      {func(r *report) { r.Signals.CpuUsed = 1.5 }, "cpu_used is 1.5"},
		"cpu NaN":         {func(r *report) { r.Signals.CpuUsed = math.NaN() }, "cpu_used is NaN"},
		"pressure":        {func(r *report) { p := -0.1; r.Signals.IoPressure = &p }, "io_pressure is -0.1"},
		"age of signals":  {func(r *report) { r.Signals.Age = durationpb.New(-1) }, "age is -1ns"},
		"device":          {func(r *report) { r.Signals.Devices[0].InFlight = math.Inf(1) }, "device 1: in_flight is +Inf"},
		"description":     {func(r *report) { r.Descriptions[0].MaxTimeToLive = nil }, "max_time_to_live is missing"},
		"capability":      {func(r *report) { r.Descriptions[0].Capabilities[0].Kind = 0 }, "capability 1: kind is missing"},
		"no age":          {func(r *report) { r.Snapshots[0].Age = nil }, "snapshot 1: age is missing"},
		"negative age":    {func(r *report) { r.Snapshots[0].Age = durationpb.New(-1) }, "age is -1ns"},
		"figure NaN":      {func(r *report) { r.Snapshots[0].Figures["x_bytes"] = math.NaN() }, "x_bytes is NaN"},
		"figure unnamed":  {func(r *report) { r.Snapshots[0].Figures[""] = 1 }, "a name in figures is missing"},
		"task":            {func(r *report) { r.Snapshots[0].Tasks[0].Id = "" }, "task 1: id is missing"},
		"task rate":       {func(r *report) { r.Snapshots[0].Tasks[0].RateBytesPerSecond = -1 }, "rate_bytes_per_second is -1"},
		"debt":            {func(r *report) { r.Snapshots[0].Debts[0].Kind = 0 }, "debt 1: kind is missing"},
		"lease":           {func(r *report) { r.Snapshots[0].Leases[0].TimeLeft = nil }, "lease 1: time_left is missing"},
		"lease value":     {func(r *report) { setNumber(r.Snapshots[0].Leases[0].Setting, math.NaN()) }, "setting.number is NaN"},
		"latency age":     {func(r *report) { r.Snapshots[0].Latencies[0].Age = nil }, "latency 1: age is missing"},
		"scope latency":   {func(r *report) { r.Snapshots[0].ScopeLatencies[0].Latency = nil }, "scope latency 1: request_class is missing"},
		"scope":           {func(r *report) { r.Snapshots[0].ScopeLatencies[0].Scope = "\n" }, "scope latency 1: the scope"},
		"latency missing": {func(r *report) { r.Snapshots[0].Latencies[0].P99 = nil }, "p99 is missing"},
		"problem":         {func(r *report) { r.Snapshots[0].Problem = "a\x1b[2Jb" }, "not printable"},
		"tasks": {
			func(r *report) {
				r.Snapshots[0].Tasks = repeat(r.Snapshots[0].Tasks[0], 10_001)
			}, "10001 entries of task, at most 10000",
		},
		"instances": {
			func(r *report) { r.Snapshots = repeat(r.Snapshots[0], 1_001) }, "1001 entries of snapshot, at most 1000",
		},
		"clients' store":   {func(r *report) { r.ClientLatencies[0].Store = "" }, "client latencies 1: store is missing"},
		"clients' age":     {func(r *report) { r.ClientLatencies[0].Age = nil }, "client latencies 1: age is missing"},
		"clients' latency": {func(r *report) { r.ClientLatencies[0].Latencies[0].Age = nil }, "latency 1: age is missing"},
		"clients' scope":   {func(r *report) { r.ClientLatencies[0].ScopeLatencies[0].Scope = "\n" }, "scope latency 1: the scope"},
		"clients of stores": {
			func(r *report) { r.ClientLatencies = repeat(r.ClientLatencies[0], 65) }, "65 entries of client latencies, at most 64",
		},
		"clients' scopes": {
			func(r *report) {
				r.ClientLatencies[0].ScopeLatencies = repeat(r.ClientLatencies[0].ScopeLatencies[0], 1_001)
			}, "1001 entries of scope latency, at most 1000",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			message := goodReport()
			test.damage(message)
			_, err := wire.DecodeNodeSnapshot("n1", message, time.Now())
			requireInvalid(t, err, test.message)
			requireInvalid(t, readAfterAnother(t, message), test.message)
		})
	}
	if _, err := wire.DecodeNodeSnapshot("n1", goodReport(), time.Now()); err != nil {
		t.Errorf("the undamaged report is refused: %v", err)
	}
}

func repeat[T any](element T, count int) []T {
	list := make([]T, count)
	for i := range list {
		list[i] = element
	}
	return list
}

// A newer agent may have kinds, states and settings that this version has no names for.
func TestNodeSnapshotOfANewerVersion(t *testing.T) {
	message := goodReport()
	message.Descriptions[0].Capabilities[0].Kind = 99
	snapshot := message.Snapshots[0]
	snapshot.Tasks[0].State = 99
	snapshot.Tasks = append(snapshot.Tasks, &sluicev1.Task{Id: "2", Kind: 99})
	snapshot.Debts[0].Kind = 99
	snapshot.Leases[0].Setting.Name = "colour"
	got, err := wire.DecodeNodeSnapshot("n1", message, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	known := got.Instances[0].Snapshot
	if len(got.Descriptions[0].Capabilities) != 0 || len(known.Debts) != 0 || len(known.Tasks) != 1 {
		t.Errorf("what is of a new kind was not left out: %+v", got)
	}
	if known.Tasks[0].State != "" || known.Leases[0].Setting.Name != "colour" {
		t.Errorf("new state or setting: %+v", known)
	}
}

func TestDecisionRefuses(t *testing.T) {
	good := wire.DecisionRecord{
		Decision: policy.Decision{Target: postgres, Kind: store.Checkpoint, Verdict: policy.Keep, Reason: "r"},
		Policy:   "p", MadeAt: time.Unix(1, 0),
	}
	tests := map[string]struct {
		damage  func(decision *sluicev1.Decision)
		message string
	}{
		"no node":    {func(d *sluicev1.Decision) { d.Node = "" }, "node is missing"},
		"no policy":  {func(d *sluicev1.Decision) { d.Policy = "" }, "policy is missing"},
		"no verdict": {func(d *sluicev1.Decision) { d.Verdict = 0 }, "the verdict with number 0"},
		"no kind":    {func(d *sluicev1.Decision) { d.Kind = 0 }, "kind is missing"},
		"no time":    {func(d *sluicev1.Decision) { d.MadeAt = nil }, "made_at is no valid time"},
		"year 0": {
			func(d *sluicev1.Decision) { d.MadeAt = &timestamppb.Timestamp{Seconds: -1 << 40} }, "made_at is no valid time",
		},
		"setting": {func(d *sluicev1.Decision) { d.Setting = &sluicev1.Setting{} }, "setting.name is missing"},
		"input":   {func(d *sluicev1.Decision) { d.Inputs = map[string]float64{"x": math.Inf(-1)} }, "x is -Inf"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			message := wire.EncodeDecision(good)
			test.damage(message)
			_, err := wire.DecodeDecision(message)
			requireInvalid(t, err, test.message)
		})
	}
}

// A phase may be as long as the local protocol lets it be: it must not cost the controller the whole node.
func TestEncodeMakesWordsOfStoresFit(t *testing.T) {
	instance := wire.InstanceSnapshot{Ref: postgres, Snapshot: store.Snapshot{TakenAt: time.Now(), Tasks: []store.Task{
		{ID: "a\nb", Kind: store.Checkpoint, State: store.Running, Phase: strings.Repeat("\u00e9", 1024)},
	}}}
	got, err := wire.DecodeSnapshot("n1", overTheNetwork(t, wire.EncodeSnapshot(instance, time.Now())), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if task := got.Snapshot.Tasks[0]; task.ID != "a b" || len(task.Phase) != 254 {
		t.Errorf("the task is %q with a phase of %d bytes, want \"a b\" and 254", task.ID, len(task.Phase))
	}
}

// What stores and libraries say must not make a report that is refused.
func TestEncodeMakesTextsAndFiguresFit(t *testing.T) {
	record := wire.DecisionRecord{
		Decision: policy.Decision{
			Target: postgres, Kind: store.Checkpoint, Verdict: policy.Stop,
			Reason: "first\nsecond \xff" + strings.Repeat("\u00e9", 3000),
			Inputs: map[string]float64{"a_bytes": 1, "b_bytes": math.NaN()},
		},
		Policy: "p", MadeAt: time.Unix(1, 0),
	}
	got, err := wire.DecodeDecision(overTheNetwork(t, wire.EncodeDecision(record)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Reason, "first second ?\u00e9") || len(got.Reason) > 4096 {
		t.Errorf("the reason is %d bytes: %.40s", len(got.Reason), got.Reason)
	}
	if len(got.Inputs) != 1 {
		t.Errorf("the inputs are %v", got.Inputs)
	}
}
