package main

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

const (
	flushBytes        = 128e6
	flushRate         = 16e6
	flushLimitBytes   = 512e6
	ratePeriodSeconds = 150
	slowRate          = 12e6
	cachedBytes       = 128e6
)

// regionServer is a store with tasks of several kinds, whose scopes are tables and families. A policy
// gives one lease for all of its compactions; of those an operator puts one off. An operator has
// reserved cache for a family, of which there is no task.
type regionServer struct {
	instance string
	phase    int
	second   int
	orders   compaction
	items    compaction
	written  float64
	isSlow   bool
}

func newRegionServer(instance string, phase int) *regionServer {
	return &regionServer{
		instance: instance, phase: phase, orders: compaction{pending: 2.4e9}, items: compaction{pending: 6e8},
	}
}

func (r *regionServer) advance(second int, isDryRun bool) []*sluicev1.Decision {
	r.second = second + r.phase
	wasSlow := r.isSlow
	if !isDryRun {
		r.isSlow = r.second/ratePeriodSeconds%2 == 0
	}
	r.orders.advance(true)
	r.items.advance(false)
	r.written += flushRate / 2
	if r.written >= 2*flushBytes {
		r.written = 0
	}
	return []*sluicev1.Decision{r.decide(wasSlow)}
}

func (r *regionServer) decide(wasSlow bool) *sluicev1.Decision {
	decision := &sluicev1.Decision{
		Policy: "quick-reads", Ref: r.ref(), Kind: sluicev1.Kind_KIND_COMPACTION,
		Verdict: sluicev1.Verdict_VERDICT_KEEP, Setting: r.rate(),
		Reason: fmt.Sprintf("the p99 of reads of %.1f ms is below the target of 8 ms", 1e3*r.readLatency()),
		Inputs: map[string]float64{"read_p99_seconds": r.readLatency()},
	}
	if wasSlow != r.isSlow {
		decision.Verdict = sluicev1.Verdict_VERDICT_CHANGE
	}
	return decision
}

func (r *regionServer) rate() *sluicev1.Setting {
	rate := float64(compactionRate)
	if r.isSlow {
		rate = slowRate
	}
	return &sluicev1.Setting{Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: rate}}
}

func (r *regionServer) readLatency() float64 {
	if r.isSlow {
		return 0.0042
	}
	return 0.0067
}

func (r *regionServer) ref() *sluicev1.StoreRef {
	return &sluicev1.StoreRef{Store: "hbase", Instance: r.instance}
}

func (r *regionServer) snapshot() *sluicev1.Snapshot {
	return &sluicev1.Snapshot{
		Ref: r.ref(), Age: durationpb.New(0), Tasks: r.tasks(), Leases: r.leases(),
		Debts: []*sluicev1.Debt{
			r.orders.debt("orders/cf"), r.items.debt("shop:items/d"),
			{
				Kind: sluicev1.Kind_KIND_FLUSH, Scope: "orders", Bytes: uint64(r.written / 2),
				TriggerBytes: flushBytes, LimitBytes: flushLimitBytes,
			},
		},
		Latencies: []*sluicev1.Latency{latency("read", r.readLatency()), latency("write", 0.0014)},
		Figures:   map[string]float64{"cache_orders_2fcf_hits_total": float64(400 * r.second)},
	}
}

func (r *regionServer) tasks() []*sluicev1.Task {
	running, deferred := r.orders.task("orders/cf", false), r.items.task("shop:items/d", false)
	running.Id, running.Phase, running.RateBytesPerSecond = "compaction-17", "major", r.rate().GetNumber()
	deferred.Id, deferred.Phase, deferred.State = "compaction-18", "", sluicev1.State_STATE_DEFERRED
	deferred.RateBytesPerSecond = 0
	tasks := []*sluicev1.Task{running, deferred}
	if r.written < flushBytes {
		return tasks
	}
	// How much a flush has to write is not known before it is done.
	return append(tasks, &sluicev1.Task{
		Id: "flush-4", Kind: sluicev1.Kind_KIND_FLUSH, Scope: "orders/cf", State: sluicev1.State_STATE_RUNNING,
		BytesDone: uint64(r.written - flushBytes), RateBytesPerSecond: flushRate,
	})
}

func (r *regionServer) leases() []*sluicev1.Lease {
	left := durationpb.New(time.Duration(600-r.second%600) * time.Second)
	return []*sluicev1.Lease{
		{
			Kind: sluicev1.Kind_KIND_COMPACTION, Owner: "policy/quick-reads", Setting: r.rate(),
			TimeLeft: durationpb.New(leaseSeconds * time.Second),
		},
		{
			Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "shop:items/d", Owner: "operator/maria", TimeLeft: left,
			Setting: &sluicev1.Setting{
				Name: "defer_until_debt_bytes", Value: &sluicev1.Setting_Number{Number: pendingLimitBytes / 2},
			},
		},
		{
			Kind: sluicev1.Kind_KIND_CACHE, Scope: "orders/cf", Owner: "operator/maria", TimeLeft: left,
			Setting: &sluicev1.Setting{Name: "reserved_bytes", Value: &sluicev1.Setting_Number{Number: cachedBytes}},
		},
	}
}

func (r *regionServer) description() *sluicev1.Description {
	return &sluicev1.Description{
		Ref: r.ref(), StoreVersion: "2.6.4-hadoop3", PluginVersion: "0.1.0", MaxTimeToLive: durationpb.New(10 * time.Minute),
		Capabilities: []*sluicev1.Capability{{
			Kind: sluicev1.Kind_KIND_COMPACTION, CanStart: true, Variants: []string{"minor", "major"}, CanAbort: true,
			SettingNames: []string{"rate_bytes_per_second", "hold", "defer_until_debt_bytes"},
		}},
	}
}

func (r *regionServer) load() (cpu, device float64) { return 0.36, 0.48 }

func (r *regionServer) writeRate() float64 { return flushRate + compactionRate }

func (r *regionServer) rename(instance string) { r.instance = instance }
