package postgres_test

import (
	"testing"

	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/postgres"
	"sluice.dev/control/tests/postgres/server"
)

// checkEveryCall checks that each call of a driver fails in the same way.
func checkEveryCall(t *testing.T, driver store.Driver, code store.Code, message, hint string) {
	t.Helper()
	_, err := driver.Describe(t.Context())
	checkFailure(t, err, code, message, hint)
	checkEveryOrder(t, driver, code, message, hint)
	_, err = driver.Snapshot(t.Context())
	checkFailure(t, err, code, message, hint)
}

func checkEveryOrder(t *testing.T, driver store.Driver, code store.Code, message, hint string) {
	t.Helper()
	_, err := driver.Set(t.Context(), checkpointOrder(store.Hold, 0))
	checkFailure(t, err, code, message, hint)
	_, err = driver.Clear(t.Context(), store.Selection{Owner: "policy/test"})
	checkFailure(t, err, code, message, hint)
	checkFailure(t, driver.Start(t.Context(), checkpointOrder(store.RateBytesPerSecond, 1e6)), code, message, hint)
}

func TestServersThatTheDriverCannotUse(t *testing.T) {
	s := startPrimary(t, nil)
	s.Execute(t, "CREATE ROLE nobody_special LOGIN", "CREATE ROLE no_login NOLOGIN", "CREATE DATABASE bare")

	t.Run("a role without rights", func(t *testing.T) {
		driver := openDriver(t, s, func(c *postgres.Config) { c.User = "nobody_special" })
		if _, err := driver.Describe(t.Context()); err != nil {
			t.Errorf("what there is may be asked by anybody: %v", err)
		}
		checkEveryOrder(t, driver, store.CodeForbidden, "permission denied", "pg_checkpoint and pg_monitor")
		_, err := driver.Snapshot(t.Context())
		checkFailure(t, err, store.CodeForbidden, "permission denied", "pg_checkpoint and pg_monitor")
	})
	t.Run("a role that may only read", func(t *testing.T) {
		s.Execute(t, "CREATE ROLE reader LOGIN IN ROLE pg_monitor")
		driver := openDriver(t, s, func(c *postgres.Config) { c.User = "reader" })
		snapshotOf(t, driver)
		checkEveryOrder(t, driver, store.CodeForbidden, "permission denied", "pg_checkpoint and pg_monitor")
	})
	t.Run("a role that may not log in", func(t *testing.T) {
		driver := openDriver(t, s, func(c *postgres.Config) { c.User = "no_login" })
		checkEveryCall(t, driver, store.CodeForbidden, "not permitted to log in", "docs/agent-postgres.md")
	})
	t.Run("no such role", func(t *testing.T) {
		driver := openDriver(t, s, func(c *postgres.Config) { c.User = "missing" })
		checkEveryCall(t, driver, store.CodeForbidden, `role "missing" does not exist`, "docs/agent-postgres.md")
	})
	t.Run("no such database", func(t *testing.T) {
		driver := openDriver(t, s, func(c *postgres.Config) { c.Database = "missing" })
		checkEveryCall(t, driver, store.CodeNotFound, `database "missing" does not exist`, "configuration")
	})
	t.Run("a database without the extension", func(t *testing.T) {
		driver := openDriver(t, s, func(c *postgres.Config) { c.Database = "bare" })
		checkEveryCall(t, driver, store.CodeUnsupported, `"bare" has no extension`, "CREATE EXTENSION sluice")
	})
	t.Run("the extension is dropped and comes back", func(t *testing.T) {
		driver := openDriver(t, s, nil)
		snapshotOf(t, driver)
		s.Execute(t, "DROP EXTENSION sluice")
		checkEveryCall(t, driver, store.CodeUnsupported, "", "CREATE EXTENSION sluice")
		s.Execute(t, "CREATE EXTENSION sluice")
		snapshotOf(t, driver)
	})
	t.Run("another version of the extension", func(t *testing.T) {
		s.Execute(t, "UPDATE pg_extension SET extversion = '2.1' WHERE extname = 'sluice'")
		checkEveryCall(t, openDriver(t, s, nil), store.CodeIncompatible, "version 2.1", "ALTER EXTENSION sluice UPDATE")
	})
}

func TestServerWithoutTheLibrary(t *testing.T) {
	s := server.StartPlain(t)
	// Settings of a library that is not loaded do not make it look loaded.
	s.Configure(t, server.Settings{"sluice.max_time_to_live": "60s"})
	s.Stop(t)
	s.Start(t)
	s.Execute(t, "CREATE EXTENSION sluice", "CREATE ROLE sluice_agent LOGIN", "GRANT pg_checkpoint, pg_monitor TO sluice_agent")
	driver := openDriver(t, s, nil)
	checkEveryCall(t, driver, store.CodeUnsupported, `not loaded the library "sluice"`, "shared_preload_libraries")
}

func TestServerThatIsRestartedUnderTheDriver(t *testing.T) {
	for name, end := range map[string]func(*server.Server, testing.TB){
		"stopped": (*server.Server).Stop, "killed": (*server.Server).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			s := startPrimary(t, nil)
			driver := openDriver(t, s, nil)
			set(t, driver, checkpointOrder(store.Hold, 0))
			end(s, t)
			server.WaitUntil(t, "the last process of the server to be gone", func() bool {
				_, err := driver.Snapshot(t.Context())
				return err != nil
			})
			checkEveryCall(t, driver, store.CodeUnavailable, "", "")
			s.Start(t)
			var snapshot store.Snapshot
			server.WaitUntil(t, "the driver to recover", func() bool {
				var err error
				snapshot, err = driver.Snapshot(t.Context())
				return err == nil
			})
			if len(snapshot.Leases) != 0 {
				t.Errorf("got %+v, but no lease outlives the server", snapshot.Leases)
			}
			set(t, driver, checkpointOrder(store.Hold, 0))
		})
	}
}
