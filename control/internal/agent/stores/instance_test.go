package stores

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice.dev/control/internal/agent/leases"
	"sluice.dev/control/internal/localprotocol/reference"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/local"
)

const patience = 2 * time.Minute

// steppedClock stands still until it is told to go on.
type steppedClock struct {
	mutex sync.Mutex
	now   time.Time
}

func newClock() *steppedClock {
	return &steppedClock{now: time.Now()}
}

func (c *steppedClock) read() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

func (c *steppedClock) advance(by time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = c.now.Add(by)
}

func newInstance(source Source, now func() time.Time) *Instance {
	instance := &Instance{
		source: source, period: time.Second, now: now, keeper: leases.NewKeeper(now),
		logger: slog.New(slog.DiscardHandler), restored: func(error) {},
	}
	instance.state.Store(&State{Ref: source.Ref, Problem: "it has not been asked yet", SeenAt: now()})
	return instance
}

// serveReference runs a reference store until the returned function is called, or the test ends.
func serveReference(t *testing.T, directory, instance string) (stop func()) {
	t.Helper()
	config := reference.DefaultConfig()
	config.Instance = instance
	made, err := reference.New(config, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- made.Serve(ctx, directory, slog.New(slog.DiscardHandler), func(string) { close(ready) })
	}()
	select {
	case <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func referenceSource(directory, instance string) Source {
	socket := filepath.Join(directory, reference.StoreName, instance+".sock")
	return sourceAt(Ref{reference.StoreName, instance}, socket)
}

func sourceAt(ref Ref, socket string) Source {
	return Source{Ref: ref, Socket: socket, Open: func() (store.Driver, error) { return local.Open(socket), nil }}
}

// hang makes a socket that accepts and never answers.
func hang(t *testing.T, socket string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("in vain waited for %s", what)
		}
	}
}

func TestInstanceFollowsTheStore(t *testing.T) {
	directory := referencetest.SocketDirectory(t)
	stop := serveReference(t, directory, "a")
	clock := newClock()
	instance := newInstance(referenceSource(directory, "a"), clock.read)
	defer instance.disconnect()

	instance.step(context.Background())
	up := instance.State()
	if !up.IsUp() || up.Description.Instance != "a" || len(up.Snapshot.Debts) == 0 {
		t.Fatalf("state %+v", up)
	}
	if _, err := instance.Set(context.Background(), hold(), clock.read()); err != nil {
		t.Fatal(err)
	}

	stop()
	clock.advance(time.Second)
	instance.step(context.Background())
	down := instance.State()
	if down.IsUp() || down.Snapshot != up.Snapshot || down.Failures != 1 {
		t.Errorf("state %+v", down)
	}
	if !strings.Contains(down.Problem, "socket cannot be found") {
		t.Errorf("problem %q", down.Problem)
	}
	_, err := instance.Set(context.Background(), hold(), clock.read())
	if store.CodeOf(err) != store.CodeUnavailable || !strings.Contains(err.Error(), "reference/a does not answer") {
		t.Errorf("error %v, want unavailable", err)
	}
	if !up.IsUp() {
		t.Error("a state that was published has changed")
	}

	serveReference(t, directory, "a")
	clock.advance(time.Second)
	instance.step(context.Background())
	again := instance.State()
	if !again.IsUp() || len(again.Snapshot.Leases) != 0 {
		t.Errorf("state %+v", again)
	}
	clock.advance(time.Second)
	instance.step(context.Background())
	leases := instance.State().Snapshot.Leases
	if len(leases) != 1 || leases[0].TimeLeft > time.Minute-2*time.Second {
		t.Errorf("leases after the restart: %v, want one with at most 58s left", leases)
	}
}

func hold() store.Order {
	return store.Order{
		Kind: store.Compaction, Setting: store.Setting{Name: store.Hold}, Owner: "policy/a", TimeToLive: time.Minute,
	}
}

func TestClearingAStoreOutOfReachForgetsItsLeases(t *testing.T) {
	directory := referencetest.SocketDirectory(t)
	stop := serveReference(t, directory, "a")
	clock := newClock()
	instance := newInstance(referenceSource(directory, "a"), clock.read)
	defer instance.disconnect()
	instance.step(context.Background())
	if _, err := instance.Set(context.Background(), hold(), clock.read()); err != nil {
		t.Fatal(err)
	}
	stop()
	clock.advance(time.Second)
	instance.step(context.Background())
	_, err := instance.Clear(context.Background(), store.Selection{Owner: "policy/a"})
	if store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("error %v, want unavailable", err)
	}
	if !instance.keeper.IsIdle() {
		t.Error("the lease is remembered")
	}
}

func TestFailingStoreIsAskedLessAndLessOften(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s", "a.sock")
	hang(t, socket)
	clock := newClock()
	var asked []time.Duration
	begun := clock.read()
	source := Source{Ref: Ref{"s", "a"}, Socket: socket, Open: func() (store.Driver, error) {
		asked = append(asked, clock.read().Sub(begun))
		return nil, errors.New("not today")
	}}
	instance := newInstance(source, clock.read)
	for range 20 {
		instance.step(context.Background())
		clock.advance(time.Second)
	}
	want := []time.Duration{0, 1, 3, 7, 12, 17}
	for i := range want {
		want[i] *= time.Second
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked after %v, want %v", asked, want)
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	hang(t, socket)
	instance.step(context.Background())
	if len(asked) != len(want)+1 {
		t.Errorf("another process was asked after %v", asked)
	}
}

func TestStoreThatIsAnotherThanItsSocketSays(t *testing.T) {
	directory := referencetest.SocketDirectory(t)
	serveReference(t, directory, "a")
	source := referenceSource(directory, "a")
	source.Ref = Ref{"rocksdb", "a"}
	instance := newInstance(source, time.Now)
	defer instance.disconnect()
	instance.step(context.Background())
	state := instance.State()
	if state.IsUp() || !strings.Contains(state.Problem, "says that it is reference/a, not rocksdb/a") {
		t.Errorf("state %+v", state)
	}
}

// The bound of PostgreSQL's leases changes with its configuration, and no restart.
func TestDescriptionIsAskedForFromTimeToTime(t *testing.T) {
	driver := goodReports()
	instance := newReportingInstance(t, driver)
	defer instance.disconnect()
	clock := newClock()
	instance.now = clock.read
	instance.step(context.Background())
	driver.description.MaxTimeToLive = time.Hour
	for _, want := range []time.Duration{time.Minute, time.Hour} {
		clock.advance(describePeriod / 2)
		instance.step(context.Background())
		if got := instance.State().Description.MaxTimeToLive; got != want {
			t.Errorf("the longest time to live is %v, want %v", got, want)
		}
	}
}
