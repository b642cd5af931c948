package stores

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/local"
)

// startRegistry runs a registry of short periods until the test ends.
func startRegistry(t *testing.T, now func() time.Time) (*Registry, func(sources ...Source)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	registry := NewRegistry(10*time.Millisecond, now, slog.New(slog.DiscardHandler), func(error) {})
	t.Cleanup(func() {
		cancel()
		registry.Wait()
	})
	return registry, func(sources ...Source) { registry.Update(ctx, sources) }
}

func refs(registry *Registry) []string {
	var names []string
	for _, instance := range registry.Instances() {
		names = append(names, instance.State().Ref.String())
	}
	return names
}

func TestHangingStoreDelaysNoOther(t *testing.T) {
	directory := referencetest.SocketDirectory(t)
	socket := filepath.Join(directory, "hanging", "a.sock")
	hang(t, socket)
	release := make(chan struct{})
	hanging := Source{Ref: Ref{"hanging", "a"}, Socket: socket, Open: func() (store.Driver, error) {
		<-release
		return local.Open(socket), nil
	}}
	serveReference(t, directory, "a")
	registry, update := startRegistry(t, time.Now)
	update(hanging, referenceSource(directory, "a"))

	stuck, err := registry.Find(hanging.Ref)
	if err != nil {
		t.Fatal(err)
	}
	well, err := registry.Find(Ref{"reference", "a"})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[*store.Snapshot]bool)
	eventually(t, "ten snapshots of the store that answers", func() bool {
		if snapshot := well.State().Snapshot; snapshot != nil {
			seen[snapshot] = true
		}
		return len(seen) >= 10
	})
	if _, err := well.Set(context.Background(), hold(), time.Now()); err != nil {
		t.Error(err)
	}
	close(release)
	eventually(t, "the problem of the store that hangs", func() bool {
		return stuck.State().Failures > 0
	})
	if _, err := stuck.Set(context.Background(), hold(), time.Now()); store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("error %v, want unavailable", err)
	}
}

func TestStoreThatIsGoneIsShownForAMinute(t *testing.T) {
	directory := referencetest.SocketDirectory(t)
	clock := newClock()
	registry, update := startRegistry(t, clock.read)
	stop := serveReference(t, directory, "a")
	source := referenceSource(directory, "a")
	other := sourceAt(Ref{"hbase", "b"}, filepath.Join(directory, "hbase", "b.sock"))
	update(source, other)
	if got, want := refs(registry), []string{"hbase/b", "reference/a"}; !slices.Equal(got, want) {
		t.Errorf("instances %v, want %v", got, want)
	}
	gone, err := registry.Find(source.Ref)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a snapshot", func() bool { return gone.State().IsUp() })
	stop()
	eventually(t, "the loss of the store", func() bool { return !gone.State().IsUp() })

	clock.advance(shownFor - time.Second)
	update(other)
	if _, err := registry.Find(source.Ref); err != nil || !gone.State().IsShown(clock.read()) || gone.State().Snapshot == nil {
		t.Errorf("the store is no longer shown: %v", err)
	}
	clock.advance(time.Second + registry.period)
	update(other)
	if _, err := registry.Find(source.Ref); store.CodeOf(err) != store.CodeNotFound {
		t.Errorf("error %v, want not found", err)
	}
	if got, want := refs(registry), []string{"hbase/b"}; !slices.Equal(got, want) {
		t.Errorf("instances %v, want %v: one that is configured stays", got, want)
	}
}

// The longest period is as long as a store is shown that does not answer.
func TestStoreIsShownUntilItsNextSnapshot(t *testing.T) {
	directory := referencetest.SocketDirectory(t)
	serveReference(t, directory, "a")
	clock := newClock()
	instance := newInstance(referenceSource(directory, "a"), clock.read)
	instance.period = shownFor
	defer instance.disconnect()
	instance.step(context.Background())
	clock.advance(instance.period + time.Second)
	if !instance.State().IsShown(clock.read()) {
		t.Error("a store that answers is not shown while its next snapshot is taken")
	}
}

// Programs that come and go, each with a store of its own, would fill an agent for a minute.
func TestStoresThatAreGoneAreBounded(t *testing.T) {
	clock := newClock()
	registry, update := startRegistry(t, clock.read)
	directory := t.TempDir()
	var last Source
	for i := range maxGone + 10 {
		last = sourceAt(Ref{"s", fmt.Sprint(i)}, filepath.Join(directory, fmt.Sprint(i)))
		update(last)
		clock.advance(time.Millisecond)
	}
	update()
	if got := len(registry.Instances()); got != maxGone {
		t.Errorf("%d stores are shown, want %d", got, maxGone)
	}
	if _, err := registry.Find(last.Ref); err != nil {
		t.Errorf("the last one is not shown: %v", err)
	}
	if _, err := registry.Find(Ref{"s", "0"}); store.CodeOf(err) != store.CodeNotFound {
		t.Errorf("the first one is still shown: %v", err)
	}
}

// holdAndGo has a store that is held for five minutes, and is gone for two.
func holdAndGo(t *testing.T, clock *steppedClock, registry *Registry, update func(...Source), directory string) Source {
	t.Helper()
	stop := serveReference(t, directory, "a")
	source := referenceSource(directory, "a")
	update(source)
	instance, err := registry.Find(source.Ref)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a snapshot", func() bool { return instance.State().IsUp() })
	order := hold()
	order.TimeToLive = 5 * time.Minute
	if _, err := instance.Set(context.Background(), order, clock.read()); err != nil {
		t.Fatal(err)
	}
	stop()
	eventually(t, "the loss of the store", func() bool { return !instance.State().IsUp() })
	clock.advance(2 * time.Minute)
	update()
	if len(registry.Instances()) != 0 {
		t.Fatal("the store is still there")
	}
	return source
}

func TestClearingAStoreThatIsGoneForgetsItsLeases(t *testing.T) {
	clock := newClock()
	registry, update := startRegistry(t, clock.read)
	source := holdAndGo(t, clock, registry, update, referencetest.SocketDirectory(t))
	if _, err := registry.Clear(t.Context(), source.Ref, store.Selection{Owner: "policy/b"}); store.CodeOf(err) != store.CodeNotFound {
		t.Errorf("error %v, want not found", err)
	}
	if registry.keeperOf(source.Ref).IsIdle() {
		t.Error("the lease of another owner is forgotten")
	}
	if _, err := registry.Clear(t.Context(), source.Ref, store.Selection{Owner: "policy/a"}); store.CodeOf(err) != store.CodeNotFound {
		t.Errorf("error %v, want not found", err)
	}
	if !registry.keeperOf(source.Ref).IsIdle() {
		t.Error("the lease is remembered, and would be given again")
	}
}

func TestLeasesOutliveAStoreThatIsGoneForLong(t *testing.T) {
	directory := referencetest.SocketDirectory(t)
	clock := newClock()
	registry, update := startRegistry(t, clock.read)
	source := holdAndGo(t, clock, registry, update, directory)
	serveReference(t, directory, "a")
	clock.advance(time.Second)
	update(source)
	again, err := registry.Find(source.Ref)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lease in the new process", func() bool {
		state := again.State()
		return state.IsUp() && len(state.Snapshot.Leases) == 1 && state.Snapshot.Leases[0].TimeLeft < 3*time.Minute
	})
}
