// Package postgres_test tests the driver for PostgreSQL against real servers. It needs a build: see
// server.HomeVariable. Without one its tests fail.
package postgres_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/postgres"
	"sluice.dev/control/internal/store/storetest"
	"sluice.dev/control/tests/postgres/server"
)

// agentRole is the role as docs/agent-postgres.md makes it.
var agentRole = []string{
	"CREATE ROLE sluice_agent LOGIN",
	"GRANT pg_checkpoint, pg_monitor TO sluice_agent",
	"ALTER ROLE sluice_agent SET sluice.statement_latency = off",
}

// startPrimary starts a server with the agent's role.
func startPrimary(t *testing.T, settings server.Settings) *server.Server {
	t.Helper()
	s := server.StartPrimary(t, settings)
	s.Execute(t, agentRole...)
	return s
}

func openDriver(t *testing.T, s *server.Server, change func(*postgres.Config)) *postgres.Driver {
	t.Helper()
	config := postgres.Config{Instance: "main", SocketDirectory: s.SocketDirectory()}
	if change != nil {
		change(&config)
	}
	driver, err := postgres.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := driver.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return driver
}

func snapshotOf(t *testing.T, driver store.Driver) store.Snapshot {
	t.Helper()
	snapshot, err := driver.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	return snapshot
}

// waitForSnapshot returns the first snapshot that meets a condition.
func waitForSnapshot(t *testing.T, driver store.Driver, what string, condition func(store.Snapshot) bool) store.Snapshot {
	t.Helper()
	var snapshot store.Snapshot
	server.WaitUntil(t, what, func() bool {
		snapshot = snapshotOf(t, driver)
		return condition(snapshot)
	})
	return snapshot
}

// hasTask is the condition that there is one task, in a state.
func hasTask(state store.State) func(store.Snapshot) bool {
	return func(s store.Snapshot) bool { return len(s.Tasks) == 1 && s.Tasks[0].State == state }
}

func checkpointOrder(name store.SettingName, number float64) store.Order {
	return store.Order{
		Kind: store.Checkpoint, Setting: store.Setting{Name: name, Number: number},
		Owner: "policy/test", TimeToLive: 5 * time.Minute,
	}
}

func set(t *testing.T, driver store.Driver, order store.Order) store.Lease {
	t.Helper()
	lease, err := driver.Set(t.Context(), order)
	if err != nil {
		t.Fatalf("set %v: %v", order.Setting, err)
	}
	return lease
}

func start(t *testing.T, driver store.Driver, order store.Order) {
	t.Helper()
	if err := driver.Start(t.Context(), order); err != nil {
		t.Fatalf("start with %v: %v", order.Setting, err)
	}
}

func clear(t *testing.T, driver store.Driver, owner string, expected int) {
	t.Helper()
	cleared, err := driver.Clear(t.Context(), store.Selection{Owner: owner})
	if err != nil || cleared != expected {
		t.Fatalf("clear %s: got %d, %v, want %d", owner, cleared, err, expected)
	}
}

func TestDescribe(t *testing.T) {
	s := startPrimary(t, server.Settings{"sluice.max_time_to_live": "90s"})
	description, err := openDriver(t, s, nil).Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	version := strings.Fields(s.Run(t, "postgres", "--version"))[2]
	if description.Store != "postgres" || description.Instance != "main" || description.StoreVersion != version ||
		description.PluginVersion != "1.0" || description.MaxTimeToLive != 90*time.Second {
		t.Errorf("got %+v, want version %s", description, version)
	}
	if len(description.Capabilities) != 1 || description.Capabilities[0].Kind != store.Checkpoint || !description.Capabilities[0].CanStart {
		t.Errorf("got capabilities %+v", description.Capabilities)
	}
}

func TestSnapshotOfAnIdleServer(t *testing.T) {
	s := startPrimary(t, server.Settings{"max_wal_size": "512MB", "checkpoint_completion_target": "0"})
	before := time.Now()
	snapshot := snapshotOf(t, openDriver(t, s, nil))
	if snapshot.TakenAt.Before(before) || snapshot.TakenAt.After(time.Now()) {
		t.Errorf("taken at %v, not during the call", snapshot.TakenAt)
	}
	if len(snapshot.Tasks) != 0 || len(snapshot.Leases) != 0 {
		t.Errorf("got tasks %+v and leases %+v, want none", snapshot.Tasks, snapshot.Leases)
	}
	if len(snapshot.Debts) != 1 {
		t.Fatalf("got debts %+v, want one", snapshot.Debts)
	}
	debt := snapshot.Debts[0]
	if debt.LimitBytes != 512<<20 || debt.TriggerBytes <= debt.Bytes || debt.TriggerBytes > debt.LimitBytes {
		t.Errorf("got debt %+v, want a trigger between it and the limit of 512 MiB", debt)
	}
	if debt.EstimatedRecovery >= 0 {
		t.Errorf("recovery would take %v, but this server has never replayed WAL", debt.EstimatedRecovery)
	}
	if left := snapshot.Figures["wal_to_bound_bytes"]; left != float64(debt.LimitBytes-debt.Bytes) {
		t.Errorf("got %v bytes to the bound, want limit less debt of %+v", left, debt)
	}
}

// The driver's statements are no requests of clients: while nothing else is going on, none are counted.
func TestOwnStatementsAreNotCounted(t *testing.T) {
	s := startPrimary(t, server.Settings{"sluice.statement_latency_interval": "100ms"})
	s.Execute(t, "CREATE ROLE granted LOGIN IN ROLE pg_monitor",
		"GRANT SET ON PARAMETER sluice.statement_latency TO granted",
		"CREATE ROLE counted LOGIN IN ROLE pg_monitor")
	isQuiet := func(s store.Snapshot) bool {
		return len(s.Latencies) == 10 &&
			!slices.ContainsFunc(s.Latencies, func(l store.Latency) bool { return l.Count > 0 })
	}
	for _, role := range []string{"sluice_agent", "granted"} {
		driver := openDriver(t, s, func(c *postgres.Config) { c.User = role })
		waitForSnapshot(t, driver, "intervals without statements although "+role+" polls", isQuiet)
	}
	// The test can tell: a role without either is counted.
	counted := openDriver(t, s, func(c *postgres.Config) { c.User = "counted" })
	waitForSnapshot(t, counted, "a count of the driver's own statements", func(s store.Snapshot) bool {
		return slices.ContainsFunc(s.Latencies, func(l store.Latency) bool { return l.Count > 0 })
	})
}

func TestContract(t *testing.T) {
	s := startPrimary(t, nil)
	storetest.Run(t, storetest.Subject{
		Open:        func(t *testing.T) store.Driver { return openDriver(t, s, nil) },
		Store:       "postgres",
		Instance:    "main",
		Kind:        store.Checkpoint,
		First:       store.Setting{Name: store.RateBytesPerSecond, Number: 6e6},
		Second:      store.Setting{Name: store.Hold},
		Unsupported: store.Setting{Name: store.Concurrency, Number: 2},
	})
}
