// Package simulator closes the loop around a policy: a model of a store and its device, a load, a
// channel that loses, delays, doubles and reorders messages, and the controller's arithmetic of leases.
// The clock is virtual and everything random comes from a seed, so that a run is the same each time.
//
// It is a model, and no proof of what a real store does. Its equations are in docs/policies/README.md.
package simulator

import (
	"math/rand/v2"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const owner = "policy/simulated"

// Span is a span of time since the start.
type Span struct {
	From, To time.Duration
}

func (s Span) holds(at time.Duration) bool {
	return at >= s.From && at < s.To
}

// Scenario is all that a run depends on. Times are taken in whole steps of 10 ms.
type Scenario struct {
	Seed     uint64
	Duration time.Duration
	// WarmUp is left out of the percentiles of the whole run.
	WarmUp time.Duration
	// BeginsAt is the wall clock at the begin; zero for the begin of 1970.
	BeginsAt time.Time
	Load     Load
	// IsNoisy lets arrivals and latencies vary; without it the model is exact.
	IsNoisy bool
	Device  Device
	// BaseLatency is that of a request on an idle device.
	BaseLatency time.Duration
	// Checkpoints or Compactions, one of them, is what the store does in the background.
	Checkpoints *Checkpoints
	Compactions *Compactions
	Channel     Channel
	// Policy is nil for the store by itself.
	Policy policy.Policy
	// Period, TimeToLive and Stale are the controller's; zero for 1, 5 and 3 s.
	Period, TimeToLive, Stale time.Duration
	// SnapshotPhase is when in a second snapshots are taken.
	SnapshotPhase time.Duration
	// ControllerDown are times without a controller; the one that comes afterwards remembers nothing.
	ControllerDown []Span
	// Cut are times in which every message is lost.
	Cut []Span
	// Signals gives the results of the policy's queries; nil for none.
	Signals func(at time.Duration) map[string]policy.Signal
}

// Step is a decision and what the store looked like when it was made.
type Step struct {
	At        time.Duration
	Decision  policy.Decision
	IsNews    bool
	DebtBytes float64
	// TaskBytesPerSecond is what background work has written in the last second.
	TaskBytesPerSecond float64
	// P99Seconds and RequestsPerSecond are of the last whole second; 0 in the first one.
	P99Seconds, RequestsPerSecond float64
}

// Result is what came of a run.
type Result struct {
	Steps []Step
	// P50Seconds and P99Seconds are of all requests after the warm-up, RequestCount is how many.
	P50Seconds, P99Seconds, RequestCount float64
	// MaxDebtShare is the highest debt over its limit; LimitReached how often it came to it.
	MaxDebtShare               float64
	LimitReached, TasksDone    int
	LeasesExpired, OrdersGiven int
}

// report is a snapshot on its way to the controller.
type report struct {
	takenAt  time.Duration
	snapshot store.Snapshot
	signals  policy.NodeSignals
}

// command is an order on its way to the store.
type command struct {
	setting store.Setting
	isStart bool
}

// run is a run in progress.
type run struct {
	Scenario
	store    *simulatedStore
	up       link[report]
	down     link[command]
	last     *report
	newest   time.Duration
	memory   policy.Memory
	wasDown  bool
	warmedUp int
	result   Result
}

// Run simulates a scenario from beginning to end.
func Run(scenario Scenario) Result {
	r := newRun(scenario)
	for now := time.Duration(0); now < r.Duration; now += stepLength {
		if now == r.WarmUp {
			r.warmedUp = len(r.store.latencies.all)
		}
		for _, order := range r.down.receive(now) {
			r.store.set(now, order.setting, r.TimeToLive, order.isStart)
		}
		r.store.step(now, r.Load(now))
		r.exchange(now)
		if now%r.Period == 0 {
			r.control(now)
		}
	}
	return r.finish()
}

func newRun(scenario Scenario) *run {
	r := &run{Scenario: scenario, newest: -1}
	r.Period = orDefault(r.Period.Truncate(stepLength), time.Second)
	r.WarmUp = r.WarmUp.Truncate(stepLength)
	r.TimeToLive = orDefault(r.TimeToLive, 5*time.Second)
	r.Stale = orDefault(r.Stale, 3*time.Second)
	if r.BeginsAt.IsZero() {
		r.BeginsAt = time.Unix(0, 0)
	}
	r.store = &simulatedStore{device: queue{Device: r.Device}, baseSeconds: r.BaseLatency.Seconds()}
	if r.Checkpoints != nil {
		r.store.work = &checkpointWork{Checkpoints: *r.Checkpoints}
	} else {
		r.store.work = &compactionWork{Compactions: *r.Compactions}
	}
	if r.IsNoisy {
		r.store.random = rand.New(rand.NewPCG(r.Seed, 2))
	}
	r.up = link[report]{Channel: r.Channel, random: rand.New(rand.NewPCG(r.Seed, 3))}
	r.down = link[command]{Channel: r.Channel, random: rand.New(rand.NewPCG(r.Seed, 4))}
	return r
}

func orDefault(given, otherwise time.Duration) time.Duration {
	if given == 0 {
		return otherwise
	}
	return given
}

func (r *run) isCut(now time.Duration) bool {
	return isIn(r.Cut, now)
}

func isIn(spans []Span, at time.Duration) bool {
	for _, span := range spans {
		if span.holds(at) {
			return true
		}
	}
	return false
}

// exchange sends a snapshot once a second and takes what has arrived. The controller goes by what came
// last, be it older than what came before.
func (r *run) exchange(now time.Duration) {
	if now%time.Second == r.SnapshotPhase && !r.isCut(now) {
		r.up.send(now, report{takenAt: now, snapshot: r.store.snapshot(now), signals: r.store.nodeSignals()})
	}
	for _, arrived := range r.up.receive(now) {
		r.last = &arrived
	}
}

// control is one period of the controller.
func (r *run) control(now time.Duration) {
	isDown := isIn(r.ControllerDown, now)
	if isDown && !r.wasDown {
		r.memory = nil
	}
	r.wasDown = isDown
	if r.Policy == nil || isDown || r.last == nil {
		return
	}
	target := r.target(now)
	decision := r.decide(now, target)
	latency := r.store.latencies.newest()
	r.result.Steps = append(r.result.Steps, Step{
		At: now, Decision: decision, IsNews: r.last.takenAt > r.newest,
		DebtBytes: float64(r.store.work.debt().Bytes), TaskBytesPerSecond: r.store.taskRate,
		P99Seconds: latency.P99.Seconds(), RequestsPerSecond: float64(latency.Count) / latencyInterval.Seconds(),
	})
	r.newest = max(r.newest, r.last.takenAt)
	setting := ordered(target, decision)
	if setting == nil || r.isCut(now) {
		return
	}
	r.result.OrdersGiven++
	r.down.send(now, command{setting: *setting, isStart: decision.Start})
}

// ordered is the setting that a decision gives or renews a lease with, nil for none.
func ordered(target policy.Target, decision policy.Decision) *store.Setting {
	switch {
	case decision.Verdict == policy.Stop:
		return nil
	case decision.Setting == nil && decision.Verdict == policy.Keep && target.Lease != nil:
		return &target.Lease.Setting
	default:
		return decision.Setting
	}
}

func (r *run) decide(now time.Duration, target policy.Target) policy.Decision {
	view := policy.View{Now: now, WallClock: r.BeginsAt.Add(now), Period: r.Period, Targets: []policy.Target{target}}
	if r.Signals != nil {
		view.Signals = r.Signals(now)
	}
	decision, memory := r.Policy.Decide(view, target, r.memory)
	r.memory = memory
	if !target.Fresh {
		return policy.StopFor(target, target.Missing)
	}
	return decision
}

func (r *run) target(now time.Duration) policy.Target {
	kind := r.store.work.kind()
	target := policy.Target{
		Ref:  policy.Ref{Node: "node1", Store: "simulated", Instance: "main"},
		Kind: kind, Age: now - r.last.takenAt, Snapshot: r.last.snapshot, NodeSignals: r.last.signals,
		NodeSignalsAge: now - r.last.takenAt,
		Description: store.Description{Store: "simulated", Instance: "main", Capabilities: []store.Capability{{
			Kind: kind, CanStart: true,
			Settings: []store.SettingName{store.RateBytesPerSecond, store.Hold, store.Full, store.Stock},
		}}},
	}
	target.Fresh = target.Age <= r.Stale
	if !target.Fresh {
		target.Missing = "the snapshot is stale"
	}
	for _, lease := range r.last.snapshot.Leases {
		if lease.TimeLeft -= target.Age; lease.TimeLeft > 0 {
			target.Lease = &lease
		}
	}
	return target
}

func (r *run) finish() Result {
	measured := r.store.latencies.all[r.warmedUp:]
	r.result.P50Seconds = measured.percentile(0.5)
	r.result.P99Seconds = measured.percentile(0.99)
	r.result.RequestCount = measured.count()
	r.result.MaxDebtShare = r.store.maxDebtShare
	r.result.LimitReached = r.store.limitReached
	r.result.TasksDone = r.store.tasksDone
	r.result.LeasesExpired = r.store.leasesExpired
	return r.result
}
