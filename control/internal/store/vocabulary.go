// Package store holds the vocabulary of hooks, the same for every store, and the interface of the
// drivers that speak it. It knows no store.
//
// Units are SI. Durations are time.Duration in Go and seconds on every wire.
package store

// Kind is a kind of work: a background task, or requests of clients.
type Kind string

// The kinds of background tasks, and what clients ask for.
const (
	Compaction    Kind = "compaction"
	Flush         Kind = "flush"
	Checkpoint    Kind = "checkpoint"
	LogPlacement  Kind = "log-placement"
	Cache         Kind = "cache"
	Balancing     Kind = "balancing"
	Normalization Kind = "normalization"
	Streaming     Kind = "streaming"
	Requests      Kind = "requests"
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{Compaction, Flush, Checkpoint, LogPlacement, Cache, Balancing, Normalization, Streaming, Requests}
}

// Variant is a sort of tasks of a kind that a start can ask for. A store has words of its own for them,
// and says which in its Description.
type Variant string

// The variants that stores with sorted files have: of some of the files, or of all.
const (
	Minor Variant = "minor"
	Major Variant = "major"
)

// State is the state of a task.
type State string

// The states of a task.
const (
	Queued   State = "queued"
	Deferred State = "deferred"
	Running  State = "running"
	Held     State = "held"
	Done     State = "done"
	Failed   State = "failed"
)

// States lists every state.
func States() []State {
	return []State{Queued, Deferred, Running, Held, Done, Failed}
}

// SettingName names what an order sets. A name ends in the unit of its value.
type SettingName string

// What can be set. A store supports some of them, and says which in its Description.
const (
	// RateBytesPerSecond bounds how fast the tasks of a kind write.
	RateBytesPerSecond SettingName = "rate_bytes_per_second"
	// RateOperationsPerSecond bounds how many requests of clients are taken.
	RateOperationsPerSecond SettingName = "rate_operations_per_second"
	// Hold pauses the running tasks without losing their work. It has no value.
	Hold SettingName = "hold"
	// DurationSeconds spreads what is left of the running task evenly.
	DurationSeconds SettingName = "duration_seconds"
	// Full lets tasks run without any pause. It has no value.
	Full SettingName = "full"
	// Stock is the pace of the store's own configuration. It has no value.
	Stock SettingName = "stock"
	// SyncGapSeconds is the pause between the files that a checkpoint syncs.
	SyncGapSeconds SettingName = "sync_gap_seconds"
	// DeferUntilDebtBytes puts queued tasks off until debt reaches so many bytes.
	DeferUntilDebtBytes SettingName = "defer_until_debt_bytes"
	// Concurrency is how many tasks of a kind may run at once.
	Concurrency SettingName = "concurrency"
	// Priority orders tasks of a kind before those of others; higher is sooner.
	Priority SettingName = "priority"
	// ReservedBytes is memory kept for a table or family.
	ReservedBytes SettingName = "reserved_bytes"
	// AddedBytes is memory by which a cache grows for the sake of a table, which shares it with the others.
	AddedBytes SettingName = "added_bytes"
	// Tier is where new data goes. Its value is a name: of log-placement "fast" or "slow".
	Tier SettingName = "tier"
	// RedirectQueueRequests is the length of the fast tier's queue from which the threshold of redirects
	// shrinks.
	RedirectQueueRequests SettingName = "redirect_queue_requests"
	// RedirectSizeBytes is the size above which data goes to the slow tier while the fast one has no queue.
	RedirectSizeBytes SettingName = "redirect_size_bytes"
	// RedirectStepRatio is the part of that size which the threshold loses at a time, from 0 to 1.
	RedirectStepRatio SettingName = "redirect_step_ratio"
)

// Aspect is what orders compete for: of one kind and scope, orders of the same aspect replace each
// other, orders of different aspects hold side by side.
type Aspect string

// AspectPace is shared by everything that says how fast a running task goes on.
const AspectPace Aspect = "pace"

// AspectTier is where data goes.
const AspectTier Aspect = "tier"

// AspectReservation is how much memory is kept or added.
const AspectReservation Aspect = "reserved-bytes"

// MainAspect is the aspect that policies of a kind of task decide about.
func (k Kind) MainAspect() Aspect {
	switch k {
	case LogPlacement:
		return AspectTier
	case Cache:
		return AspectReservation
	default:
		return AspectPace
	}
}

// valueForm is the form of a setting's value.
type valueForm int

const (
	noValue valueForm = iota
	numberValue
	textValue
)

type settingForm struct {
	aspect Aspect
	value  valueForm
	least  float64
}

var settingForms = map[SettingName]settingForm{
	RateBytesPerSecond:      {AspectPace, numberValue, 1},
	RateOperationsPerSecond: {AspectPace, numberValue, 1},
	Hold:                    {AspectPace, noValue, 0},
	DurationSeconds:         {AspectPace, numberValue, 0},
	Full:                    {AspectPace, noValue, 0},
	Stock:                   {AspectPace, noValue, 0},
	SyncGapSeconds:          {"sync-gap", numberValue, 0},
	DeferUntilDebtBytes:     {"deferral", numberValue, 1},
	Concurrency:             {"concurrency", numberValue, 1},
	Priority:                {"priority", numberValue, 0},
	ReservedBytes:           {AspectReservation, numberValue, 0},
	AddedBytes:              {AspectReservation, numberValue, 0},
	Tier:                    {AspectTier, textValue, 0},
	RedirectQueueRequests:   {"redirect-queue", numberValue, 0},
	RedirectSizeBytes:       {"redirect-size", numberValue, 0},
	RedirectStepRatio:       {"redirect-step", numberValue, 0},
}
