package simulator_test

import (
	"maps"
	"time"

	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/simulator"
	"sluice.dev/control/internal/store"
)

const (
	megabyte = 1e6
	limit    = 160 << 20
)

// fataler is a test, or one run of a property.
type fataler interface {
	Helper()
	Fatal(...any)
}

func made(t fataler, kind string, more map[string]any) policy.Policy {
	t.Helper()
	given := map[string]any{"ceiling_bytes_per_second": 10 * megabyte}
	switch kind {
	case "slo":
		given["target_seconds"] = 0.03
	case "opportunistic":
		given["device"], given["capacity_bytes_per_second"] = "disk", 13.1*megabyte
	default:
		given = map[string]any{}
	}
	maps.Copy(given, more)
	built, err := policies.New(kind, given)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// database is a store with checkpoints on a device of 12.5 MiB/s, of about the figures of the experiment
// postgres-burst.
func database(seed uint64, completionTarget float64, load simulator.Load) simulator.Scenario {
	return simulator.Scenario{
		Seed: seed, Duration: 330 * time.Second, WarmUp: 90 * time.Second, Load: load, IsNoisy: true,
		Device:      simulator.Device{BytesPerSecond: 13.1 * megabyte, QueueLimitBytes: 8 * megabyte},
		BaseLatency: 2 * time.Millisecond,
		Checkpoints: &simulator.Checkpoints{
			PageCount: 28000, PageBytes: 8192, RecordBytes: 1200, ImageBytes: 6000,
			LimitBytes: limit, CompletionTarget: completionTarget,
		},
		Channel:       simulator.Channel{MinDelay: 5 * time.Millisecond, MaxDelay: 50 * time.Millisecond},
		SnapshotPhase: time.Duration(seed%10) * 100 * time.Millisecond,
	}
}

// backlog is a store with more work put off than can be done, on a device of 100 MB/s of which the
// foreground takes 40. It is exact: nothing in it is random.
func backlog() simulator.Scenario {
	return simulator.Scenario{
		Duration: 120 * time.Second, Load: simulator.Steady(1000),
		Device:      simulator.Device{BytesPerSecond: 100 * megabyte, QueueLimitBytes: 20 * megabyte},
		BaseLatency: 2 * time.Millisecond,
		Compactions: &simulator.Compactions{
			RecordBytes: 40e3, Amplification: 3, TriggerBytes: 1, LimitBytes: 1e15, OwnBytesPerSecond: 1e12,
		},
	}
}

func burstsEvery(period time.Duration, first time.Duration) simulator.Load {
	return simulator.Bursts(150, 1500, first, period, 10*time.Second)
}

// ordered is the rate of a decision in bytes per second, 0 for a hold; false if there is none.
func ordered(decision policy.Decision) (float64, bool) {
	if decision.Setting == nil {
		return 0, false
	}
	if decision.Setting.Name == store.Hold {
		return 0, true
	}
	return decision.Setting.Number, true
}

// rates are the decided rates from a time on, in MB/s.
func rates(result simulator.Result, from time.Duration) []float64 {
	var megabytes []float64
	for _, step := range result.Steps {
		if rate, isOrdered := ordered(step.Decision); isOrdered && step.At >= from {
			megabytes = append(megabytes, rate/megabyte)
		}
	}
	return megabytes
}
