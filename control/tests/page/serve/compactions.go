package main

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

const (
	compactionRate      = 18e6
	compactionBytes     = 1600e6
	pendingTriggerBytes = 2e9
	pendingLimitBytes   = 8e9
	nightPeriodSeconds  = 420
	holdSeconds         = 90
)

// compactions is a store with compactions in two scopes. An operator holds one of them from time to
// time, and a policy lets the other one run by windows of time.
type compactions struct {
	instance string
	phase    int
	second   int
	events   compaction
	index    compaction
	isHeld   bool
}

type compaction struct {
	done, pending float64
}

func newCompactions(instance string, phase int) *compactions {
	return &compactions{instance: instance, phase: phase, events: compaction{pending: 3e9}, index: compaction{pending: 1.2e9}}
}

func (c *compactions) advance(second int, isDryRun bool) []*sluicev1.Decision {
	c.second = second + c.phase
	inWindow := c.second%nightPeriodSeconds < holdSeconds
	changed := inWindow != c.isHeld
	if !isDryRun {
		c.isHeld = inWindow
	}
	c.events.advance(!c.isHeld)
	c.index.advance(true)
	return []*sluicev1.Decision{c.decide(inWindow, changed)}
}

func (c *compaction) advance(runs bool) {
	c.pending = min(0.95*pendingLimitBytes, c.pending+9e6)
	if !runs {
		return
	}
	c.done += compactionRate
	c.pending = max(4e8, c.pending-compactionRate)
	if c.done >= compactionBytes {
		c.done = 0
	}
}

func (c *compactions) decide(hold, changed bool) *sluicev1.Decision {
	decision := &sluicev1.Decision{
		Policy: "windows", Ref: c.ref(), Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "events",
		Verdict: sluicev1.Verdict_VERDICT_KEEP, Reason: "outside of every window: the store's own configuration holds",
		Inputs: map[string]float64{"pending_bytes": c.events.pending},
	}
	if hold {
		decision.Setting = &sluicev1.Setting{Name: "hold"}
		decision.Reason = fmt.Sprintf("the window of the report job is open, for %d s more", holdSeconds-c.second%nightPeriodSeconds)
	}
	switch {
	case changed && hold:
		decision.Verdict = sluicev1.Verdict_VERDICT_CHANGE
	case changed:
		decision.Verdict = sluicev1.Verdict_VERDICT_STOP
		decision.Reason = "the window of the report job is over: the lease runs out"
	}
	return decision
}

func (c *compactions) ref() *sluicev1.StoreRef {
	return &sluicev1.StoreRef{Store: "rocksdb", Instance: c.instance}
}

func (c *compactions) snapshot() *sluicev1.Snapshot {
	kind := sluicev1.Kind_KIND_COMPACTION
	snapshot := &sluicev1.Snapshot{
		Ref: c.ref(), Age: durationpb.New(0),
		Tasks:     []*sluicev1.Task{c.events.task("events", c.isHeld), c.index.task("index", false)},
		Debts:     []*sluicev1.Debt{c.events.debt("events"), c.index.debt("index")},
		Latencies: []*sluicev1.Latency{latency("read", 0.0009), latency("write", 0.0031)},
		Leases: []*sluicev1.Lease{{
			Kind: kind, Scope: "index", Owner: "operator/maria", TimeLeft: durationpb.New(time.Duration(600-c.second%600) * time.Second),
			Setting: &sluicev1.Setting{Name: "concurrency", Value: &sluicev1.Setting_Number{Number: 1}},
		}},
	}
	if c.isHeld {
		snapshot.Leases = append(snapshot.Leases, &sluicev1.Lease{
			Kind: kind, Scope: "events", Owner: "policy/windows", Setting: &sluicev1.Setting{Name: "hold"},
			TimeLeft: durationpb.New(leaseSeconds * time.Second),
		})
	}
	return snapshot
}

func (c *compaction) task(scope string, isHeld bool) *sluicev1.Task {
	task := &sluicev1.Task{
		Id: scope, Kind: sluicev1.Kind_KIND_COMPACTION, Scope: scope, State: sluicev1.State_STATE_RUNNING, Phase: "L1 to L2",
		BytesDone: uint64(c.done), BytesTotal: compactionBytes, RateBytesPerSecond: compactionRate,
	}
	if isHeld {
		task.State, task.RateBytesPerSecond = sluicev1.State_STATE_HELD, 0
	}
	return task
}

func (c *compaction) debt(scope string) *sluicev1.Debt {
	return &sluicev1.Debt{
		Kind: sluicev1.Kind_KIND_COMPACTION, Scope: scope, Bytes: uint64(c.pending),
		TriggerBytes: pendingTriggerBytes, LimitBytes: pendingLimitBytes, Files: uint64(c.pending / 64e6),
	}
}

func (c *compactions) description() *sluicev1.Description {
	return &sluicev1.Description{Ref: c.ref(), StoreVersion: "10.4.2", PluginVersion: "0.1.0", MaxTimeToLive: durationpb.New(time.Minute)}
}

func (c *compactions) load() (cpu, device float64) { return 0.42, 0.55 }

func (c *compactions) writeRate() float64 { return 2 * compactionRate }

func (c *compactions) rename(instance string) { c.instance = instance }
