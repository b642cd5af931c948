package simulator_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/simulator"
)

// timeToLive is that of the simulated controller's leases.
const timeToLive = 5 * time.Second

// badChannel draws a channel that loses, delays, doubles and reorders.
func badChannel(t *rapid.T) simulator.Channel {
	return simulator.Channel{
		MaxDelay:       time.Duration(rapid.IntRange(0, 4000).Draw(t, "delay")) * time.Millisecond,
		LossShare:      rapid.Float64Range(0, 0.6).Draw(t, "loss"),
		DuplicateShare: rapid.Float64Range(0, 0.5).Draw(t, "duplicates"),
	}
}

func anyKind(t *rapid.T) string {
	return rapid.SampledFrom([]string{"slo", "opportunistic"}).Draw(t, "kind")
}

// What cannot be news never raises a rate, nor starts anything: be it late, doubled or overtaken.
func TestRateIsNeverRaisedOnOldSignals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		load := burstsEvery(40*time.Second, time.Duration(rapid.IntRange(0, 40).Draw(t, "phase"))*time.Second)
		scenario := database(rapid.Uint64Range(0, 1e6).Draw(t, "seed"), 0.5, load)
		scenario.Duration = 120 * time.Second
		scenario.Channel = badChannel(t)
		scenario.Policy = made(t, anyKind(t), nil)
		last, lastAt := 0.0, time.Duration(0)
		for _, step := range simulator.Run(scenario).Steps {
			rate, isOrdered := ordered(step.Decision)
			if !step.IsNews && (step.Decision.Start || isOrdered && (rate > last || step.At-lastAt > timeToLive)) {
				t.Fatalf("at %v, without news, from %v at %v to %v: %s", step.At, last, lastAt, rate, step.Decision.Reason)
			}
			if isOrdered {
				last, lastAt = rate, step.At
			}
		}
	})
}

func TestStaleSignalsEndInStop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scenario := database(1, 0.5, simulator.Steady(300))
		scenario.Duration = 60 * time.Second
		from := time.Duration(rapid.IntRange(10, 40).Draw(t, "from")) * time.Second
		scenario.Cut = []simulator.Span{{From: from, To: time.Hour}}
		scenario.Policy = made(t, anyKind(t), nil)
		result := simulator.Run(scenario)
		for _, step := range result.Steps {
			if step.At > from+4*time.Second && step.Decision.Verdict != policy.Stop {
				t.Fatalf("%v after the last snapshot the verdict is %s", step.At-from, step.Decision.Verdict)
			}
		}
		if result.LeasesExpired != 1 {
			t.Fatalf("%d leases expired, want 1", result.LeasesExpired)
		}
	})
}

// The debt never reaches the limit where the device can do the work at all, be the latency always over the
// target under a steady load. With bursts and a target that nothing can reach, it at least comes hardly
// further than it does with the store by itself.
func TestBoundIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quiet := rapid.Float64Range(50, 300).Draw(t, "quiet")
		load := simulator.Steady(rapid.Float64Range(50, 600).Draw(t, "steady"))
		isBursty := rapid.Bool().Draw(t, "bursts")
		if isBursty {
			load = simulator.RandomBursts(rapid.Uint64Range(0, 1e6).Draw(t, "load seed"), quiet,
				rapid.Float64Range(500, 1200).Draw(t, "burst"), 35*time.Second, 5*time.Second, time.Hour)
		}
		completionTarget := rapid.Float64Range(0.1, 0.9).Draw(t, "completion target")
		scenario := database(rapid.Uint64Range(0, 1e6).Draw(t, "seed"), completionTarget, load)
		scenario.Duration = 200 * time.Second
		allowed := 0.9999
		kind, more := anyKind(t), map[string]any{}
		if kind == "slo" && rapid.Bool().Draw(t, "target out of reach") {
			more["target_seconds"] = 0.001
			if isBursty {
				allowed = max(allowed, simulator.Run(scenario).MaxDebtShare+0.02)
			}
		}
		scenario.Policy = made(t, kind, more)
		if result := simulator.Run(scenario); result.MaxDebtShare > allowed {
			t.Fatalf("%s: debt came to %.3f of its limit, allowed is %.3f", kind, result.MaxDebtShare, allowed)
		}
	})
}

// The same of a debt that falls as the work is done.
func TestBoundIsKeptByCompactions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scenario := backlog()
		scenario.IsNoisy = true
		scenario.Seed = rapid.Uint64Range(0, 1e6).Draw(t, "seed")
		scenario.Compactions = &simulator.Compactions{
			RecordBytes: 20e3, Amplification: 2, TriggerBytes: 100e6, LimitBytes: 2e9, OwnBytesPerSecond: 1e12,
		}
		scenario.Load = simulator.RandomBursts(scenario.Seed, 300, rapid.Float64Range(500, 2000).Draw(t, "burst"),
			30*time.Second, 10*time.Second, time.Hour)
		scenario.Duration = 150 * time.Second
		kind := anyKind(t)
		more := map[string]any{"ceiling_bytes_per_second": 80 * megabyte}
		if kind == "slo" {
			more["target_seconds"] = rapid.SampledFrom([]float64{0.001, 0.03}).Draw(t, "target")
		} else {
			more["capacity_bytes_per_second"] = 100 * megabyte
		}
		scenario.Policy = made(t, kind, more)
		if result := simulator.Run(scenario); result.LimitReached > 0 {
			t.Fatalf("%s: debt came to %.3f of its limit", kind, result.MaxDebtShare)
		}
	})
}

// Nor does a bad channel break anything: at worst the store goes by itself, which keeps its own bound as
// well as it does without a controller.
func TestBadChannelDoesNoHarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scenario := database(rapid.Uint64Range(0, 1e6).Draw(t, "seed"), 0.9, simulator.Steady(400))
		scenario.Duration = 200 * time.Second
		own := simulator.Run(scenario)
		scenario.Channel = badChannel(t)
		scenario.Policy = made(t, anyKind(t), nil)
		result := simulator.Run(scenario)
		if result.MaxDebtShare > max(1.01, own.MaxDebtShare) {
			t.Fatalf("debt came to %.3f of its limit, %.3f by itself", result.MaxDebtShare, own.MaxDebtShare)
		}
		if result.P99Seconds > 10*own.P99Seconds {
			t.Fatalf("p99 is %.1f ms, %.1f ms by itself", 1e3*result.P99Seconds, 1e3*own.P99Seconds)
		}
	})
}
