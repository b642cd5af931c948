package postgres

import (
	"time"

	"sluice.dev/control/internal/store"
)

// unknownDuration stands for a time that the server cannot tell.
const unknownDuration time.Duration = -1

// progressRow is the row of sluice.checkpoint_progress; what is nil has no meaning at that moment.
type progressRow struct {
	State                string
	Kind                 *string
	Phase                string
	ElapsedSeconds       *float64
	ThrottledSeconds     *float64
	RateBytesPerSecond   *float64
	BuffersDone          *int64
	BuffersTotal         *int64
	BytesWritten         *int64
	FilesDone            *int64
	FilesTotal           *int64
	WriteSecondsLeft     *float64
	WALDistanceBytes     int64
	WALBoundBytes        int64
	WALToBoundBytes      int64
	WALToTriggerBytes    int64
	RedoBytesPerSecond   *float64
	EstimatedRedoSeconds *float64
	CheckpointsDone      int64
	CheckpointsFailed    int64
	Deferrals            int64
	BlockBytes           int64
	InRecovery           bool
}

// states of the vocabulary; a server that is idle has no task.
var states = map[string]store.State{
	"deferred": store.Deferred,
	"running":  store.Running,
	"held":     store.Held,
}

// tasks is the running checkpoint or restartpoint, or the one that is put off; there is never more
// than one.
func (r progressRow) tasks() []store.Task {
	state, found := states[r.State]
	if !found {
		return nil
	}
	task := store.Task{ID: r.taskID(), Kind: store.Checkpoint, State: state}
	if state == store.Deferred {
		return []store.Task{task}
	}
	task.Phase = r.Phase
	task.BytesDone = nonNegative(zeroIfNil(r.BuffersDone) * r.BlockBytes)
	task.BytesTotal = nonNegative(zeroIfNil(r.BuffersTotal) * r.BlockBytes)
	task.RateBytesPerSecond = zeroIfNil(r.RateBytesPerSecond)
	task.Throttled = seconds(zeroIfNil(r.ThrottledSeconds))
	task.Age = seconds(zeroIfNil(r.ElapsedSeconds))
	return []store.Task{task}
}

// taskID is what the server makes: a restartpoint in recovery, else a checkpoint.
func (r progressRow) taskID() string {
	switch {
	case r.Kind != nil:
		return *r.Kind
	case r.InRecovery:
		return "restartpoint"
	default:
		return "checkpoint"
	}
}

// debt is the WAL that recovery would replay now. The server counts down to its trigger; here it is
// where the debt will then be.
func (r progressRow) debt() store.Debt {
	recovery := unknownDuration
	if r.EstimatedRedoSeconds != nil {
		recovery = seconds(*r.EstimatedRedoSeconds)
	}
	return store.Debt{
		Kind:              store.Checkpoint,
		Bytes:             nonNegative(r.WALDistanceBytes),
		TriggerBytes:      nonNegative(r.WALDistanceBytes + r.WALToTriggerBytes),
		LimitBytes:        nonNegative(r.WALBoundBytes),
		EstimatedRecovery: recovery,
	}
}

func (r progressRow) addFigures(figures map[string]float64) {
	addFigure(figures, "checkpoint_done_buffers", r.BuffersDone)
	addFigure(figures, "checkpoint_planned_buffers", r.BuffersTotal)
	addFigure(figures, "checkpoint_written_bytes", r.BytesWritten)
	addFigure(figures, "checkpoint_done_files", r.FilesDone)
	addFigure(figures, "checkpoint_planned_files", r.FilesTotal)
	addFigure(figures, "checkpoint_write_left_seconds", r.WriteSecondsLeft)
	addFigure(figures, "wal_to_bound_bytes", &r.WALToBoundBytes)
	addFigure(figures, "wal_to_trigger_bytes", &r.WALToTriggerBytes)
	addFigure(figures, "redo_bytes_per_second", r.RedoBytesPerSecond)
	addFigure(figures, "checkpoints_done_total", &r.CheckpointsDone)
	addFigure(figures, "checkpoints_failed_total", &r.CheckpointsFailed)
	addFigure(figures, "checkpoint_deferrals_total", &r.Deferrals)
}

// addFigure leaves out what has no meaning at the moment.
func addFigure[T int64 | float64](figures map[string]float64, name string, value *T) {
	if value != nil {
		figures[name] = float64(*value)
	}
}

// leaseRow is a row of sluice.leases; what its kind does not use is nil.
type leaseRow struct {
	LeaseID            int64
	Kind               string
	Mode               *string
	RateBytesPerSecond *int64
	WALBytes           *int64
	Owner              string
	DurationSeconds    *float64
	SyncGapSeconds     *float64
	SecondsLeft        float64
}

// lease in the vocabulary; an error if this version of the driver does not know what it orders.
func (r leaseRow) lease() (store.Lease, error) {
	setting, err := r.setting()
	if err != nil {
		return store.Lease{}, err
	}
	return store.Lease{
		Kind: store.Checkpoint, Setting: setting, Owner: r.Owner, TimeLeft: seconds(max(0, r.SecondsLeft)),
	}, nil
}

func (r leaseRow) setting() (store.Setting, error) {
	switch r.Kind {
	case "pace":
		return r.pace()
	case "sync_gap":
		return store.Setting{Name: store.SyncGapSeconds, Number: zeroIfNil(r.SyncGapSeconds)}, nil
	case "deferral":
		return store.Setting{Name: store.DeferUntilDebtBytes, Number: float64(zeroIfNil(r.WALBytes))}, nil
	default:
		return store.Setting{}, unknownLease("kind", r.Kind)
	}
}

// pace of a lease. A lease is never of the mode "glide", which is what follows one.
func (r leaseRow) pace() (store.Setting, error) {
	switch mode := zeroIfNil(r.Mode); mode {
	case "rate":
		return store.Setting{Name: store.RateBytesPerSecond, Number: float64(zeroIfNil(r.RateBytesPerSecond))}, nil
	case "duration":
		return store.Setting{Name: store.DurationSeconds, Number: zeroIfNil(r.DurationSeconds)}, nil
	case "hold":
		return store.Setting{Name: store.Hold}, nil
	case "full":
		return store.Setting{Name: store.Full}, nil
	case "stock":
		return store.Setting{Name: store.Stock}, nil
	default:
		return store.Setting{}, unknownLease("mode", mode)
	}
}

func unknownLease(what, name string) error {
	return store.Errorf(store.CodeIncompatible, "the server has a lease of the %s %q, which this agent does not know", what, name).
		WithHint("Install extension and agent of the same release.")
}

// leaseEndRow is a row of sluice.lease_ends.
type leaseEndRow struct {
	EndedBy string
	Leases  int64
}

// latencyRow is a row of sluice.statement_latency_intervals; the times are nil where nothing was
// counted.
type latencyRow struct {
	Class                                                        string
	Count, Errors                                                int64
	MeanSeconds, P50Seconds, P99Seconds, P999Seconds, MaxSeconds *float64
	IntervalSeconds, AgeSeconds                                  float64
}

func (r latencyRow) latency() store.Latency {
	return store.Latency{
		Class:    r.Class,
		Age:      seconds(max(0, r.AgeSeconds)),
		Interval: seconds(r.IntervalSeconds),
		Count:    nonNegative(r.Count),
		Errors:   nonNegative(r.Errors),
		Mean:     seconds(zeroIfNil(r.MeanSeconds)),
		P50:      seconds(zeroIfNil(r.P50Seconds)),
		P99:      seconds(zeroIfNil(r.P99Seconds)),
		P999:     seconds(zeroIfNil(r.P999Seconds)),
		Max:      seconds(zeroIfNil(r.MaxSeconds)),
	}
}

func zeroIfNil[T any](value *T) T {
	if value == nil {
		return *new(T)
	}
	return *value
}

func nonNegative(value int64) uint64 {
	return uint64(max(0, value))
}
