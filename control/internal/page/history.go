package page

import (
	"math"
	"slices"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

const (
	historyLength = 15 * time.Minute
	// maxPoints is a point a second for historyLength.
	maxPoints = 900
	// maxSeries bounds memory to about 35 MB, 70 kB a series with the decisions that it shows.
	maxSeries = 512
	// windowLength is the time over which decisions that repeat are drawn as one.
	windowLength = 30 * time.Second
	maxWindows   = int(historyLength/windowLength) + 1
)

// target is what has a timeline: the tasks of a kind and scope of one instance.
type target struct {
	node, store, instance string
	kind                  sluicev1.Kind
	scope                 string
}

func targetOf(decision *sluicev1.Decision) target {
	return target{
		node: decision.GetNode(), store: decision.GetRef().GetStore(),
		instance: decision.GetRef().GetInstance(), kind: decision.GetKind(), scope: decision.GetScope(),
	}
}

// sample is one point of a timeline. What is not known is not a number.
type sample struct {
	since time.Duration
	// rate is that of all tasks together, ordered is what a lease bounds it to; in bytes per second.
	rate, ordered float32
	debtBytes     float32
	// readP99 and writeP99 are in seconds.
	readP99, writeP99 float32
}

// repeats is the decisions of one window of time that brought nothing new.
type repeats struct {
	window      int64
	first, last time.Duration
	count       int
	decision    *sluicev1.Decision // the last one
}

// series is the timeline of one target.
type series struct {
	points  ring[sample]
	repeats ring[repeats]
	// from is the answer of the agent that the last point was made of.
	from  *wire.Report
	seen  time.Duration
	asked time.Duration
	began time.Duration
}

// history holds the timelines of as many targets as are allowed. It is not safe for concurrent use.
type history struct {
	series map[target]*series
}

func newHistory() *history {
	return &history{series: map[target]*series{}}
}

// record adds a point to the timeline of each target whose node has answered anew.
func (h *history) record(cluster Cluster, since time.Duration) {
	for place := range cluster.Nodes {
		node := &cluster.Nodes[place]
		eachLane(node, func(lane target, point sample) {
			h.add(lane, point, node.Report, since)
		})
	}
	for key, kept := range h.series {
		if since-kept.seen > historyLength {
			delete(h.series, key)
		}
	}
}

func (h *history) add(key target, point sample, from *wire.Report, since time.Duration) {
	kept, ok := h.series[key]
	if !ok {
		if len(h.series) >= maxSeries {
			return
		}
		kept = h.begin(key, since)
	}
	kept.seen = since
	if kept.from == from {
		return
	}
	kept.from = from
	point.since = since
	kept.points.add(point, maxPoints)
}

func (h *history) begin(key target, since time.Duration) *series {
	begun := &series{seen: since, began: since}
	h.series[key] = begun
	return begun
}

// repeat adds a decision that brings nothing new to the timeline of its target, if it has one.
func (h *history) repeat(decision *sluicev1.Decision, since time.Duration) {
	kept, ok := h.series[targetOf(decision)]
	if !ok {
		return
	}
	window := int64(since / windowLength)
	if last := kept.repeats.last(); last != nil && last.window == window {
		last.last, last.decision = since, decision
		last.count++
		return
	}
	kept.repeats.add(repeats{window, since, since, 1, decision}, maxWindows)
}

// open returns the timeline of a target. One that has none yet gets one, if it exists, in the place of
// the one that nobody has asked for the longest.
func (h *history) open(key target, exists bool, since time.Duration) *series {
	kept, ok := h.series[key]
	if !ok && !exists {
		return nil
	}
	if !ok {
		h.makeRoom()
		kept = h.begin(key, since)
	}
	kept.asked = since
	return kept
}

// timeline is a copy of what a target's timeline has that is newer than some moment.
type timeline struct {
	target
	// at is when it was copied, began when the recording began.
	at, began time.Duration
	// debt is the last one, for its bounds; nil if there is none.
	debt      *store.Debt
	points    []sample
	repeats   []repeats
	decisions []made
}

func (s *series) newerThan(after time.Duration) (points []sample, windows []repeats) {
	for place := range s.points.values {
		if point := s.points.at(place); point.since > after {
			points = append(points, *point)
		}
	}
	for place := range s.repeats.values {
		if window := s.repeats.at(place); window.last > after {
			windows = append(windows, *window)
		}
	}
	return points, windows
}

func (h *history) makeRoom() {
	if len(h.series) < maxSeries {
		return
	}
	var oldest target
	asked := time.Duration(math.MaxInt64)
	for key, kept := range h.series {
		if kept.asked < asked {
			oldest, asked = key, kept.asked
		}
	}
	delete(h.series, oldest)
}

// eachLane calls back for each kind and scope for which a store of the node has a task, a debt or a
// lease, with the point that its state makes. Stores that do not answer have none.
func eachLane(node *Node, call func(target, sample)) {
	if node.Problem != "" {
		return
	}
	for i := range node.instances() {
		instance := &node.Report.Instances[i]
		if instance.Problem != "" {
			continue
		}
		base := target{node: node.Name, store: instance.Ref.Store, instance: instance.Ref.Instance}
		for _, lane := range lanes(&instance.Snapshot) {
			base.kind, base.scope = wire.EncodeKind(lane.kind), lane.scope
			call(base, pointOf(&instance.Snapshot, lane))
		}
	}
}

type lane struct {
	kind  store.Kind
	scope string
}

func lanes(snapshot *store.Snapshot) []lane {
	found := make([]lane, 0, 4)
	add := func(kind store.Kind, scope string) {
		if l := (lane{kind, scope}); !slices.Contains(found, l) {
			found = append(found, l)
		}
	}
	for _, task := range snapshot.Tasks {
		add(task.Kind, task.Scope)
	}
	for _, debt := range snapshot.Debts {
		add(debt.Kind, debt.Scope)
	}
	for _, lease := range snapshot.Leases {
		add(lease.Kind, lease.Scope)
	}
	return found
}

func pointOf(snapshot *store.Snapshot, l lane) sample {
	unknown := float32(math.NaN())
	point := sample{ordered: unknown, debtBytes: unknown, readP99: unknown, writeP99: unknown}
	for _, task := range snapshot.Tasks {
		if task.Kind == l.kind && l.has(task.Scope) {
			point.rate += float32(task.RateBytesPerSecond)
		}
	}
	for _, debt := range snapshot.Debts {
		if debt.Kind == l.kind && debt.Scope == l.scope {
			point.debtBytes = float32(debt.Bytes)
		}
	}
	if lease := l.pace(snapshot.Leases); lease != nil {
		point.setOrdered(lease.Setting)
	}
	for _, latency := range snapshot.Latencies {
		point.setLatency(latency)
	}
	return point
}

// has says whether a scope is of the lane: all of the store has the tasks of every scope.
func (l lane) has(scope string) bool {
	return l.scope == "" || l.scope == scope
}

// pace is the lease on the pace that the lane's tasks obey: that on their scope, or else that on all of
// the store; nil if there is none.
func (l lane) pace(leases []store.Lease) *store.Lease {
	var found *store.Lease
	for i := range leases {
		lease := &leases[i]
		if lease.Kind != l.kind || lease.Setting.Aspect() != store.AspectPace {
			continue
		}
		if lease.Scope == l.scope {
			return lease
		}
		if lease.Scope == "" {
			found = lease
		}
	}
	return found
}

func (s *sample) setOrdered(setting store.Setting) {
	switch setting.Name {
	case store.RateBytesPerSecond:
		s.ordered = float32(setting.Number)
	case store.Hold:
		s.ordered = 0
	}
}

// setLatency takes the last interval of each class, which comes last; one without requests says nothing.
func (s *sample) setLatency(latency store.Latency) {
	p99 := float32(math.NaN())
	if latency.Count > 0 {
		p99 = float32(latency.P99.Seconds())
	}
	switch latency.Class {
	case "read":
		s.readP99 = p99
	case "write":
		s.writeP99 = p99
	}
}
