// Package policy holds what a policy sees and what it decides. Policies themselves are pure functions
// of a View, in packages of their own below this one.
package policy

import (
	"slices"
	"time"

	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// View is the part of a cluster that one policy sees in one period. A policy reads it and changes
// nothing in it.
type View struct {
	// Now is the time since the controller started, by a clock that never jumps.
	Now time.Duration
	// WallClock is for policies that follow the time of day, and for nothing else: it may jump.
	WallClock time.Time
	Period    time.Duration
	Targets   []Target
	// ServiceLevels are the objects that the policy decides for, by name; those of other stores are left out.
	ServiceLevels []servicelevel.Object
	// Clients are the response times that clients of the policy's kind of store have measured, of each node that they
	// are on; those that are too old to act on are left out. Only policies that decide jointly have them.
	Clients []ClientLatencies
	// Signals are the results of the policy's PromQL queries, by name.
	Signals map[string]Signal
}

// Ref names an instance of a store in a cluster.
type Ref struct {
	Node     string
	Store    string
	Instance string
}

// String is the form "node/store/instance".
func (r Ref) String() string {
	return r.Node + "/" + r.Store + "/" + r.Instance
}

// Target is an instance that the policy decides about, and the tasks there that it may set.
type Target struct {
	Ref
	Kind  store.Kind
	Scope string
	// Fresh says whether the snapshot is recent enough to act on. When it is false, Missing says why, and
	// the snapshot is the last one that there was, if any.
	Fresh   bool
	Missing string
	// Age is that of the snapshot; without any, for how long the instance has not been there.
	Age         time.Duration
	Description store.Description
	Snapshot    store.Snapshot
	NodeSignals NodeSignals
	// NodeSignalsAge is that of NodeSignals; a target that is fresh has signals that may be acted on.
	NodeSignalsAge time.Duration
	// Lease is the policy's own lease on this target's pace, of log-placement on its tier, of cache on its
	// reservation; nil if there is none.
	Lease *store.Lease
}

// Offers says whether the store of a target has a setting for the target's kind of work.
func (t Target) Offers(setting store.SettingName) bool {
	return slices.ContainsFunc(t.Description.Capabilities, func(capability store.Capability) bool {
		return capability.Kind == t.Kind && slices.Contains(capability.Settings, setting)
	})
}

// ClientLatencies are the response times that clients of a kind of store on a node have measured.
type ClientLatencies struct {
	Node  string
	Store string
	// Clients is how many have reported lately.
	Clients int
	TakenAt time.Time
	// Age is that of what is told, in a view; ages of intervals are as of then.
	Age       time.Duration
	Latencies []store.Latency
	// ScopeLatencies are those of parts of the store; those of a part of a part are in those of the part as well.
	ScopeLatencies []store.ScopeLatency
}

// NodeSignals is the state of a node.
type NodeSignals struct {
	SampledAt time.Time
	// CPUUsed is an exponential moving average, 0 to 1, over all processors.
	CPUUsed float64
	// CPUPressure, IOPressure and MemoryPressure are the shares of the last 10 s in which some task
	// waited, 0 to 1; negative where the kernel does not tell.
	CPUPressure, IOPressure, MemoryPressure float64
	Devices                                 []DeviceSignals
}

// DeviceSignals is the state of a block device over the last second.
type DeviceSignals struct {
	Name                string
	InFlight            float64
	ReadBytesPerSecond  float64
	WriteBytesPerSecond float64
	// Utilisation is the share of time with at least one request in flight, 0 to 1.
	Utilisation float64
}

// Signal is the result of a PromQL query: one number.
type Signal struct {
	Value float64
	Age   time.Duration
	// Fresh says whether it is recent enough to act on; Missing says why it is not.
	Fresh   bool
	Missing string
}
