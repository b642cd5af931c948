package wire

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// InstanceSnapshot is the last snapshot of one instance.
type InstanceSnapshot struct {
	Ref      policy.Ref
	Snapshot store.Snapshot
	// Problem says why there is no newer one; empty if there is.
	Problem string
}

// EncodeSnapshot gives a snapshot as a message that is sent now, by the clock that TakenAt is of. The
// moment itself stays here: clocks of two nodes have nothing to do with each other.
func EncodeSnapshot(instance InstanceSnapshot, now time.Time) *sluicev1.Snapshot {
	snapshot := instance.Snapshot
	return &sluicev1.Snapshot{
		Ref:            EncodeRef(instance.Ref),
		Age:            durationpb.New(max(0, now.Sub(snapshot.TakenAt))),
		Tasks:          encodeList(snapshot.Tasks, encodeTask),
		Debts:          encodeList(snapshot.Debts, encodeDebt),
		Leases:         encodeList(snapshot.Leases, EncodeLease),
		Latencies:      encodeList(snapshot.Latencies, encodeLatency),
		Figures:        encodeFigures(snapshot.Figures),
		Problem:        sentence(instance.Problem),
		ScopeLatencies: encodeList(snapshot.ScopeLatencies, encodeScopeLatency),
	}
}

// DecodeSnapshot reads a snapshot of an instance on a node. For asked take the moment before the
// request was sent, of the clock that the snapshot's age will be told by: a snapshot then never seems
// fresher than it is, however long the answer took.
func DecodeSnapshot(node string, message *sluicev1.Snapshot, asked time.Time) (InstanceSnapshot, error) {
	ref, err := DecodeRef(node, message.GetRef())
	if err != nil {
		return InstanceSnapshot{}, err
	}
	var read fields
	instance := InstanceSnapshot{
		Ref: ref,
		Snapshot: store.Snapshot{
			TakenAt: asked.Add(-read.duration("age", message.GetAge())),
			Figures: read.figures("figures", message.GetFigures()),
		},
		Problem: read.text("problem", message.GetProblem(), maxTextBytes),
	}
	if read.err != nil {
		return InstanceSnapshot{}, read.err
	}
	if err := decodeParts(message, &instance.Snapshot); err != nil {
		return InstanceSnapshot{}, err
	}
	return instance, nil
}

func decodeParts(message *sluicev1.Snapshot, snapshot *store.Snapshot) (err error) {
	snapshot.Tasks, err = decodeList("task", withoutNewKinds(message.GetTasks()), maxTasks, decodeTask)
	if err != nil {
		return err
	}
	snapshot.Debts, err = decodeList("debt", withoutNewKinds(message.GetDebts()), maxDebts, decodeDebt)
	if err != nil {
		return err
	}
	snapshot.Leases, err = decodeList("lease", withoutNewKinds(message.GetLeases()), maxLeases, DecodeLease)
	if err != nil {
		return err
	}
	snapshot.Latencies, err = decodeList("latency", message.GetLatencies(), maxLatencies, decodeLatency)
	if err != nil {
		return err
	}
	snapshot.ScopeLatencies, err = decodeList(
		"scope latency", message.GetScopeLatencies(), maxLatencies, decodeScopeLatency)
	return err
}

func encodeTask(task store.Task) *sluicev1.Task {
	return &sluicev1.Task{
		Id:                 label(task.ID),
		Kind:               encodeName(kinds, task.Kind),
		Scope:              task.Scope,
		State:              encodeName(states, task.State),
		Phase:              label(task.Phase),
		BytesDone:          task.BytesDone,
		BytesTotal:         task.BytesTotal,
		RateBytesPerSecond: task.RateBytesPerSecond,
		Throttled:          durationpb.New(task.Throttled),
		Age:                durationpb.New(task.Age),
	}
}

// decodeTask leaves the state empty if this version has no name for it.
func decodeTask(message *sluicev1.Task) (store.Task, error) {
	kind, err := decodeKind(message.GetKind())
	if err != nil {
		return store.Task{}, err
	}
	var read fields
	task := store.Task{
		ID:                 read.required("id", message.GetId(), maxTextBytes),
		Kind:               kind,
		Scope:              read.scope(message.GetScope()),
		State:              states[message.GetState()],
		Phase:              read.text("phase", message.GetPhase(), maxTextBytes),
		BytesDone:          message.GetBytesDone(),
		BytesTotal:         message.GetBytesTotal(),
		RateBytesPerSecond: read.quantity("rate_bytes_per_second", message.GetRateBytesPerSecond()),
		Throttled:          read.optionalDuration("throttled", message.GetThrottled(), 0),
		Age:                read.optionalDuration("age", message.GetAge(), 0),
	}
	return task, read.err
}

func encodeDebt(debt store.Debt) *sluicev1.Debt {
	message := &sluicev1.Debt{
		Kind:         encodeName(kinds, debt.Kind),
		Scope:        debt.Scope,
		Bytes:        debt.Bytes,
		TriggerBytes: debt.TriggerBytes,
		LimitBytes:   debt.LimitBytes,
		Files:        debt.Files,
	}
	if debt.EstimatedRecovery >= 0 {
		message.EstimatedRecovery = durationpb.New(debt.EstimatedRecovery)
	}
	return message
}

func decodeDebt(message *sluicev1.Debt) (store.Debt, error) {
	kind, err := decodeKind(message.GetKind())
	if err != nil {
		return store.Debt{}, err
	}
	var read fields
	debt := store.Debt{
		Kind:              kind,
		Scope:             read.scope(message.GetScope()),
		Bytes:             message.GetBytes(),
		TriggerBytes:      message.GetTriggerBytes(),
		LimitBytes:        message.GetLimitBytes(),
		Files:             message.GetFiles(),
		EstimatedRecovery: read.optionalDuration("estimated_recovery", message.GetEstimatedRecovery(), unknown),
	}
	return debt, read.err
}

// EncodeLease gives a lease as a message.
func EncodeLease(lease store.Lease) *sluicev1.Lease {
	return &sluicev1.Lease{
		Kind:     encodeName(kinds, lease.Kind),
		Scope:    lease.Scope,
		Setting:  EncodeSetting(lease.Setting),
		Owner:    lease.Owner,
		TimeLeft: durationpb.New(max(0, lease.TimeLeft)),
	}
}

// DecodeLease reads a lease as a store keeps it.
func DecodeLease(message *sluicev1.Lease) (store.Lease, error) {
	kind, err := decodeKind(message.GetKind())
	if err != nil {
		return store.Lease{}, err
	}
	setting, err := decodeReportedSetting(message.GetSetting())
	if err != nil {
		return store.Lease{}, err
	}
	var read fields
	lease := store.Lease{
		Kind:     kind,
		Scope:    read.scope(message.GetScope()),
		Setting:  setting,
		Owner:    read.name("owner", message.GetOwner()),
		TimeLeft: read.duration("time_left", message.GetTimeLeft()),
	}
	return lease, read.err
}

func encodeLatency(latency store.Latency) *sluicev1.Latency {
	return &sluicev1.Latency{
		RequestClass: latency.Class,
		Age:          durationpb.New(latency.Age),
		Interval:     durationpb.New(latency.Interval),
		Count:        latency.Count,
		Errors:       latency.Errors,
		Mean:         durationpb.New(latency.Mean),
		P50:          durationpb.New(latency.P50),
		P99:          durationpb.New(latency.P99),
		P999:         durationpb.New(latency.P999),
		Max:          durationpb.New(latency.Max),
	}
}

func decodeLatency(message *sluicev1.Latency) (store.Latency, error) {
	var read fields
	latency := store.Latency{
		Class:    read.name("request_class", message.GetRequestClass()),
		Age:      read.duration("age", message.GetAge()),
		Interval: read.duration("interval", message.GetInterval()),
		Count:    message.GetCount(),
		Errors:   message.GetErrors(),
		Mean:     read.optionalDuration("mean", message.GetMean(), 0),
		P50:      read.optionalDuration("p50", message.GetP50(), 0),
		P99:      read.optionalDuration("p99", message.GetP99(), 0),
		P999:     read.optionalDuration("p999", message.GetP999(), 0),
		Max:      read.optionalDuration("max", message.GetMax(), 0),
	}
	if read.err == nil && latency.Count > 0 && message.GetP99() == nil {
		read.fail("p99 is missing, though there were requests")
	}
	return latency, read.err
}

func encodeScopeLatency(latency store.ScopeLatency) *sluicev1.ScopeLatency {
	return &sluicev1.ScopeLatency{Scope: latency.Scope, Latency: encodeLatency(latency.Latency)}
}

func decodeScopeLatency(message *sluicev1.ScopeLatency) (store.ScopeLatency, error) {
	var read fields
	scope := read.scope(message.GetScope())
	if read.err != nil {
		return store.ScopeLatency{}, read.err
	}
	latency, err := decodeLatency(message.GetLatency())
	return store.ScopeLatency{Scope: scope, Latency: latency}, err
}
