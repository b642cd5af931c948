package postgres_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
	"sluice.dev/control/tests/postgres/server"
)

// TestOrders has what leaves no trace behind but leases, which are cleared.
func TestOrders(t *testing.T) {
	driver := openDriver(t, startPrimary(t, nil), nil)
	for name, run := range map[string]func(*testing.T, store.Driver){
		"every setting is given, renewed and replaced":       testEverySetting,
		"orders of different aspects hold side by side":      testAspects,
		"another owner has to replace":                       testAnotherOwner,
		"bad input is refused with a hint, changing nothing": testBadInput,
	} {
		t.Run(name, func(t *testing.T) { run(t, driver) })
	}
}

func testEverySetting(t *testing.T, driver store.Driver) {
	tests := []struct {
		name           store.SettingName
		number, second float64
	}{
		{store.Hold, 0, 0},
		{store.RateBytesPerSecond, 6e6, 7e6},
		{store.DurationSeconds, 20.5, 0.01},
		{store.Full, 0, 0},
		{store.Stock, 0, 0},
		{store.SyncGapSeconds, 0.2, 60},
		{store.DeferUntilDebtBytes, 500e6, 600e6},
	}
	for _, test := range tests {
		t.Run(string(test.name), func(t *testing.T) {
			order := checkpointOrder(test.name, test.number)
			order.TimeToLive = 10 * time.Second
			checkLease(t, set(t, driver, order), order)

			order.TimeToLive = time.Minute
			renewed := set(t, driver, order)
			checkLease(t, renewed, order)
			if renewed.TimeLeft <= 10*time.Second {
				t.Errorf("renewed for a minute, but only %v are left", renewed.TimeLeft)
			}

			order.Setting.Number = test.second
			checkLease(t, set(t, driver, order), order)
			leases := snapshotOf(t, driver).Leases
			if len(leases) != 1 {
				t.Fatalf("got leases %+v, want one", leases)
			}
			checkLease(t, leases[0], order)
			clear(t, driver, order.Owner, 1)
			clear(t, driver, order.Owner, 0)
		})
	}
}

func checkLease(t *testing.T, lease store.Lease, order store.Order) {
	t.Helper()
	if lease.Kind != order.Kind || lease.Setting != order.Setting || lease.Owner != order.Owner || lease.Scope != "" {
		t.Errorf("got the lease %+v for the order %+v", lease, order)
	}
	if lease.TimeLeft <= 0 || lease.TimeLeft > order.TimeToLive {
		t.Errorf("%v are left of %v", lease.TimeLeft, order.TimeToLive)
	}
}

func TestLeasesAreCountedByHowTheyEnd(t *testing.T) {
	driver := openDriver(t, startPrimary(t, nil), nil)
	hold, full := checkpointOrder(store.Hold, 0), checkpointOrder(store.Full, 0)
	set(t, driver, hold)
	set(t, driver, hold) // renews, ends nothing
	set(t, driver, full)
	clear(t, driver, full.Owner, 1)
	hold.TimeToLive = time.Millisecond
	if _, err := driver.Set(t.Context(), hold); err != nil && store.CodeOf(err) != store.CodeRefused {
		t.Fatalf("a lease of a millisecond: %v", err) // it may have expired before it could be read
	}
	snapshot := waitForSnapshot(t, driver, "a lease that expires", func(s store.Snapshot) bool {
		return s.Figures["leases_expired_total"] == 1
	})
	if len(snapshot.Leases) != 0 {
		t.Errorf("got leases %+v, want none", snapshot.Leases)
	}
	for name, want := range map[string]float64{
		"leases_replaced_total": 1, "leases_cleared_total": 1, "leases_wal_bound_total": 0,
	} {
		if got := snapshot.Figures[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func testAspects(t *testing.T, driver store.Driver) {
	set(t, driver, checkpointOrder(store.Hold, 0))
	set(t, driver, checkpointOrder(store.SyncGapSeconds, 0.2))
	set(t, driver, checkpointOrder(store.DeferUntilDebtBytes, 500e6))
	if leases := snapshotOf(t, driver).Leases; len(leases) != 3 {
		t.Errorf("got %+v, want three leases", leases)
	}
	clear(t, driver, "policy/test", 3)
}

func testAnotherOwner(t *testing.T, driver store.Driver) {
	set(t, driver, checkpointOrder(store.Hold, 0))
	other := checkpointOrder(store.RateBytesPerSecond, 1e6)
	other.Owner = "operator/ann"

	_, err := driver.Set(t.Context(), other)
	checkFailure(t, err, store.CodeConflict, `held by "policy/test"`, "replace")
	checkFailure(t, driver.Start(t.Context(), other), store.CodeConflict, `held by "policy/test"`, "replace")
	clear(t, driver, other.Owner, 0)

	other.Replace = true
	checkLease(t, set(t, driver, other), other)
	if leases := snapshotOf(t, driver).Leases; len(leases) != 1 || leases[0].Owner != other.Owner {
		t.Errorf("got %+v, want the lease of %s", leases, other.Owner)
	}
	clear(t, driver, other.Owner, 1)
}

// checkFailure checks the code, and what message and hint contain; a failure without a hint is none.
func checkFailure(t *testing.T, err error, code store.Code, message, hint string) {
	t.Helper()
	var failure *store.Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want an error with the code %s", err, code)
	}
	if failure.Code != code || !strings.Contains(failure.Message, message) {
		t.Errorf("got %s, %q, want %s, %q", failure.Code, failure.Message, code, message)
	}
	if failure.Hint == "" || !strings.Contains(failure.Hint, hint) {
		t.Errorf("got the hint %q, want %q", failure.Hint, hint)
	}
}

func testBadInput(t *testing.T, driver store.Driver) {
	for _, order := range []store.Order{
		checkpointOrder(store.RateBytesPerSecond, 1),
		checkpointOrder(store.RateBytesPerSecond, 1e13),
		checkpointOrder(store.RateBytesPerSecond, math.MaxFloat64),
		checkpointOrder(store.DurationSeconds, 0),
		checkpointOrder(store.DurationSeconds, 1e9),
		checkpointOrder(store.DurationSeconds, math.MaxFloat64),
		checkpointOrder(store.SyncGapSeconds, 0),
		checkpointOrder(store.SyncGapSeconds, 61),
		checkpointOrder(store.DeferUntilDebtBytes, 1<<30+1),
		checkpointOrder(store.DeferUntilDebtBytes, math.MaxFloat64),
		withTimeToLive(time.Microsecond),
		withTimeToLive(10*time.Minute + time.Microsecond),
		withTimeToLive(math.MaxInt64),
		withOwner("Jürgen"),
	} {
		_, err := driver.Set(t.Context(), order)
		checkFailure(t, err, store.CodeInvalid, "", "")
	}
	if snapshot := snapshotOf(t, driver); len(snapshot.Leases) != 0 {
		t.Errorf("got leases %+v, want none", snapshot.Leases)
	}
}

func withTimeToLive(timeToLive time.Duration) store.Order {
	order := checkpointOrder(store.Hold, 0)
	order.TimeToLive = timeToLive
	return order
}

func withOwner(owner string) store.Order {
	order := checkpointOrder(store.Hold, 0)
	order.Owner = owner
	return order
}

func TestOrderPastTheBoundIsRefused(t *testing.T) {
	s := startPrimary(t, nil)
	driver := openDriver(t, s, nil)
	s.Execute(t, "SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000))")
	_, err := driver.Set(t.Context(), checkpointOrder(store.DeferUntilDebtBytes, 1000))
	checkFailure(t, err, store.CodeRefused, "has reached the order's end", "checkpoint finish first")
}

func TestStartWithEachPace(t *testing.T) {
	s := startPrimary(t, nil)
	driver := openDriver(t, s, nil)
	// Both take minutes for what there is to write.
	for _, order := range []store.Order{
		checkpointOrder(store.RateBytesPerSecond, 65536),
		checkpointOrder(store.DurationSeconds, 600),
	} {
		s.DirtyBuffers(t)
		start(t, driver, order)
		task := waitForSnapshot(t, driver, "a checkpoint", hasTask(store.Running)).Tasks[0]
		if task.ID != "checkpoint" || task.Kind != store.Checkpoint {
			t.Errorf("got the task %+v", task)
		}
		writes := waitForSnapshot(t, driver, "a checkpoint that writes", func(s store.Snapshot) bool {
			return hasTask(store.Running)(s) && s.Tasks[0].Phase == "write" && s.Tasks[0].Throttled > 0
		}).Tasks[0]
		if writes.BytesTotal < 2000*8192 || writes.BytesDone > writes.BytesTotal || writes.Age < writes.Throttled {
			t.Errorf("got the task %+v", writes)
		}
		checkLease(t, snapshotOf(t, driver).Leases[0], order)
		set(t, driver, checkpointOrder(store.Full, 0))
		waitForSnapshot(t, driver, "the end of the checkpoint", isIdle)
		clear(t, driver, order.Owner, 1)
	}
}

// A policy may start a checkpoint and hold it in one.
func TestStartWithAHold(t *testing.T) {
	s := startPrimary(t, nil)
	driver := openDriver(t, s, nil)
	s.DirtyBuffers(t)
	hold := checkpointOrder(store.Hold, 0)
	start(t, driver, hold)
	task := waitForSnapshot(t, driver, "a held checkpoint", hasTask(store.Held)).Tasks[0]
	// The hook comes after the first buffer.
	if task.BytesDone > 8192 {
		t.Errorf("the checkpoint wrote %d bytes before it was held", task.BytesDone)
	}
	checkLease(t, snapshotOf(t, driver).Leases[0], hold)

	// The hold in force is renewed: the running checkpoint is not let go for a moment.
	start(t, driver, hold)
	if replaced := snapshotOf(t, driver).Figures["leases_replaced_total"]; replaced != 0 {
		t.Errorf("%v leases were replaced, want none", replaced)
	}
	clear(t, driver, hold.Owner, 1)
}

// What has reached the bound needs a checkpoint more than anything else.
func TestStartInHastePastTheBound(t *testing.T) {
	s := startPrimary(t, server.Settings{"sluice.wal_bound": "1MB"})
	driver := openDriver(t, s, nil)
	for _, pace := range []store.SettingName{store.Full, store.Stock} {
		s.Execute(t, "SELECT pg_logical_emit_message(false, 'test', repeat('x', 2000000))")
		before := snapshotOf(t, driver)
		if debt := before.Debts[0]; debt.Bytes < debt.LimitBytes {
			t.Fatalf("got debt %+v, want more than its limit", debt)
		}
		start(t, driver, checkpointOrder(pace, 0))
		waitForSnapshot(t, driver, "the end of the checkpoint", func(s store.Snapshot) bool {
			return isIdle(s) && s.Figures["checkpoints_done_total"] > before.Figures["checkpoints_done_total"]
		})
	}
}

func isIdle(s store.Snapshot) bool { return len(s.Tasks) == 0 }

func TestStartAtTheServersOwnPace(t *testing.T) {
	s := startPrimary(t, server.Settings{"checkpoint_completion_target": "0"}) // does not nap
	driver := openDriver(t, s, nil)
	s.DirtyBuffers(t)
	done := snapshotOf(t, driver).Figures["checkpoints_done_total"]
	start(t, driver, checkpointOrder("", 0))
	waitForSnapshot(t, driver, "a checkpoint, and no lease", func(s store.Snapshot) bool {
		return s.Figures["checkpoints_done_total"] > done && len(s.Leases) == 0
	})

	// It neither ends nor renews a lease, whose pace holds for it.
	s.DirtyBuffers(t)
	hold := checkpointOrder(store.Hold, 0)
	set(t, driver, hold)
	only := checkpointOrder("", 0)
	only.Replace = true
	start(t, driver, only)
	waitForSnapshot(t, driver, "a held checkpoint", hasTask(store.Held))
	checkLease(t, snapshotOf(t, driver).Leases[0], hold)
	clear(t, driver, hold.Owner, 1)
}

func TestCheckpointThatIsPutOff(t *testing.T) {
	s := startPrimary(t, server.Settings{"max_wal_size": "64MB", "min_wal_size": "32MB", "checkpoint_completion_target": "0.9", "sluice.wal_bound": "1GB"})
	driver := openDriver(t, s, nil)
	set(t, driver, checkpointOrder(store.DeferUntilDebtBytes, 900<<20))
	session := s.Connect(t)
	snapshot := waitForSnapshot(t, driver, "a checkpoint that is put off", func(snapshot store.Snapshot) bool {
		if _, err := session.Exec(t.Context(), "SELECT pg_logical_emit_message(false, 'test', repeat('x', 4000000))"); err != nil {
			t.Fatal(err)
		}
		return hasTask(store.Deferred)(snapshot)
	})
	if debt := snapshot.Debts[0]; debt.Bytes < debt.TriggerBytes || debt.LimitBytes != 1<<30 {
		t.Errorf("got debt %+v, want more than its trigger", debt)
	}
	if task := snapshot.Tasks[0]; task.ID != "checkpoint" || task.Phase != "" || snapshot.Figures["checkpoint_deferrals_total"] != 1 {
		t.Errorf("got the task %+v and figures %v", task, snapshot.Figures)
	}
}
