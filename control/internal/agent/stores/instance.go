package stores

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"sluice.dev/control/internal/agent/discovery"
	"sluice.dev/control/internal/agent/leases"
	"sluice.dev/control/internal/store"
)

const (
	// callTimeout bounds each call to a store for its description, its snapshot and lost leases.
	callTimeout = 2 * time.Second
	// longestPause bounds the time between two attempts to reach a store that fails.
	longestPause = 5 * time.Second
	// describePeriod is how often a store that answers is asked what it is: settings that bound its leases may
	// change, and its plug-in be replaced, while it runs.
	describePeriod = time.Minute
)

// Instance is one instance of a store, with the loop that a Registry runs for it. Its exported methods are
// safe for concurrent use.
type Instance struct {
	source Source
	period time.Duration
	now    func() time.Time
	keeper *leases.Keeper
	logger *slog.Logger
	// restored is told of each lease that was given again, or could not be.
	restored func(error)
	state    atomic.Pointer[State]
	// connection is nil while the store cannot be reached.
	connection atomic.Pointer[connection]
	retry      retry
}

// connection is what orders need. It is replaced when the store has restarted.
type connection struct {
	leases.Session
	description store.Description
	describedAt time.Time
}

// retry is when a store that failed is asked again.
type retry struct {
	failures    uint
	notBefore   time.Time
	incarnation string
}

// State is what is known of the instance; nobody may change it.
func (i *Instance) State() *State {
	return i.state.Load()
}

// run takes a snapshot each period until its context ends.
func (i *Instance) run(ctx context.Context) {
	ticker := time.NewTicker(i.period)
	defer ticker.Stop()
	defer i.disconnect()
	for {
		i.step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// step takes a snapshot if it is time to. A store that fails is asked less and less often, but at once
// when another process has taken its place.
func (i *Instance) step(ctx context.Context) {
	incarnation, err := discovery.Incarnation(i.source.Socket)
	if err != nil {
		i.disconnect()
		i.fail(incarnation, fmt.Errorf("its socket cannot be found: %w", err))
		return
	}
	if incarnation == i.retry.incarnation && i.now().Before(i.retry.notBefore) {
		return
	}
	if err := i.observe(ctx, incarnation); err != nil && ctx.Err() == nil {
		i.fail(incarnation, err)
	}
}

// observe takes a snapshot of one process of the store, and gives it the leases that the one before has
// lost.
func (i *Instance) observe(ctx context.Context, incarnation string) error {
	connection, err := i.connect(ctx, incarnation)
	if err != nil {
		return err
	}
	begun := i.now()
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	snapshot, err := connection.Driver.Snapshot(limited)
	if err != nil {
		return err
	}
	// The answer is of this process only if no other has come in the meantime.
	if after, err := discovery.Incarnation(i.source.Socket); err != nil || after != incarnation {
		return store.Errorf(store.CodeUnavailable, "the store has stopped while it was asked for a snapshot")
	}
	if err := i.checkSnapshot(snapshot); err != nil {
		return err
	}
	i.publish(connection.description, snapshot, i.now().Sub(begun))
	i.reconcile(ctx, connection.Session, leases.Observation{Begun: begun, Leases: snapshot.Leases})
	return nil
}

// connect returns the connection to a process, a new one if there is none yet. After a failure, and from
// time to time, it asks for the description again: the store may have been upgraded.
func (i *Instance) connect(ctx context.Context, incarnation string) (*connection, error) {
	current := i.connection.Load()
	switch {
	case current == nil || current.Incarnation != incarnation:
		return i.open(ctx, incarnation)
	case i.retry.failures > 0, i.now().Sub(current.describedAt) >= describePeriod:
		return i.introduce(ctx, current.Session)
	}
	return current, nil
}

func (i *Instance) open(ctx context.Context, incarnation string) (*connection, error) {
	i.disconnect()
	driver, err := i.source.Open()
	if err != nil {
		return nil, err
	}
	return i.introduce(ctx, leases.Session{Driver: driver, Incarnation: incarnation})
}

// introduce lets orders through once the store has said what it is.
func (i *Instance) introduce(ctx context.Context, session leases.Session) (*connection, error) {
	description, err := i.describe(ctx, session.Driver)
	if err != nil {
		i.connection.Store(nil)
		i.close(session.Driver)
		return nil, err
	}
	next := &connection{session, description, i.now()}
	i.connection.Store(next)
	return next, nil
}

func (i *Instance) describe(ctx context.Context, driver store.Driver) (store.Description, error) {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	description, err := driver.Describe(limited)
	if err != nil {
		return store.Description{}, err
	}
	if is := (Ref{description.Store, description.Instance}); is != i.source.Ref {
		return store.Description{}, store.Errorf(store.CodeIncompatible, "the store at %s says that it is %s, not %s",
			i.source.Socket, is, i.source.Ref).
			WithHint("Have its plug-in listen on a socket named after the store and the instance.")
	}
	return description, checkDescription(description)
}

// disconnect closes the driver; calls that are under way through it fail.
func (i *Instance) disconnect() {
	if previous := i.connection.Swap(nil); previous != nil {
		i.close(previous.Driver)
	}
}

func (i *Instance) close(driver store.Driver) {
	if err := driver.Close(); err != nil {
		i.logger.Debug("the connection to the store was not closed well", "error", err)
	}
}

func (i *Instance) publish(description store.Description, snapshot store.Snapshot, took time.Duration) {
	previous := i.State()
	if !previous.IsUp() {
		i.logger.Info("the store answers", "store_version", description.StoreVersion,
			"plugin_version", description.PluginVersion)
	}
	i.logEnded(previous.Snapshot, snapshot)
	i.retry = retry{}
	i.state.Store(&State{
		Ref: i.source.Ref, Description: &description, Snapshot: &snapshot, SnapshotDuration: took,
		SeenAt: i.now(), Period: i.period, Failures: previous.Failures,
	})
}

// fail publishes why there is no newer snapshot, and puts the next attempt off: by one period after the
// first failure, by twice as long after each further one.
func (i *Instance) fail(incarnation string, err error) {
	i.retry.failures++
	pause := min(i.period<<min(i.retry.failures-1, 10), longestPause)
	i.retry.notBefore, i.retry.incarnation = i.now().Add(pause), incarnation
	next := *i.State()
	if next.Problem != err.Error() {
		i.logger.Warn("the store does not answer", "error", err)
	}
	next.Problem = err.Error()
	next.Failures++
	i.state.Store(&next)
}

func (i *Instance) reconcile(ctx context.Context, session leases.Session, seen leases.Observation) {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	restored, err := i.keeper.Reconcile(limited, session, seen)
	if err != nil {
		i.logger.Warn("leases were not compared with the store's", "error", err)
	}
	for _, lease := range restored {
		i.restored(lease.Err)
		i.logger.Log(ctx, levelOf(lease.Err), "a lease that the store had lost by a restart",
			"kind", lease.Order.Kind, "scope", lease.Order.Scope, "setting", lease.Order.Setting.String(),
			"owner", lease.Order.Owner, "given_again", lease.Err == nil, "error", lease.Err)
	}
}

func levelOf(err error) slog.Level {
	if err != nil {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}
