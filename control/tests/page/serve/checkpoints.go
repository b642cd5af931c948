package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

const (
	targetP99Seconds    = 0.010
	walTriggerBytes     = 700e6
	walLimitBytes       = 1100e6
	deviceBytesPerSec   = 60e6
	checkpointBytes     = 900e6
	leastRate           = 2e6
	burstPeriodSeconds  = 240
	burstSeconds        = 60
	walBytesPerSecond   = 7e6
	stockBytesPerSecond = 12e6
)

// checkpoints is a store with checkpoints under bursts of load. A policy keeps p99 at a target: it adds
// to the rate while there is room, and halves it when there is none. Near the limit of debt, debt wins.
type checkpoints struct {
	instance  string
	phase     int
	random    *rand.Rand
	isRunning bool
	done      float64
	walBytes  float64
	walAtRedo float64
	rate      float64
	ordered   float64 // 0 without a lease
	used      float64 // share of the device
	p99       float64
}

func newCheckpoints(instance string, phase int) *checkpoints {
	return &checkpoints{instance: instance, phase: phase, random: rand.New(rand.NewPCG(7, uint64(phase))), ordered: 8e6}
}

func (c *checkpoints) advance(second int, isDryRun bool) []*sluicev1.Decision {
	foreground := 0.35
	if (second+c.phase)%burstPeriodSeconds < burstSeconds {
		foreground = 0.8
	}
	foreground += 0.03 * c.random.NormFloat64()
	c.walBytes += foreground * walBytesPerSecond
	c.goOn()
	c.used = min(0.985, foreground+c.rate/deviceBytesPerSec)
	c.p99 = 0.0016 / (1 - c.used) * math.Exp(0.12*c.random.NormFloat64())
	return []*sluicev1.Decision{c.decide(isDryRun)}
}

// goOn lets the checkpoint write for a second, or starts the next one.
func (c *checkpoints) goOn() {
	c.rate = 0
	if !c.isRunning && c.walBytes < walTriggerBytes {
		return
	}
	if !c.isRunning {
		c.isRunning, c.done, c.walAtRedo = true, 0, c.walBytes
	}
	c.rate = stockBytesPerSecond
	if c.ordered > 0 {
		c.rate = c.ordered
	}
	c.done += c.rate
	if c.done >= checkpointBytes {
		c.isRunning = false
		c.walBytes -= c.walAtRedo
	}
}

func (c *checkpoints) decide(isDryRun bool) *sluicev1.Decision {
	wanted, reason := c.ordered, fmt.Sprintf("p99 %.1f ms is near the target of %.0f ms", c.p99*1e3, targetP99Seconds*1e3)
	switch {
	case c.walBytes > 0.9*walLimitBytes:
		wanted = min(40e6, max(c.ordered, leastRate)*1.5)
		reason = fmt.Sprintf("debt %.0f MB is near its limit of %.0f MB: the limit wins over latency", c.walBytes/1e6, walLimitBytes/1e6)
	case c.p99 > 1.5*targetP99Seconds:
		wanted = max(leastRate, c.ordered/2)
		reason = fmt.Sprintf("p99 %.1f ms is over the target of %.0f ms: half the rate", c.p99*1e3, targetP99Seconds*1e3)
	case c.p99 < 0.5*targetP99Seconds && c.isRunning && c.random.IntN(6) == 0:
		wanted = min(20e6, c.ordered+1e6)
		reason = fmt.Sprintf("p99 %.1f ms is below the target of %.0f ms: 1 MB/s more", c.p99*1e3, targetP99Seconds*1e3)
	}
	verdict := sluicev1.Verdict_VERDICT_CHANGE
	if wanted == c.ordered {
		verdict = sluicev1.Verdict_VERDICT_KEEP
	}
	if !isDryRun {
		c.ordered = wanted
	}
	return &sluicev1.Decision{
		Policy: "latency", Ref: c.ref(), Kind: sluicev1.Kind_KIND_CHECKPOINT, Verdict: verdict, Reason: reason,
		Setting: &sluicev1.Setting{Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: wanted}},
		Inputs: map[string]float64{
			"p99_seconds": c.p99, "target_seconds": targetP99Seconds, "debt_bytes": c.walBytes, "debt_limit_bytes": walLimitBytes,
		},
	}
}

func (c *checkpoints) ref() *sluicev1.StoreRef {
	return &sluicev1.StoreRef{Store: "postgres", Instance: c.instance}
}

func (c *checkpoints) snapshot() *sluicev1.Snapshot {
	kind := sluicev1.Kind_KIND_CHECKPOINT
	snapshot := &sluicev1.Snapshot{
		Ref: c.ref(), Age: durationpb.New(0),
		Debts: []*sluicev1.Debt{{
			Kind: kind, Bytes: uint64(c.walBytes), TriggerBytes: walTriggerBytes, LimitBytes: walLimitBytes,
			EstimatedRecovery: durationpb.New(time.Duration(c.walBytes / 60e6 * 1e9)),
		}},
		Latencies: []*sluicev1.Latency{latency("read", c.p99*0.4), latency("write", c.p99)},
	}
	if c.isRunning {
		snapshot.Tasks = []*sluicev1.Task{{
			Id: "checkpoint", Kind: kind, State: sluicev1.State_STATE_RUNNING, Phase: "write",
			BytesDone: uint64(c.done), BytesTotal: checkpointBytes, RateBytesPerSecond: c.rate,
		}}
	}
	if c.ordered > 0 {
		snapshot.Leases = []*sluicev1.Lease{{
			Kind: kind, Owner: "policy/latency", TimeLeft: durationpb.New(leaseSeconds*time.Second - 200*time.Millisecond),
			Setting: &sluicev1.Setting{Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: c.ordered}},
		}}
	}
	return snapshot
}

func latency(class string, p99Seconds float64) *sluicev1.Latency {
	p99 := durationpb.New(time.Duration(p99Seconds * 1e9))
	return &sluicev1.Latency{
		RequestClass: class, Age: durationpb.New(0), Interval: durationpb.New(time.Second), Count: 1200, P99: p99,
	}
}

func (c *checkpoints) description() *sluicev1.Description {
	return &sluicev1.Description{Ref: c.ref(), StoreVersion: "17.11", PluginVersion: "0.1.0", MaxTimeToLive: durationpb.New(time.Minute)}
}

func (c *checkpoints) load() (cpu, device float64) { return 0.7 * c.used, c.used }

func (c *checkpoints) writeRate() float64 { return c.rate + c.used*2e7 }

func (c *checkpoints) rename(instance string) { c.instance = instance }
