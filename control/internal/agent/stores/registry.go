package stores

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sluice.dev/control/internal/agent/leases"
	"sluice.dev/control/internal/store"
)

// Registry holds the instances of a node.
type Registry struct {
	period   time.Duration
	now      func() time.Time
	logger   *slog.Logger
	restored func(error)

	// instances is never changed, but replaced by another, in the order of their names.
	instances atomic.Pointer[[]*Instance]

	mutex   sync.Mutex
	running map[Ref]runningInstance
	// keepers outlive an instance that is gone for long, as its leases would.
	keepers map[Ref]*leases.Keeper
	loops   sync.WaitGroup
}

// maxGone is how many stores that are gone are shown at most. It bounds what programs of short lives can
// cause, each with a store of its own, and keeps a node below what controllers take.
const maxGone = 256

type runningInstance struct {
	*Instance
	stop context.CancelFunc
}

// NewRegistry makes a Registry without instances. The clock must never jump; restored is told of each
// lease that was given to a restarted store again, or why it could not be.
func NewRegistry(period time.Duration, now func() time.Time, logger *slog.Logger, restored func(error)) *Registry {
	r := &Registry{
		period: period, now: now, logger: logger, restored: restored,
		running: make(map[Ref]runningInstance), keepers: make(map[Ref]*leases.Keeper),
	}
	r.instances.Store(new([]*Instance))
	return r
}

// Instances are those that there are, in the order of their names; nobody may change the slice.
func (r *Registry) Instances() []*Instance {
	return *r.instances.Load()
}

// States are what is known of each instance, in the order of their names.
func (r *Registry) States() []*State {
	instances := r.Instances()
	states := make([]*State, len(instances))
	for i, instance := range instances {
		states[i] = instance.State()
	}
	return states
}

// Find returns the instance of a name.
func (r *Registry) Find(ref Ref) (*Instance, error) {
	instances := r.Instances()
	for _, instance := range instances {
		if instance.source.Ref == ref {
			return instance, nil
		}
	}
	return nil, store.Errorf(store.CodeNotFound, "there is no store %s on this node", ref).
		WithHint("There are: %s.", names(instances))
}

// Clear ends leases of an instance before their time, and returns how many. Of one that is gone they are still
// remembered: they are not given again either, should it come back.
func (r *Registry) Clear(ctx context.Context, ref Ref, selection store.Selection) (int, error) {
	instance, err := r.Find(ref)
	if err == nil {
		return instance.Clear(ctx, selection)
	}
	if keeper := r.keeperOf(ref); keeper != nil {
		if forgetErr := keeper.Forget(ctx, selection); forgetErr != nil {
			return 0, forgetErr
		}
	}
	return 0, err
}

func (r *Registry) keeperOf(ref Ref) *leases.Keeper {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.keepers[ref]
}

func names(instances []*Instance) string {
	refs := make([]string, len(instances))
	for i, instance := range instances {
		refs[i] = instance.source.Ref.String()
	}
	return join(refs)
}

// Update starts to look after the sources that are new, and gives up those that are no longer there once
// their last snapshot is no longer shown. The loops that it starts end with the context, or with Wait.
func (r *Registry) Update(ctx context.Context, sources []Source) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	present := make(map[Ref]bool, len(sources))
	for _, source := range sources {
		present[source.Ref] = true
		if _, known := r.running[source.Ref]; !known {
			r.start(ctx, source)
		}
	}
	r.stopGone(present)
	r.forgetKeepers()
	r.publish()
}

// stopGone gives up the stores that are not present and no longer shown, and those that are gone for
// longest where there are too many.
func (r *Registry) stopGone(present map[Ref]bool) {
	var gone []*State
	for ref, instance := range r.running {
		if !present[ref] {
			gone = append(gone, instance.State())
		}
	}
	slices.SortFunc(gone, func(a, b *State) int { return b.SeenAt.Compare(a.SeenAt) })
	for i, state := range gone {
		if i < maxGone && state.IsShown(r.now()) {
			continue
		}
		r.logger.Info("a store is gone", "store", state.Ref.Store, "instance", state.Ref.Instance)
		r.running[state.Ref].stop()
		delete(r.running, state.Ref)
	}
}

// Wait returns when all loops have ended.
func (r *Registry) Wait() {
	r.loops.Wait()
}

func (r *Registry) start(ctx context.Context, source Source) {
	ref := source.Ref
	if r.keepers[ref] == nil {
		r.keepers[ref] = leases.NewKeeper(r.now)
	}
	instance := &Instance{
		source: source, period: r.period, now: r.now, keeper: r.keepers[ref], restored: r.restored,
		logger: r.logger.With("store", ref.Store, "instance", ref.Instance),
	}
	instance.state.Store(&State{Ref: ref, Problem: "it has not been asked yet", SeenAt: r.now(), Period: r.period})
	loop, stop := context.WithCancel(ctx)
	r.running[ref] = runningInstance{instance, stop}
	r.loops.Go(func() { instance.run(loop) })
}

func (r *Registry) forgetKeepers() {
	for ref, keeper := range r.keepers {
		if _, isRunning := r.running[ref]; !isRunning && keeper.IsIdle() {
			delete(r.keepers, ref)
		}
	}
}

func (r *Registry) publish() {
	instances := make([]*Instance, 0, len(r.running))
	for _, instance := range r.running {
		instances = append(instances, instance.Instance)
	}
	slices.SortFunc(instances, func(a, b *Instance) int {
		return strings.Compare(a.source.Ref.String(), b.source.Ref.String())
	})
	r.instances.Store(&instances)
}
