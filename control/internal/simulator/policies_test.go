package simulator_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/simulator"
	"sluice.dev/control/internal/store"
)

// The best of the model's own schedules against the policy, which is not told when bursts come.
func TestSLOAgainstTheStoresOwnScheduleUnderBursts(t *testing.T) {
	for _, period := range []time.Duration{30 * time.Second, 40 * time.Second} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("every %v, seed %d", period, seed), func(t *testing.T) {
				load := burstsEvery(period, time.Duration(seed)*3700*time.Millisecond)
				best := math.Inf(1)
				for _, completionTarget := range []float64{0.1, 0.5, 0.9} {
					best = min(best, simulator.Run(database(seed, completionTarget, load)).P99Seconds)
				}
				for _, completionTarget := range []float64{0.1, 0.5, 0.9} {
					scenario := database(seed, completionTarget, load)
					scenario.Policy = made(t, "slo", nil)
					result := simulator.Run(scenario)
					if result.P99Seconds > best/20 || result.P99Seconds > 0.03 {
						t.Errorf("p99 is %.1f ms at completion target %v, want at most 30 ms, and a twentieth of %.1f ms",
							1e3*result.P99Seconds, completionTarget, 1e3*best)
					}
					if result.LimitReached > 0 {
						t.Errorf("debt has come to %.2f of its limit", result.MaxDebtShare)
					}
				}
			})
		}
	}
}

// With a target that nothing can reach, latency does not tell how fast to be done before the next burst.
func TestSLOLeavesRoomForTheNextBurst(t *testing.T) {
	load := simulator.RandomBursts(1, 50, 1200, 35*time.Second, 5*time.Second, time.Hour)
	scenario := database(0, 0.15625, load)
	scenario.Duration = 200 * time.Second
	scenario.Policy = made(t, "slo", map[string]any{"target_seconds": 0.001})
	if result := simulator.Run(scenario); result.LimitReached > 0 {
		t.Errorf("debt has come to %.2f of its limit", result.MaxDebtShare)
	}
}

func TestSLOIsNoWorseThanTheStoresOwnScheduleUnderSteadyLoad(t *testing.T) {
	for _, load := range []float64{150, 300, 500, 700} {
		for seed := range uint64(3) {
			scenario := database(seed, 0.9, simulator.Steady(load))
			scenario.Duration = 600 * time.Second
			own := simulator.Run(scenario)
			scenario.Policy = made(t, "slo", nil)
			steered := simulator.Run(scenario)
			if steered.P99Seconds > 1.03*own.P99Seconds {
				t.Errorf("at %v requests a second, seed %d, p99 is %.2f ms, that of the store's own schedule %.2f ms",
					load, seed, 1e3*steered.P99Seconds, 1e3*own.P99Seconds)
			}
			if steered.LimitReached > 0 {
				t.Errorf("at %v requests a second debt has come to its limit", load)
			}
		}
	}
}

// A load that has risen for good is no burst: what it held up is not made up for in a hurry.
func TestSLOIsNoWorseThanTheStoresOwnScheduleAfterTheLoadHasRisen(t *testing.T) {
	for seed := range uint64(4) {
		load := simulator.Jump(100, 500, time.Minute+time.Duration(seed)*3700*time.Millisecond)
		scenario := database(seed, 0.9, load)
		scenario.Duration = 600 * time.Second
		own := simulator.Run(scenario)
		scenario.Policy = made(t, "slo", nil)
		steered := simulator.Run(scenario)
		if steered.P99Seconds > 1.05*own.P99Seconds || steered.LimitReached > 0 {
			t.Errorf("seed %d: p99 is %.2f ms, that of the store's own schedule %.2f ms; limit reached %d times",
				seed, 1e3*steered.P99Seconds, 1e3*own.P99Seconds, steered.LimitReached)
		}
	}
}

func TestOpportunisticUnderBursts(t *testing.T) {
	for seed := range uint64(4) {
		load := burstsEvery(40*time.Second, time.Duration(seed)*3700*time.Millisecond)
		own := simulator.Run(database(seed, 0.5, load))
		scenario := database(seed, 0.5, load)
		scenario.Policy = made(t, "opportunistic", nil)
		result := simulator.Run(scenario)
		if result.P99Seconds > own.P99Seconds/20 || result.LimitReached > 0 {
			t.Errorf("seed %d: p99 is %.1f ms against %.1f ms, limit reached %d times", seed,
				1e3*result.P99Seconds, 1e3*own.P99Seconds, result.LimitReached)
		}
	}
}

// The foreground takes 40 of 100 MB/s: the rate rises by 5 MB/s a second until p99 misses its target,
// just above the 60 MB/s that are left, and then halves.
func TestSLOFindsWhatTheDeviceHasLeft(t *testing.T) {
	scenario := backlog()
	scenario.Policy = made(t, "slo", map[string]any{
		"ceiling_bytes_per_second": 100 * megabyte, "increase_bytes_per_second": 5 * megabyte,
	})
	all := rates(simulator.Run(scenario), 0)
	first := slices.IndexFunc(all, func(rate float64) bool { return rate > 60 })
	if first != 15 {
		t.Errorf("what is left is reached after %d periods, want 15: %v", first, all)
	}
	low, high := slices.Min(all[20:]), slices.Max(all[20:])
	if math.Abs(low-31.5) > 0.01 || math.Abs(high-66.67) > 0.01 {
		t.Errorf("then the rate swings between %.2f and %.2f MB/s, want 31.5 and 66.67", low, high)
	}
	last := 20
	for i := 21; i < len(all); i++ {
		if all[i] >= all[i-1] {
			continue
		}
		if i-last > 10 {
			t.Errorf("from period %d to %d the rate only rose, want a fall in 10 periods", last, i)
		}
		last = i
	}
}

func TestOpportunisticSettlesOnWhatIsLeft(t *testing.T) {
	scenario := backlog()
	scenario.Policy = made(t, "opportunistic", map[string]any{
		"ceiling_bytes_per_second": 100 * megabyte, "capacity_bytes_per_second": 100 * megabyte,
	})
	all := rates(simulator.Run(scenario), 0)
	// 100 MB/s without a fifth of headroom and 40 MB/s of foreground are 40 MB/s, to 5 %.
	for i, rate := range all[8:] {
		if rate < 38 || rate > 40 || rate != all[8] {
			t.Fatalf("in period %d the rate is %v MB/s, want the same 38 to 40 MB/s: %v", i+8, rate, all)
		}
	}
}

func TestFixedFollowsItsWindows(t *testing.T) {
	scenario := database(1, 0.9, simulator.Steady(150))
	scenario.Policy = made(t, "fixed", map[string]any{
		"time_zone": "UTC",
		"windows":   []any{map[string]any{"from": "00:01", "to": "00:03", "setting": "rate_bytes_per_second=3e6"}},
	})
	for _, step := range simulator.Run(scenario).Steps {
		rate, isOrdered := ordered(step.Decision)
		isInside := step.At >= time.Minute && step.At < 3*time.Minute
		if isOrdered != isInside || isInside && rate != 3*megabyte {
			t.Errorf("at %v: %s, %v", step.At, step.Decision.Verdict, step.Decision.Setting)
		}
	}
}

func TestScriptInTheLoop(t *testing.T) {
	load := burstsEvery(40*time.Second, 0)
	scenario := database(1, 0.5, load)
	scenario.Policy = made(t, "script", map[string]any{"source": `
def decide(view):
    write = [l for l in view.target.latencies if l.request_class == "write"]
    if not write:
        return None
    rate = write[-1].count / write[-1].interval_seconds
    quiet = view.memory.get("quiet_count", 0) + 1 if rate < 500 else 0
    debt = view.target.debts[0]
    idle = not view.target.tasks
    return {
        "setting": "hold" if quiet < 2 else "rate_bytes_per_second=6e6",
        "start": quiet == 2 and idle and debt.bytes > debt.limit_bytes // 10,
        "reason": "%d requests a second" % int(rate),
        "memory": {"quiet_count": quiet},
    }
`})
	result := simulator.Run(scenario)
	own := simulator.Run(database(1, 0.5, load))
	if result.P99Seconds > own.P99Seconds/20 || result.LimitReached > 0 {
		t.Errorf("p99 is %.1f ms against %.1f ms of the store by itself, limit reached %d times",
			1e3*result.P99Seconds, 1e3*own.P99Seconds, result.LimitReached)
	}
}

func TestScriptThatFailsLeavesTheStoreToItself(t *testing.T) {
	scenario := database(1, 0.9, simulator.Steady(300))
	own := simulator.Run(scenario)
	scenario.Policy = made(t, "script", map[string]any{"source": `
def decide(view):
    if view.now_seconds < 20:
        return {"setting": "rate_bytes_per_second=3e6"}
    fail("no more")
`})
	result := simulator.Run(scenario)
	if result.LeasesExpired != 1 || result.LimitReached > 0 || math.Abs(result.P99Seconds-own.P99Seconds) > 1e-3 {
		t.Errorf("%d leases expired, p99 is %.1f ms against %.1f ms", result.LeasesExpired,
			1e3*result.P99Seconds, 1e3*own.P99Seconds)
	}
	for _, step := range result.Steps {
		if isAfter := step.At >= 20*time.Second; isAfter && step.Decision.Verdict != policy.Stop {
			t.Errorf("at %v the verdict is %s", step.At, step.Decision.Verdict)
		}
	}
}

// A controller that takes over, without memory, goes on from the lease that the snapshot shows.
func TestFailoverWithoutMemory(t *testing.T) {
	for _, kind := range []string{"slo", "opportunistic"} {
		scenario := database(2, 0.5, burstsEvery(40*time.Second, 0))
		scenario.Policy = made(t, kind, nil)
		for at := 100 * time.Second; at < scenario.Duration; at += 95 * time.Second {
			scenario.ControllerDown = append(scenario.ControllerDown, simulator.Span{From: at, To: at + 3*time.Second})
		}
		result := simulator.Run(scenario)
		if result.LeasesExpired > 0 {
			t.Errorf("%s: %d leases expired although a controller came back in time", kind, result.LeasesExpired)
		}
		if result.P99Seconds > 0.1 || result.LimitReached > 0 {
			t.Errorf("%s: p99 is %.1f ms, limit reached %d times", kind, 1e3*result.P99Seconds, result.LimitReached)
		}
		for i, step := range result.Steps[1:] {
			before := result.Steps[i]
			if step.At-before.At <= time.Second {
				continue
			}
			was, _ := ordered(before.Decision)
			if rate, _ := ordered(step.Decision); kind == "slo" && rate > max(was, megabyte) && step.DebtBytes < 0.8*limit {
				t.Errorf("%s raised the rate from %v to %v as it took over: %s", kind, was, rate, step.Decision.Reason)
			}
		}
	}
}

func TestStoreIsByItselfWhenTheControllerIsGone(t *testing.T) {
	scenario := database(3, 0.9, simulator.Steady(300))
	own := simulator.Run(scenario)
	scenario.Policy = made(t, "slo", nil)
	scenario.ControllerDown = []simulator.Span{{From: 120 * time.Second, To: time.Hour}}
	result := simulator.Run(scenario)
	if result.LeasesExpired != 1 || result.LimitReached > 0 || result.MaxDebtShare > 1 || result.TasksDone < own.TasksDone-1 {
		t.Errorf("%d leases expired, debt came to %.3f of its limit, %d checkpoints against %d",
			result.LeasesExpired, result.MaxDebtShare, result.TasksDone, own.TasksDone)
	}
	if result.P99Seconds > 1.1*own.P99Seconds {
		t.Errorf("p99 is %.1f ms against %.1f ms", 1e3*result.P99Seconds, 1e3*own.P99Seconds)
	}
}

func TestSignalsFromQueries(t *testing.T) {
	scenario := backlog()
	scenario.Policy = made(t, "slo", map[string]any{
		"signal": "p99", "signal_window_seconds": 1, "ceiling_bytes_per_second": 100 * megabyte,
	})
	scenario.Signals = func(at time.Duration) map[string]policy.Signal {
		return map[string]policy.Signal{"p99": {Value: 0.001, Fresh: at < time.Minute, Missing: "no answer"}}
	}
	result := simulator.Run(scenario)
	highest := slices.Max(rates(result, 0))
	if highest < 50 {
		t.Errorf("the rate has come to %v MB/s only, with a signal that is always good", highest)
	}
	for _, step := range result.Steps {
		if step.At >= time.Minute && step.Decision.Verdict != policy.Stop {
			t.Errorf("at %v the verdict is %s without the signal", step.At, step.Decision.Verdict)
		}
	}
}

func TestLastSettingIsOneThatStoresKnow(t *testing.T) {
	for _, kind := range []string{"slo", "opportunistic"} {
		scenario := database(5, 0.9, burstsEvery(40*time.Second, 0))
		scenario.Policy = made(t, kind, nil)
		for _, step := range simulator.Run(scenario).Steps {
			setting := step.Decision.Setting
			if setting == nil {
				continue
			}
			if err := setting.Validate(); err != nil || setting.Number != math.Trunc(setting.Number) || setting.Aspect() != store.AspectPace {
				t.Fatalf("%s orders %v: %v", kind, setting, err)
			}
		}
	}
}
