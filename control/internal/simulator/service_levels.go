package simulator

import (
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// Application is an object as it was declared, and how the application behaves in fact.
type Application struct {
	Object servicelevel.Object
	// Locality is the real one.
	Locality servicelevel.Locality
	// OperationsPerSecond is its load; all of it reads.
	OperationsPerSecond Load
}

// ServiceLevels is a scenario of a store with a cache that keeps reservations, on nodes that are alike, under a joint
// policy. Its equations are in docs/policies/README.md.
type ServiceLevels struct {
	Duration     time.Duration
	Applications []Application
	Nodes        int
	// ReservableBytes of cache of each node may be reserved. What is not reserved hits nothing.
	ReservableBytes float64
	// SharesCache says that the cache of a node is one for all applications, of OwnCacheBytes and what is added.
	SharesCache   bool
	OwnCacheBytes float64
	Costs         servicelevel.Costs
	Policy        policy.Joint
	// JoinsAfter is how long after it was asked for a node has joined, beside what its data takes to move; zero for
	// never. MostNodes bounds them.
	JoinsAfter time.Duration
	MostNodes  int
	// MoveBytesPerSecond is how fast data moves to a node that joins, from devices that each do DeviceBytesPerSecond; zero
	// for data that moves at once, and takes nothing from requests.
	MoveBytesPerSecond, DeviceBytesPerSecond float64
	// HasThrottle says whether an application is held to its load when that is asked for.
	HasThrottle bool
	// ControllerDown are times without a controller; the one that comes afterwards remembers nothing.
	ControllerDown []Span
	// Silent are times in which no snapshot arrives.
	Silent []Span
}

// Event is an action at a time.
type Event struct {
	At     time.Duration
	Object string
	Action servicelevel.Action
}

// ServiceLevelsResult is what came of such a run.
type ServiceLevelsResult struct {
	Events []Event
	// Seconds has what each application's target's statistic comes to, a number for each second of the run.
	Seconds map[string][]float64
	// MostReservedShare is the largest part of what may be reserved that was.
	MostReservedShare float64
	Nodes             int
	Statuses          []servicelevel.Status
}

const (
	serviceStore  = "simulated"
	servicePeriod = time.Second
	serviceTTL    = 5 * time.Second
	serviceStale  = 3 * time.Second
	// mostUtilisation keeps the queue of a device that has too much to do finite.
	mostUtilisation = 0.99
)

// serviceRun is such a run in progress.
type serviceRun struct {
	ServiceLevels
	nodes  []*cacheNode
	memory policy.Memory
	last   []policy.Target
	lastAt time.Duration
	// joins is when the node that was asked for will have joined; zero for none. They join one at a time.
	joins     time.Duration
	throttled map[string]bool
	wasDown   bool
	result    ServiceLevelsResult
}

// RunServiceLevels simulates a scenario from beginning to end, in steps of a second.
func RunServiceLevels(scenario ServiceLevels) ServiceLevelsResult {
	r := &serviceRun{
		ServiceLevels: scenario, throttled: map[string]bool{}, lastAt: -1,
		result: ServiceLevelsResult{Seconds: map[string][]float64{}},
	}
	for range scenario.Nodes {
		r.nodes = append(r.nodes, newCacheNode(len(r.nodes)+1))
	}
	for now := time.Duration(0); now < r.Duration; now += servicePeriod {
		r.join(now)
		r.serve(now)
		if !isIn(r.Silent, now) {
			r.last, r.lastAt = r.targets(now), now
		}
		r.control(now)
	}
	r.result.Nodes = len(r.nodes)
	return r.result
}

// join lets nodes join; each has its part of all data from then on, and nothing in its cache.
func (r *serviceRun) join(now time.Duration) {
	if r.joins == 0 || now < r.joins {
		return
	}
	r.joins = 0
	left := float64(len(r.nodes)) / float64(len(r.nodes)+1)
	for _, node := range r.nodes {
		node.loseShare(left)
	}
	r.nodes = append(r.nodes, newCacheNode(len(r.nodes)+1))
}

// beginJoin has a node join, unless one does already, or there is none.
func (r *serviceRun) beginJoin(now time.Duration) {
	if r.JoinsAfter == 0 || r.joins > 0 || len(r.nodes) >= r.MostNodes {
		return
	}
	r.joins = now + r.JoinsAfter
	if r.MoveBytesPerSecond == 0 {
		return
	}
	data := 0.0
	for _, application := range r.Applications {
		data += application.Object.Profile.DataBytes
	}
	seconds := data / float64(len(r.nodes)+1) / r.MoveBytesPerSecond
	r.joins += time.Duration(seconds * float64(time.Second))
}

// moveShare is the part of the time of each device that the data of a node that joins takes.
func (r *serviceRun) moveShare() float64 {
	if r.joins == 0 || r.MoveBytesPerSecond == 0 {
		return 0
	}
	return r.MoveBytesPerSecond / (float64(len(r.nodes)) * r.DeviceBytesPerSecond)
}

// serve is a second of requests.
func (r *serviceRun) serve(now time.Duration) {
	for _, node := range r.nodes {
		node.expire(now)
		node.begin()
		if r.SharesCache {
			r.serveShared(node, now)
		} else {
			for _, application := range r.Applications {
				r.serveOn(node, application, now)
			}
		}
		node.end(r.Costs, r.moveShare())
	}
	for _, application := range r.Applications {
		name := application.Object.Name
		r.result.Seconds[name] = append(r.result.Seconds[name], r.responseOf(application))
	}
}

// loadOf is what an application asks for, of all nodes.
func (r *serviceRun) loadOf(application Application, now time.Duration) float64 {
	load := application.OperationsPerSecond(now)
	if r.throttled[application.Object.Name] {
		load = min(load, application.Object.MostOperationsPerSecond)
	}
	return load
}

func (r *serviceRun) serveOn(node *cacheNode, application Application, now time.Duration) {
	load := r.loadOf(application, now)
	real := application.Object.Profile
	real.Locality = application.Locality
	nodes := float64(len(r.nodes))
	hits := real.HitShare(node.cachedBytes[application.Object.Scope] * nodes)
	node.read(application.Object.Scope, load/nodes, hits, real.RowBytes)
}

// responseOf is that of the slowest node, in the model.
func (r *serviceRun) responseOf(application Application) float64 {
	slowest := 0.0
	for _, node := range r.nodes {
		misses := node.missShare(application.Object.Scope)
		slowest = max(slowest, r.Costs.Response(application.Object.Target.Statistic, misses, node.utilisation))
	}
	return slowest
}

// control is one period of the controller.
func (r *serviceRun) control(now time.Duration) {
	isDown := isIn(r.ControllerDown, now)
	if isDown && !r.wasDown {
		r.memory = nil
	}
	r.wasDown = isDown
	if isDown || r.lastAt < 0 {
		return
	}
	view := policy.View{Now: now, WallClock: time.Unix(0, 0).Add(now), Period: servicePeriod, Targets: r.aged(now)}
	for _, application := range r.Applications {
		view.ServiceLevels = append(view.ServiceLevels, application.Object)
	}
	decisions, statuses, memory := r.Policy.DecideAll(view, r.memory)
	r.memory, r.result.Statuses = memory, statuses
	for i, decision := range decisions {
		r.obey(now, view.Targets[i], decision)
	}
	for _, status := range statuses {
		r.note(now, status)
	}
}

// aged are the last targets as they look now.
func (r *serviceRun) aged(now time.Duration) []policy.Target {
	age := now - r.lastAt
	targets := make([]policy.Target, len(r.last))
	for i, target := range r.last {
		target.Age, target.Fresh = age, age <= serviceStale
		if !target.Fresh {
			target.Missing = "the snapshot is stale"
		}
		if target.Lease != nil && target.Lease.TimeLeft <= age {
			target.Lease = nil
		}
		targets[i] = target
	}
	return targets
}

func (r *serviceRun) obey(now time.Duration, target policy.Target, decision policy.Decision) {
	if decision.Verdict == policy.Stop || decision.Setting == nil || !target.Fresh {
		return
	}
	for _, node := range r.nodes {
		if node.name == target.Node {
			node.leases[target.Scope] = cacheLease{bytes: decision.Setting.Number, setting: *decision.Setting, until: now + serviceTTL}
			reserved := node.reservedBytes()
			r.result.MostReservedShare = max(r.result.MostReservedShare, reserved/r.ReservableBytes)
		}
	}
}

// note keeps what a status has that is new, and carries out what is asked for.
func (r *serviceRun) note(now time.Duration, status servicelevel.Status) {
	for _, taken := range status.Actions {
		if taken.At != now {
			continue
		}
		r.result.Events = append(r.result.Events, Event{now, status.Name, taken.Action})
		switch {
		case taken.Action == servicelevel.AddNode:
			r.beginJoin(now)
		case taken.Action == servicelevel.Throttle && r.HasThrottle:
			r.throttled[status.Name] = true
		}
	}
}

func (r *serviceRun) targets(now time.Duration) []policy.Target {
	var targets []policy.Target
	for _, node := range r.nodes {
		for _, application := range r.Applications {
			targets = append(targets, r.target(node, application, now))
		}
	}
	return targets
}

func (r *serviceRun) target(node *cacheNode, application Application, now time.Duration) policy.Target {
	scope := application.Object.Scope
	target := policy.Target{
		Ref: policy.Ref{Node: node.name, Store: serviceStore, Instance: "main"}, Kind: store.Cache, Scope: scope, Fresh: true,
		Description: store.Description{Store: serviceStore, Instance: "main", Capabilities: []store.Capability{{
			Kind: store.Cache, Settings: []store.SettingName{store.ReservedBytes},
		}}},
		Snapshot: store.Snapshot{
			TakenAt: time.Time{}.Add(now), Latencies: []store.Latency{node.latency}, Figures: node.figures(r.ReservableBytes),
		},
	}
	if r.SharesCache {
		r.shareCache(node, &target)
	}
	if lease, isThere := node.leases[scope]; isThere {
		target.Lease = &store.Lease{
			Kind: store.Cache, Scope: scope, Owner: owner, TimeLeft: lease.until - now, Setting: lease.setting,
		}
	}
	return target
}
