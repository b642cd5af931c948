package postgres_test

import (
	"slices"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
	"sluice.dev/control/tests/postgres/server"
)

// Under load, somebody sets the clock of the machine. A lease that nobody renews ends in its time, the held checkpoint
// goes on, and statements are counted again.
func TestWallClockOfTheServerJumps(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := startPrimary(t, server.Settings{"sluice.statement_latency_interval": "250ms"})
			s.Run(t, "pgbench", "--initialize", "--quiet", "--scale", "2")
			driver := openDriver(t, s, nil)
			s.StartProgram(t, "pgbench", "--client", "2", "--time", "300", "--no-vacuum")
			start(t, driver, checkpointOrder(store.RateBytesPerSecond, 65536))
			waitForSnapshot(t, driver, "a checkpoint that writes", hasTask(store.Running))
			checkLatencies(t, driver)

			order := checkpointOrder(store.Hold, 0)
			order.TimeToLive = 10 * time.Second
			askedAt := time.Now()
			given := set(t, driver, order)
			waitForSnapshot(t, driver, "a held checkpoint", hasTask(store.Held))
			s.JumpWallClock(t, by)
			checkTimeLeft(t, driver, given, askedAt)

			waitForSnapshot(t, driver, "the end of the lease", func(s store.Snapshot) bool { return len(s.Leases) == 0 })
			waitForSnapshot(t, driver, "a checkpoint that goes on", func(s store.Snapshot) bool {
				return len(s.Tasks) == 0 || s.Tasks[0].State == store.Running
			})
			checkLatencies(t, driver)
		})
	}
}

// checkTimeLeft checks that no more of a lease is gone than time has passed since it was asked for. If that is all of it, it may be gone.
func checkTimeLeft(t *testing.T, driver store.Driver, given store.Lease, askedAt time.Time) {
	t.Helper()
	leases := snapshotOf(t, driver).Leases
	atLeast := given.TimeLeft - time.Since(askedAt)
	i := slices.IndexFunc(leases, func(l store.Lease) bool { return l.Setting == given.Setting })
	if i < 0 {
		if atLeast > 0 {
			t.Errorf("the lease is gone %v before its time", atLeast)
		}
		return
	}
	if left := leases[i].TimeLeft; left < atLeast || left > given.TimeLeft {
		t.Errorf("%v of the lease are left, not between %v and %v", left, atLeast, given.TimeLeft)
	}
}
