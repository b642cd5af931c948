package controller

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/protobuf/proto"

	"sluice.dev/control/internal/election"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

type testClock struct {
	mutex sync.Mutex
	time  time.Time
}

func (c *testClock) now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.time
}

func (c *testClock) advance(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.time = c.time.Add(d)
}

// testElector is active or not as the test says.
type testElector struct {
	mutex   sync.Mutex
	state   election.State
	changed chan struct{}
}

func (e *testElector) Run(ctx context.Context)  { <-ctx.Done() }
func (e *testElector) Changed() <-chan struct{} { return e.changed }

func (e *testElector) State() election.State {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.state
}

func (e *testElector) set(state election.State) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.state = state
}

// memoryAgent is the agent of a node with stores in memory, which keep leases and let them run out.
type memoryAgent struct {
	sluicev1.AgentServiceClient
	clock *testClock
	node  string

	mutex      sync.Mutex
	connection connectivity.State
	instances  map[string]*memoryStore
	failure    error
	// beforeAnswer is called for each request, with the lock not held.
	beforeAnswer func(context.Context)
	// signalsAge is that of the node's signals.
	signalsAge time.Duration
	devices    []policy.DeviceSignals
	// clients are what clients on the node tell.
	clients  []policy.ClientLatencies
	asked    int
	isClosed bool
	// failWrites loses orders for leases.
	failWrites bool
	// steered receives each exchange that is begun; without it there are none, as with an older agent.
	steered chan *memoryExchange
}

type memoryStore struct {
	// age is that of the snapshot; problem why there is no newer one.
	age     time.Duration
	problem string
	// isSilent says that the store has never answered, isTwice that the agent names it twice.
	isSilent, isTwice bool
	leases            []memoryLease
	latencies         []store.Latency
	scopeLatencies    []store.ScopeLatency
	// sharesCache says that its cache is one for all scopes.
	sharesCache bool
	figures     map[string]float64
	started     int
}

type memoryLease struct {
	store.Lease
	until time.Time
}

func (s *memoryStore) cacheSettings() []store.SettingName {
	if s.sharesCache {
		return []store.SettingName{store.ReservedBytes, store.AddedBytes}
	}
	return []store.SettingName{store.ReservedBytes}
}

func (a *memoryAgent) State() connectivity.State { return a.connection }

func (a *memoryAgent) Close() error {
	a.isClosed = true
	return nil
}

func (a *memoryAgent) answer(ctx context.Context) error {
	if a.beforeAnswer != nil {
		a.beforeAnswer(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return a.failure
}

func (a *memoryAgent) GetSnapshot(
	ctx context.Context, _ *sluicev1.GetSnapshotRequest, _ ...grpc.CallOption,
) (*sluicev1.GetSnapshotResponse, error) {
	if err := a.answer(ctx); err != nil {
		return nil, err
	}
	a.mutex.Lock()
	a.asked++
	a.mutex.Unlock()
	return a.snapshot(), nil
}

func (a *memoryAgent) snapshot() *sluicev1.GetSnapshotResponse {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	now := a.clock.now()
	snapshot := wire.NodeSnapshot{
		Node: a.node, Version: "test",
		Signals: policy.NodeSignals{SampledAt: now.Add(-a.signalsAge), CPUUsed: 0.5, Devices: a.devices},
	}
	for _, clients := range a.clients {
		clients.TakenAt = now
		snapshot.Clients = append(snapshot.Clients, clients)
	}
	for name, instance := range a.instances {
		if !instance.isSilent {
			snapshot.Descriptions = append(snapshot.Descriptions, store.Description{
				Store: "reference", Instance: name, StoreVersion: "1", PluginVersion: "1", MaxTimeToLive: time.Minute,
				Capabilities: []store.Capability{
					{Kind: store.Compaction, CanStart: true, Settings: []store.SettingName{store.RateBytesPerSecond}},
					{Kind: store.Cache, Settings: instance.cacheSettings()},
					{Kind: store.Requests, Settings: []store.SettingName{store.RateOperationsPerSecond}},
				},
			})
		}
		taken := store.Snapshot{
			TakenAt: now.Add(-instance.age), Latencies: instance.latencies, ScopeLatencies: instance.scopeLatencies,
			Figures: instance.figures,
		}
		for _, lease := range instance.leases {
			if lease.until.After(now) {
				lease.TimeLeft = lease.until.Sub(now)
				taken.Leases = append(taken.Leases, lease.Lease)
			}
		}
		shown := wire.InstanceSnapshot{
			Ref:      policy.Ref{Node: a.node, Store: "reference", Instance: name},
			Snapshot: taken, Problem: instance.problem,
		}
		snapshot.Instances = append(snapshot.Instances, shown)
		if instance.isTwice {
			snapshot.Instances = append(snapshot.Instances, shown)
		}
	}
	return wire.EncodeNodeSnapshot(snapshot, now)
}

func (a *memoryAgent) SetLease(
	ctx context.Context, request *sluicev1.SetLeaseRequest, _ ...grpc.CallOption,
) (*sluicev1.SetLeaseResponse, error) {
	if err := a.answer(ctx); err != nil {
		return nil, err
	}
	if a.failWrites {
		return nil, errGone
	}
	ref, order, err := wire.DecodeSetLease(a.node, request)
	if err != nil {
		return nil, err
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	lease := store.Lease{
		Kind: order.Kind, Scope: order.Scope, Setting: order.Setting, Owner: order.Owner, TimeLeft: order.TimeToLive,
	}
	instance := a.instances[ref.Instance]
	instance.leases = slices.DeleteFunc(instance.leases, func(known memoryLease) bool {
		return known.Kind == order.Kind && known.Scope == order.Scope
	})
	instance.leases = append(instance.leases, memoryLease{lease, a.clock.now().Add(order.TimeToLive)})
	return &sluicev1.SetLeaseResponse{Lease: wire.EncodeLease(lease)}, nil
}

func (a *memoryAgent) StartTask(
	ctx context.Context, request *sluicev1.StartTaskRequest, _ ...grpc.CallOption,
) (*sluicev1.StartTaskResponse, error) {
	if err := a.answer(ctx); err != nil {
		return nil, err
	}
	ref, _, err := wire.DecodeStartTask(a.node, request)
	if err != nil {
		return nil, err
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.instances[ref.Instance].started++
	return &sluicev1.StartTaskResponse{}, nil
}

// lease is the lease in force on an instance, nil if there is none.
func (a *memoryAgent) lease(instance string) *store.Lease { return a.leaseOn(instance, "") }

// leaseOn is a lease on a kind, or on any.
func (a *memoryAgent) leaseOn(instance string, kind store.Kind) *store.Lease {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, lease := range a.instances[instance].leases {
		if lease.until.After(a.clock.now()) && (kind == "" || lease.Kind == kind) {
			lease.TimeLeft = lease.until.Sub(a.clock.now())
			return &lease.Lease
		}
	}
	return nil
}

// decideFunc is a policy.
type decideFunc func(policy.View, policy.Target, policy.Memory) (policy.Decision, policy.Memory)

func (f decideFunc) Decide(v policy.View, t policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
	return f(v, t, m)
}

// steady wants a rate.
func steady(rate float64) decideFunc {
	return func(_ policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
		setting := store.Setting{Name: store.RateBytesPerSecond, Number: rate}
		return policy.SettingFor(target, setting, "steady", map[string]float64{"rate_bytes_per_second": rate}), memory
	}
}

// world is a controller with agents in memory, whose periods the test runs.
type world struct {
	*Controller
	t       *testing.T
	clock   *testClock
	elector *testElector
	agents  map[string]*memoryAgent
	// isTimed has the time for requests be over. Else agents in memory may take as long as a busy machine lets them.
	isTimed bool
}

func (w *world) limit(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if w.isTimed {
		return context.WithTimeout(ctx, most)
	}
	return context.WithTimeout(ctx, testDeadline)
}

var errGone = errors.New("connection refused")

// newWorld has nodes n1 and n2 with an instance "main" each, and a policy "p" that wants 5 MB/s.
func newWorld(t *testing.T, change func(*Config)) *world {
	t.Helper()
	w := &world{
		t: t, clock: &testClock{time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		elector: &testElector{state: election.State{Active: true, Leader: "c1"}, changed: make(chan struct{}, 1)},
		agents:  make(map[string]*memoryAgent),
	}
	config := defaultConfig()
	config.Cluster, config.Name = "test", "c1"
	config.Agents = []Agent{{"n1", "n1:7411"}, {"n2", "n2:7411"}}
	config.Policies = []Policy{{
		Name: "p", Type: "script", Targets: Targets{Store: "reference", Kind: "compaction"},
		Parameters: map[string]any{"source": "def decide(view):\n    return {'setting': 'full', 'reason': 'test'}\n"},
	}}
	if change != nil {
		change(&config)
	}
	made, err := newController(config, dependencies{
		log: slog.New(slog.DiscardHandler), now: w.clock.now, dial: w.dial, elector: w.elector, metrics: newMetrics(), limit: w.limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Controller = made
	w.use(steady(5e6))
	return w
}

func (w *world) dial(agent Agent) (agentConnection, error) {
	made := &memoryAgent{
		clock: w.clock, node: agent.Node, connection: connectivity.Ready,
		instances: map[string]*memoryStore{"main": {}},
	}
	w.agents[agent.Node] = made
	return made, nil
}

// use puts a policy of the test in place of the first one of the configuration.
func (w *world) use(decider policy.Policy) {
	w.policies[0].decider = decider
}

// step runs a period, a second after the last one, and gives its decisions.
func (w *world) step() []*sluicev1.Decision {
	w.clock.advance(time.Second)
	before := w.decisions.newest()
	w.period(w.t.Context())
	made, _ := w.decisions.after(before, keptDecisions)
	return made
}

// about gives the decision about the instance main of a node.
func about(t *testing.T, decisions []*sluicev1.Decision, node string) *sluicev1.Decision {
	t.Helper()
	for _, decision := range decisions {
		if decision.GetNode() == node && decision.GetRef().GetInstance() == "main" {
			return decision
		}
	}
	t.Fatalf("there is no decision about %s/main among %v", node, decisions)
	return nil
}

// memoryExchange is an exchange with an agent whose side the test plays.
type memoryExchange struct {
	grpc.ClientStream
	ctx       context.Context
	requests  chan *sluicev1.SteerRequest
	responses chan *sluicev1.SteerResponse
	failures  chan error
}

func (a *memoryAgent) Steer(
	ctx context.Context, _ ...grpc.CallOption,
) (grpc.BidiStreamingClient[sluicev1.SteerRequest, sluicev1.SteerResponse], error) {
	if a.steered == nil {
		return nil, store.Errorf(store.CodeUnsupported, "unknown method Steer")
	}
	begun := &memoryExchange{
		ctx: ctx, requests: make(chan *sluicev1.SteerRequest, 10), responses: make(chan *sluicev1.SteerResponse),
		failures: make(chan error),
	}
	a.steered <- begun
	return begun, nil
}

func (x *memoryExchange) Send(request *sluicev1.SteerRequest) error {
	select {
	case x.requests <- request:
		return nil
	case <-x.ctx.Done():
		return x.ctx.Err()
	}
}

func (x *memoryExchange) Recv() (*sluicev1.SteerResponse, error) {
	return nil, errors.New("this exchange gives messages as they come")
}

func (x *memoryExchange) RecvMsg(message any) error {
	encoded, isEncoded := message.(*protocol.Encoded)
	if !isEncoded {
		return errors.New("this exchange gives messages as they come")
	}
	select {
	case response := <-x.responses:
		bytes, err := proto.Marshal(response)
		*encoded = bytes
		return err
	case err := <-x.failures:
		return err
	case <-x.ctx.Done():
		return x.ctx.Err()
	}
}
