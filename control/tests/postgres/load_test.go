package postgres_test

import (
	"slices"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
	"sluice.dev/control/tests/postgres/server"
)

// Under load, a hold stops the checkpoint and nothing else: clients are served, and debt grows.
func TestHoldUnderLoad(t *testing.T) {
	s := startPrimary(t, server.Settings{"sluice.statement_latency_interval": "250ms"})
	s.Run(t, "pgbench", "--initialize", "--quiet", "--scale", "2")
	driver := openDriver(t, s, nil)
	s.StartProgram(t, "pgbench", "--client", "2", "--time", "300", "--no-vacuum")
	waitForSnapshot(t, driver, "a dirty server", func(s store.Snapshot) bool { return s.Debts[0].Bytes > 4<<20 })

	start(t, driver, checkpointOrder(store.RateBytesPerSecond, 65536))
	waitForSnapshot(t, driver, "a checkpoint that writes", func(s store.Snapshot) bool {
		return hasTask(store.Running)(s) && s.Tasks[0].BytesDone > 0
	})
	set(t, driver, checkpointOrder(store.Hold, 0))
	held := waitForSnapshot(t, driver, "a held checkpoint", hasTask(store.Held))
	later := waitForSnapshot(t, driver, "debt and time that pass meanwhile", func(s store.Snapshot) bool {
		return s.Debts[0].Bytes > held.Debts[0].Bytes+1<<20 && len(s.Tasks) == 1 && s.Tasks[0].Throttled > held.Tasks[0].Throttled
	})
	if !hasTask(store.Held)(later) || later.Tasks[0].BytesDone != held.Tasks[0].BytesDone {
		t.Errorf("held with %+v, then %+v", held.Tasks, later.Tasks)
	}
	if later.Tasks[0].Age <= held.Tasks[0].Age {
		t.Errorf("the held checkpoint does not age: %+v, then %+v", held.Tasks[0], later.Tasks[0])
	}
	checkLatencies(t, driver)

	clear(t, driver, "policy/test", 1)
	waitForSnapshot(t, driver, "a checkpoint that goes on", func(s store.Snapshot) bool {
		return len(s.Tasks) == 0 || s.Tasks[0].State == store.Running
	})
}

// checkLatencies waits for requests of both classes in each interval, and looks at their figures.
func checkLatencies(t *testing.T, driver store.Driver) {
	t.Helper()
	const interval = 250 * time.Millisecond
	latencies := waitForSnapshot(t, driver, "requests in each interval", func(s store.Snapshot) bool {
		return len(s.Latencies) == 10 &&
			!slices.ContainsFunc(s.Latencies, func(l store.Latency) bool { return l.Count == 0 })
	}).Latencies
	for i, l := range latencies {
		if want := []string{"read", "write"}[i%2]; l.Class != want {
			t.Errorf("row %d is of the class %q, want %q", i, l.Class, want)
		}
		if l.Interval != interval || l.Mean <= 0 || l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.P999 || l.P999 > l.Max {
			t.Errorf("got the latency %+v", l)
		}
		// The newest last, each a whole interval younger than the one before.
		if i >= 2 && (latencies[i-2].Age-l.Age).Round(time.Millisecond) != interval {
			t.Errorf("row %d is %v old, the one before it %v", i, l.Age, latencies[i-2].Age)
		}
	}
	if newest := latencies[len(latencies)-1].Age; newest < 0 {
		t.Errorf("the newest interval ends in %v", -newest)
	}
}
