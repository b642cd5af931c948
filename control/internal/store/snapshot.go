package store

import "time"

// Description is what a store says of itself; it changes only when the store restarts.
type Description struct {
	// Store is the kind of store, such as "postgres"; Instance tells those of a node apart.
	Store    string
	Instance string
	// StoreVersion is upstream's version, PluginVersion that of the plug-in.
	StoreVersion  string
	PluginVersion string
	Capabilities  []Capability
	// MaxTimeToLive is the longest time to live that an order may ask for.
	MaxTimeToLive time.Duration
}

// Capability is what can be ordered of one kind of task.
type Capability struct {
	Kind     Kind
	Settings []SettingName
	// CanStart says whether tasks of this kind can be started by order, Variants what sorts of them.
	CanStart bool
	Variants []Variant
	// CanAbort says whether a task of this kind can be aborted by order.
	CanAbort bool
}

// Snapshot is the state of a store at one moment.
type Snapshot struct {
	// TakenAt is when it was taken, by the clock of this process; only differences of it mean anything.
	TakenAt   time.Time
	Tasks     []Task
	Debts     []Debt
	Leases    []Lease
	Latencies []Latency
	// ScopeLatencies are those of parts of the store, where it knows them; they are in Latencies as well.
	ScopeLatencies []ScopeLatency
	// Figures are quantities that only this store has; each name ends in its unit, "_total" if it only
	// grows.
	Figures map[string]float64
}

// Task is one background task.
type Task struct {
	// ID tells the tasks of a store apart while they exist.
	ID    string
	Kind  Kind
	Scope string
	State State
	// Phase is the store's own word for what the task is doing, such as "sync".
	Phase      string
	BytesDone  uint64
	BytesTotal uint64 // 0 if it is not known
	// RateBytesPerSecond is how fast it is going now.
	RateBytesPerSecond float64
	// Throttled is for how long it has waited because of orders.
	Throttled time.Duration
	// Age is for how long it has been there, whatever its state.
	Age time.Duration
}

// Debt is the work that a kind of task has put off, and the store's own bound of it.
type Debt struct {
	Kind  Kind
	Scope string
	Bytes uint64
	// TriggerBytes is where the store starts a task by itself, LimitBytes its hard bound, at which every
	// order ends; 0 stands for none.
	TriggerBytes uint64
	LimitBytes   uint64
	Files        uint64
	// EstimatedRecovery is how long recovery would take now; negative if it is not known.
	EstimatedRecovery time.Duration
}

// Lease is an order in force.
type Lease struct {
	Kind     Kind
	Scope    string
	Setting  Setting
	Owner    string
	TimeLeft time.Duration
}

// Latency is that of one class of requests, over one interval that has ended.
type Latency struct {
	// Class is "read" or "write".
	Class string
	// Age is how long ago the interval ended, Interval how long it was.
	Age      time.Duration
	Interval time.Duration
	Count    uint64
	Errors   uint64
	// All are 0 where Count is.
	Mean, P50, P99, P999, Max time.Duration
}

// ScopeLatency is the latency of one class of requests for a part of a store, such as a table.
type ScopeLatency struct {
	Scope string
	Latency
}
