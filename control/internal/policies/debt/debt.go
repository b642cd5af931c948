// Package debt says how fast background work must go so that the work put off never reaches the
// store's bound. Policies share it: whatever else they want, they go at least at its floor.
package debt

import (
	"math"
	"slices"
	"time"

	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	// rampShare is the width of the ramp over which the floor sets in.
	rampShare = 0.25
	// leastRemainingShare is what counts as left of a task that has written all: it still has to sync.
	leastRemainingShare = 0.05
)

// Memory is what this package remembers of a target; the zero value is that of one that is new.
type Memory struct {
	// takenSeconds is when the newest snapshot was taken, by the view's clock, and bytes its debt.
	takenSeconds, bytes float64
	isTaken             bool
	// growthBytesPerSecond is the mean growth.
	growthBytesPerSecond float64
	isGrowthKnown        bool
}

// Bound is the part of a policy's parameters that this package needs.
type Bound struct {
	// ReserveShare is the share of the store's limit that is kept free.
	ReserveShare float64
	// GrowthMemory is the time constant of the mean growth.
	GrowthMemory time.Duration
	// UrgentFromShare is the urgency at which the floor sets in.
	UrgentFromShare float64
	// CeilingBytesPerSecond is the most that the work can be expected to do.
	CeilingBytesPerSecond float64
}

// Parameters declares the parameters of Bound, for the policies that share them.
func Parameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "ceiling_bytes_per_second", Type: parameters.Number, Required: true, Least: 1, Most: 1e12,
			Meaning: "Highest rate, what the device can do beside the foreground; only the debt's floor goes beyond it.",
		},
		{
			Name: "debt_reserve_share", Type: parameters.Number, Default: 0.1, Least: 0, Most: 0.9,
			Meaning: "Share of the store's limit of debt that is kept free.",
		},
		{
			Name: "growth_memory_seconds", Type: parameters.Number, Default: 30.0, Least: 1, Most: 3600,
			Meaning: "Time constant of the mean growth of debt.",
		},
		{
			Name: "urgent_from_share", Type: parameters.Number, Default: 0.6, Least: 0, Most: 1,
			Meaning: "Urgency, a share of the ceiling or of the debt's room, at which the debt's floor sets in.",
		},
	}
}

// StartParameter declares the debt at which a task is started.
func StartParameter(otherwise float64) parameters.Parameter {
	return parameters.Parameter{
		Name: "start_debt_share", Type: parameters.Number, Default: otherwise, Least: 0, Most: 1,
		Meaning: "Debt, as a share of its limit, at which a task is started when nothing speaks against it; 0 for never.",
	}
}

// NewBound takes the parameters that Parameters declares.
func NewBound(values parameters.Values) Bound {
	return Bound{
		ReserveShare:          values.Number("debt_reserve_share"),
		GrowthMemory:          values.Seconds("growth_memory_seconds"),
		UrgentFromShare:       values.Number("urgent_from_share"),
		CeilingBytesPerSecond: values.Number("ceiling_bytes_per_second"),
	}
}

// Estimate is what is known of a target's debt.
type Estimate struct {
	// IsBounded says whether there is a debt with a limit; without one there is no floor.
	IsBounded         bool
	Bytes, LimitBytes float64
	// IsGrowthKnown is false until two snapshots have been seen.
	IsGrowthKnown bool
	// GrowthBytesPerSecond is the mean growth; of a debt that drains as the work goes on, the mean of
	// what comes in.
	GrowthBytesPerSecond float64
	// RemainingBytes is what the tasks that exist still have to write, 0 if there are none.
	RemainingBytes float64
	// drains: the debt falls with the work, rather than at its end.
	drains bool
	bound  Bound
}

// Observe takes in a snapshot that was taken at the given time of the view's clock. What it has to
// remember goes to memory.
func (b Bound) Observe(memory *Memory, target policy.Target, taken time.Duration) Estimate {
	estimate := Estimate{
		bound: b, drains: target.Kind != store.Checkpoint, RemainingBytes: remaining(target),
	}
	owed, found := find(target)
	if !found {
		return estimate
	}
	estimate.Bytes, estimate.LimitBytes = float64(owed.Bytes), float64(owed.LimitBytes)
	estimate.IsBounded = owed.LimitBytes > 0
	done := 0.0
	if estimate.drains {
		done = workRate(target)
	}
	b.observeGrowth(memory, taken.Seconds(), estimate.Bytes, done)
	estimate.GrowthBytesPerSecond, estimate.IsGrowthKnown = memory.growthBytesPerSecond, memory.isGrowthKnown
	return estimate
}

// observeGrowth updates the mean growth. A fall is the end of a task and says nothing about growth.
func (b Bound) observeGrowth(memory *Memory, takenSeconds, bytes, workBytesPerSecond float64) {
	isFirst, elapsed := !memory.isTaken, takenSeconds-memory.takenSeconds
	if !isFirst && elapsed <= 0 {
		return
	}
	growth := (bytes-memory.bytes)/elapsed + workBytesPerSecond
	memory.takenSeconds, memory.bytes, memory.isTaken = takenSeconds, bytes, true
	if isFirst || growth < 0 {
		return
	}
	if !memory.isGrowthKnown {
		memory.growthBytesPerSecond, memory.isGrowthKnown = growth, true
		return
	}
	weight := 1 - math.Exp(-elapsed/b.GrowthMemory.Seconds())
	memory.growthBytesPerSecond += weight * (growth - memory.growthBytesPerSecond)
}

// usableBytes is the limit without the reserve.
func (e Estimate) usableBytes() float64 {
	return e.LimitBytes * (1 - e.bound.ReserveShare)
}

// IsAtLimit says that the store has reached its bound and goes by itself.
func (e Estimate) IsAtLimit() bool {
	return e.IsBounded && e.Bytes >= e.LimitBytes
}

// Share is the debt as a share of its limit.
func (e Estimate) Share() float64 {
	if !e.IsBounded {
		return 0
	}
	return e.Bytes / e.LimitBytes
}

// NeededBytesPerSecond is the rate that just suffices at the mean growth: it finishes what remains when
// the debt reaches the limit without its reserve and without what else is to be kept free. +Inf if that has
// been passed. It is known only of a debt that falls at the end of its task.
func (e Estimate) NeededBytesPerSecond(keptFreeBytes float64) (float64, bool) {
	if !e.IsBounded || !e.IsGrowthKnown || e.drains {
		return 0, false
	}
	room := e.usableBytes() - keptFreeBytes - e.Bytes
	if room <= 0 {
		return math.Inf(1), true
	}
	return e.RemainingBytes * e.GrowthBytesPerSecond / room, true
}

// FloorBytesPerSecond is the least rate that keeps the debt off its limit; 0 while there is time.
func (e Estimate) FloorBytesPerSecond() float64 {
	switch {
	case !e.IsBounded || e.RemainingBytes == 0:
		return 0
	case e.Bytes >= e.usableBytes():
		return e.reserveRate()
	case e.drains:
		urgency := e.Bytes / e.usableBytes()
		return e.GrowthBytesPerSecond * math.Max(0, (urgency-e.bound.UrgentFromShare)/rampShare)
	}
	needed, _ := e.NeededBytesPerSecond(0)
	urgency := needed / e.bound.CeilingBytesPerSecond
	return min(needed*min(1, math.Max(0, (urgency-e.bound.UrgentFromShare)/rampShare)), e.reserveRate())
}

// reserveRate is the ceiling, or what finishes before the limit itself if that is more.
func (e Estimate) reserveRate() float64 {
	room := e.LimitBytes - e.Bytes
	if e.drains || room <= 0 {
		return e.bound.CeilingBytesPerSecond
	}
	return max(e.bound.CeilingBytesPerSecond, e.RemainingBytes*e.GrowthBytesPerSecond/room)
}

// Urgency is, while there is no task, the rate that one would need as a share of the ceiling: 1 and more
// if it could hardly end in time. It is taken to have as many bytes to write as the debt has.
func (e Estimate) Urgency() float64 {
	if !e.IsBounded || !e.IsGrowthKnown || e.drains || e.RemainingBytes > 0 {
		return 0
	}
	room := e.usableBytes() - e.Bytes
	if room <= 0 {
		return math.Inf(1)
	}
	return e.Bytes * e.GrowthBytesPerSecond / room / e.bound.CeilingBytesPerSecond
}

// IsDue says whether the debt has reached a share of its limit, 0 for never, while there is no task.
func (e Estimate) IsDue(share float64) bool {
	return share > 0 && e.IsBounded && e.RemainingBytes == 0 && e.Share() >= share
}

func find(target policy.Target) (store.Debt, bool) {
	for _, owed := range target.Snapshot.Debts {
		if owed.Kind == target.Kind && owed.Scope == target.Scope {
			return owed, true
		}
	}
	return store.Debt{}, false
}

// remaining sums what is left of the tasks. Where a total is not known, the debt itself is what is left.
func remaining(target policy.Target) float64 {
	sum := 0.0
	for _, task := range Active(target) {
		if task.BytesTotal == 0 {
			owed, _ := find(target)
			return math.Max(1, float64(owed.Bytes))
		}
		total := float64(task.BytesTotal)
		sum += math.Max(total-float64(task.BytesDone), total*leastRemainingShare)
	}
	return sum
}

func workRate(target policy.Target) float64 {
	sum := 0.0
	for _, task := range Active(target) {
		sum += task.RateBytesPerSecond
	}
	return sum
}

// Active are the tasks of the target's kind and scope that are not over. A target without a scope has
// those of all scopes. Where all are, it gives the list of the snapshot.
func Active(target policy.Target) []store.Task {
	isOther := func(task store.Task) bool {
		return task.Kind != target.Kind || target.Scope != "" && task.Scope != target.Scope || !IsActive(task)
	}
	if !slices.ContainsFunc(target.Snapshot.Tasks, isOther) {
		return target.Snapshot.Tasks
	}
	return slices.DeleteFunc(slices.Clone(target.Snapshot.Tasks), isOther)
}

// IsActive says whether a task has work left.
func IsActive(task store.Task) bool {
	return task.State != store.Done && task.State != store.Failed
}
