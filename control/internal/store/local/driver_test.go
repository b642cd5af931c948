package local_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/local"
	"sluice.dev/control/internal/store/storetest"
)

func hold(timeToLive time.Duration) store.Order {
	return store.Order{
		Kind: store.Compaction, Setting: store.Setting{Name: store.Hold}, Owner: "test", TimeToLive: timeToLive,
	}
}

func TestContract(t *testing.T) {
	// Its debt comes to no limit, at which it would end all leases.
	process := referencetest.Start(t, referencetest.Build(t), referencetest.SocketDirectory(t), "--limit-bytes", "1000000000000")
	storetest.Run(t, storetest.Subject{
		Open:        func(*testing.T) store.Driver { return local.Open(process.SocketPath) },
		Store:       "reference",
		Instance:    "main",
		Kind:        store.Compaction,
		Scope:       "orders",
		First:       store.Setting{Name: store.RateBytesPerSecond, Number: 5e6},
		Second:      store.Setting{Name: store.Hold},
		Unsupported: store.Setting{Name: store.Tier, Text: "ssd"},
	})
}

// A store that is killed takes its leases with it, and the driver finds the next one by itself.
func TestStoreIsKilledAndStartedAgain(t *testing.T) {
	binary, directory := referencetest.Build(t), referencetest.SocketDirectory(t)
	process := referencetest.Start(t, binary, directory)
	driver := local.Open(process.SocketPath)
	defer func() { _ = driver.Close() }()
	if _, err := driver.Set(t.Context(), hold(time.Minute)); err != nil {
		t.Fatal(err)
	}
	// The status is that of the signal.
	_ = process.Kill()

	_, err := driver.Snapshot(t.Context())
	if got := store.CodeOf(err); err == nil || got != store.CodeUnavailable {
		t.Fatalf("of a store that was killed: %v (%q)", err, got)
	}

	referencetest.Start(t, binary, directory)
	snapshot, err := driver.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("after the restart: %v", err)
	}
	if len(snapshot.Leases) > 0 {
		t.Errorf("leases have outlived the store: %+v", snapshot.Leases)
	}
	if _, err := driver.Set(t.Context(), hold(time.Minute)); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

func TestStoreThatIsNotThere(t *testing.T) {
	driver := local.Open(filepath.Join(t.TempDir(), "none.sock"))
	defer func() { _ = driver.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := driver.Describe(ctx)
	if got := store.CodeOf(err); err == nil || got != store.CodeUnavailable {
		t.Errorf("the code is %q: %v", got, err)
	}
}

func TestStart(t *testing.T) {
	process := referencetest.Start(t, referencetest.Build(t), referencetest.SocketDirectory(t), "--trigger-bytes", "1000000000000", "--limit-bytes", "1000000000000")
	driver := local.Open(process.SocketPath)
	defer func() { _ = driver.Close() }()
	order := hold(time.Minute)
	order.Scope = "orders"
	waitForDebt(t, driver, order.Scope)
	if err := driver.Start(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	snapshot, err := driver.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshot.Tasks) != 1 || snapshot.Tasks[0].Scope != order.Scope || len(snapshot.Leases) != 1 {
		t.Errorf("started with a hold, there are %+v under %+v", snapshot.Tasks, snapshot.Leases)
	}
	err = driver.Start(t.Context(), order)
	if got := store.CodeOf(err); err == nil || got != store.CodeRefused {
		t.Errorf("a second start: %v (%q)", err, got)
	}
	abortion := store.Abortion{Kind: store.Compaction, Task: snapshot.Tasks[0].ID, Owner: "test"}
	if err := driver.Abort(t.Context(), abortion); err != nil {
		t.Fatal(err)
	}
	order.Variant = store.Minor
	if err := driver.Start(t.Context(), order); err != nil {
		t.Errorf("a start of another variant after the abort: %v", err)
	}
}

func waitForDebt(t *testing.T, driver store.Driver, scope string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		snapshot, err := driver.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, debt := range snapshot.Debts {
			if debt.Scope == scope && debt.Bytes > 0 {
				return
			}
		}
		<-ticker.C
	}
}
