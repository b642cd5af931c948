package postgres_test

import (
	"testing"

	"sluice.dev/control/internal/store"
)

func TestRestartpointOfAStandby(t *testing.T) {
	primary := startPrimary(t, nil)
	standby := primary.StartStandby(t, nil)
	driver := openDriver(t, standby, nil)
	primary.DirtyBuffers(t)
	primary.Execute(t, "CHECKPOINT")

	// A restartpoint can start once the record of the primary's checkpoint has been replayed.
	order := checkpointOrder(store.RateBytesPerSecond, 65536)
	task := waitForSnapshot(t, driver, "a restartpoint", func(s store.Snapshot) bool {
		if isIdle(s) {
			start(t, driver, order)
		}
		return hasTask(store.Running)(s) && s.Tasks[0].BytesTotal > 1000*8192
	}).Tasks[0]
	if task.ID != "restartpoint" || task.Kind != store.Checkpoint {
		t.Errorf("got the task %+v", task)
	}

	set(t, driver, checkpointOrder(store.Hold, 0))
	snapshot := waitForSnapshot(t, driver, "a held restartpoint", hasTask(store.Held))
	if debt := snapshot.Debts[0]; debt.LimitBytes != 2<<30 {
		t.Errorf("got debt %+v, want a limit of twice max_wal_size", debt)
	}
	if debt := snapshot.Debts[0]; snapshot.Figures["redo_bytes_per_second"] > 0 && debt.EstimatedRecovery < 0 {
		t.Errorf("the rate of redo is known, but not how long it takes: %+v", debt)
	}
	if _, err := driver.Describe(t.Context()); err != nil {
		t.Error(err)
	}
}
