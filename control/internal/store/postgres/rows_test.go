package postgres

import (
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/store"
)

func pointer[T any](value T) *T { return &value }

func TestTasksOfTheProgressRow(t *testing.T) {
	busy := progressRow{
		State: "running", Kind: pointer("checkpoint"), Phase: "write",
		ElapsedSeconds: pointer(3.5), ThrottledSeconds: pointer(2.25), RateBytesPerSecond: pointer(1e6),
		BuffersDone: pointer[int64](10), BuffersTotal: pointer[int64](40), BlockBytes: 8192,
	}
	task := store.Task{
		ID: "checkpoint", Kind: store.Checkpoint, State: store.Running, Phase: "write",
		BytesDone: 81920, BytesTotal: 327680, RateBytesPerSecond: 1e6,
		Throttled: 2250 * time.Millisecond, Age: 3500 * time.Millisecond,
	}
	held, heldTask := busy, task
	held.State, heldTask.State = "held", store.Held
	restartpoint, restartpointTask := busy, task
	restartpoint.Kind, restartpointTask.ID = pointer("restartpoint"), "restartpoint"

	tests := []struct {
		name string
		row  progressRow
		want []store.Task
	}{
		{"idle", progressRow{State: "idle", Phase: "none", BlockBytes: 8192}, nil},
		{"running", busy, []store.Task{task}},
		{"held", held, []store.Task{heldTask}},
		{"restartpoint", restartpoint, []store.Task{restartpointTask}},
		{"deferred", progressRow{State: "deferred", Phase: "none"},
			[]store.Task{{ID: "checkpoint", Kind: store.Checkpoint, State: store.Deferred}}},
		{"deferred in recovery", progressRow{State: "deferred", Phase: "none", InRecovery: true},
			[]store.Task{{ID: "restartpoint", Kind: store.Checkpoint, State: store.Deferred}}},
	}
	for _, test := range tests {
		if got := test.row.tasks(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestDebtOfTheProgressRow(t *testing.T) {
	row := progressRow{WALDistanceBytes: 300, WALBoundBytes: 1000, WALToTriggerBytes: 200, EstimatedRedoSeconds: pointer(1.5)}
	want := store.Debt{
		Kind: store.Checkpoint, Bytes: 300, TriggerBytes: 500, LimitBytes: 1000, EstimatedRecovery: 1500 * time.Millisecond,
	}
	if got := row.debt(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Put off past the trigger, by a server that has never replayed WAL.
	row.WALToTriggerBytes, row.EstimatedRedoSeconds = -100, nil
	want.TriggerBytes, want.EstimatedRecovery = 200, unknownDuration
	if got := row.debt(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFiguresWithoutMeaningAreLeftOut(t *testing.T) {
	figures := map[string]float64{}
	progressRow{CheckpointsDone: 7, WALToTriggerBytes: -5}.addFigures(figures)
	want := map[string]float64{
		"wal_to_bound_bytes": 0, "wal_to_trigger_bytes": -5, "checkpoints_done_total": 7,
		"checkpoints_failed_total": 0, "checkpoint_deferrals_total": 0,
	}
	if !reflect.DeepEqual(figures, want) {
		t.Errorf("got %v, want %v", figures, want)
	}
}

func TestLeasesOfTheView(t *testing.T) {
	tests := []struct {
		row  leaseRow
		want store.Setting
	}{
		{leaseRow{Kind: "pace", Mode: pointer("hold")}, store.Setting{Name: store.Hold}},
		{leaseRow{Kind: "pace", Mode: pointer("full")}, store.Setting{Name: store.Full}},
		{leaseRow{Kind: "pace", Mode: pointer("stock")}, store.Setting{Name: store.Stock}},
		{leaseRow{Kind: "pace", Mode: pointer("rate"), RateBytesPerSecond: pointer[int64](6e6)},
			store.Setting{Name: store.RateBytesPerSecond, Number: 6e6}},
		{leaseRow{Kind: "pace", Mode: pointer("duration"), DurationSeconds: pointer(20.5)},
			store.Setting{Name: store.DurationSeconds, Number: 20.5}},
		{leaseRow{Kind: "sync_gap", SyncGapSeconds: pointer(0.2)}, store.Setting{Name: store.SyncGapSeconds, Number: 0.2}},
		{leaseRow{Kind: "deferral", WALBytes: pointer[int64](2e8)},
			store.Setting{Name: store.DeferUntilDebtBytes, Number: 2e8}},
	}
	for _, test := range tests {
		test.row.Owner, test.row.SecondsLeft = "policy/slo", 2.5
		want := store.Lease{Kind: store.Checkpoint, Setting: test.want, Owner: "policy/slo", TimeLeft: 2500 * time.Millisecond}
		got, err := test.row.lease()
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestLeasesThatCannotBeAreRefused(t *testing.T) {
	for _, row := range []leaseRow{
		{Kind: "pace", Mode: pointer("glide")}, // follows a lease, but is none
		{Kind: "pace"},
		{Kind: "shape"},
	} {
		if lease, err := row.lease(); store.CodeOf(err) != store.CodeIncompatible {
			t.Errorf("%+v: got %+v, %v, want %s", row, lease, err, store.CodeIncompatible)
		}
	}
}

func TestLatencyOfAnIntervalWithoutStatements(t *testing.T) {
	row := latencyRow{Class: "write", IntervalSeconds: 1, AgeSeconds: -0.001}
	want := store.Latency{Class: "write", Interval: time.Second}
	if got := row.latency(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSecondsAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		microseconds := rapid.Int64Range(0, 24*3600*1e6).Draw(t, "microseconds")
		want := time.Duration(microseconds) * time.Microsecond
		if got := seconds(want.Seconds()).Round(time.Microsecond); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
	for _, number := range []float64{1e10, 1e300, math.Inf(1)} {
		if got := seconds(number); got != math.MaxInt64 {
			t.Errorf("%v s: got %v, want the longest", number, got)
		}
	}
}
