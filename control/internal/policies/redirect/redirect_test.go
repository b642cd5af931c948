package redirect_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/policies/redirect"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func made(t interface{ Fatal(...any) }) policy.Policy {
	built, err := redirect.New(map[string]any{
		"fast_devices": []any{"ssd1", "ssd2"}, "slow_devices": []any{"hdd1"},
		"queue_requests": 8, "idle_requests": 1, "least_seconds": 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// node is a target whose devices have so many requests in flight.
func node(ssd1, ssd2, hdd1 float64) policy.Target {
	return policy.Target{
		Ref: policy.Ref{Node: "n", Store: "hbase", Instance: "regionserver"}, Kind: store.LogPlacement, Fresh: true,
		Description: store.Description{Capabilities: []store.Capability{{
			Kind: store.LogPlacement, Settings: []store.SettingName{store.Tier},
		}}},
		NodeSignals: policy.NodeSignals{Devices: []policy.DeviceSignals{
			{Name: "ssd1", InFlight: ssd1}, {Name: "ssd2", InFlight: ssd2}, {Name: "hdd1", InFlight: hdd1},
		}},
	}
}

func at(seconds float64) policy.View {
	return policy.View{Now: time.Duration(seconds * float64(time.Second))}
}

func slowLease() *store.Lease {
	return &store.Lease{Setting: store.Setting{Name: store.Tier, Text: "slow"}}
}

func TestLogsGoToTheSlowTierWhenOnlyTheFastOneIsBusy(t *testing.T) {
	for name, test := range map[string]struct {
		target policy.Target
		want   policy.Verdict
	}{
		"both idle":                {node(0, 0, 0), policy.Keep},
		"fast at the limit":        {node(8, 8, 0), policy.Keep},
		"fast busy":                {node(8.1, 9, 1), policy.Change},
		"one fast device is free":  {node(50, 8, 0), policy.Keep},
		"both busy":                {node(50, 50, 1.1), policy.Keep},
		"a device is not reported": {policy.Target{Fresh: true}, policy.Stop},
		"stale":                    {policy.Target{Missing: "no snapshot"}, policy.Stop},
	} {
		t.Run(name, func(t *testing.T) {
			decision, _ := made(t).Decide(at(0), test.target, nil)
			if decision.Verdict != test.want {
				t.Errorf("verdict %s (%s), want %s", decision.Verdict, decision.Reason, test.want)
			}
			if wantsLease := test.want == policy.Change; wantsLease != (decision.Setting != nil) {
				t.Errorf("setting %v", decision.Setting)
			}
		})
	}
}

func TestLogsStayThereUntilTheFastTierIsFree(t *testing.T) {
	built := made(t)
	_, memory := built.Decide(at(100), node(20, 20, 0), nil)
	for _, step := range []struct {
		seconds          float64
		ssd1, ssd2, hdd1 float64
		want             policy.Verdict
	}{
		{101, 0, 0, 2, policy.Keep},
		{109.9, 0, 0, 8, policy.Keep},
		{110, 1.1, 2, 0, policy.Keep},
		{111, 1, 9, 0, policy.Stop},
	} {
		target := node(step.ssd1, step.ssd2, step.hdd1)
		target.Lease = slowLease()
		var decision policy.Decision
		decision, memory = built.Decide(at(step.seconds), target, memory)
		if decision.Verdict != step.want {
			t.Errorf("after %v s: verdict %s (%s), want %s", step.seconds, decision.Verdict, decision.Reason, step.want)
		}
	}
}

func TestASlowTierThatIsTooBusyEndsIt(t *testing.T) {
	built := made(t)
	_, memory := built.Decide(at(100), node(20, 20, 0), nil)
	target := node(20, 20, 8.1)
	target.Lease = slowLease()
	if decision, _ := built.Decide(at(101), target, memory); decision.Verdict != policy.Stop {
		t.Errorf("verdict %s (%s)", decision.Verdict, decision.Reason)
	}
}

func TestAStopIsNotTakenBackWhileTheLeaseRunsOut(t *testing.T) {
	built := made(t)
	_, memory := built.Decide(at(100), node(20, 20, 0), nil)
	busy, better := node(20, 20, 8.1), node(20, 20, 7)
	busy.Lease, better.Lease = slowLease(), slowLease()
	_, memory = built.Decide(at(101), busy, memory)
	decision, memory := built.Decide(at(102), better, memory)
	if decision.Verdict != policy.Stop {
		t.Errorf("verdict %s (%s)", decision.Verdict, decision.Reason)
	}
	if decision, _ = built.Decide(at(106), node(20, 20, 0), memory); decision.Verdict != policy.Change {
		t.Errorf("without the lease: verdict %s (%s)", decision.Verdict, decision.Reason)
	}
}

func TestALeaseFromBeforeAFailoverKeepsItsLeastTime(t *testing.T) {
	built := made(t)
	target := node(0, 0, 0)
	target.Lease = slowLease()
	var memory policy.Memory
	for _, step := range []struct {
		seconds float64
		want    policy.Verdict
	}{{3600, policy.Keep}, {3609.9, policy.Keep}, {3610, policy.Stop}} {
		var decision policy.Decision
		decision, memory = built.Decide(at(step.seconds), target, memory)
		if decision.Verdict != step.want {
			t.Errorf("at %v s: verdict %s (%s), want %s", step.seconds, decision.Verdict, decision.Reason, step.want)
		}
	}
}

func TestAStoreWithoutTiersIsLeftAlone(t *testing.T) {
	target := node(20, 20, 0)
	target.Description = store.Description{}
	decision, _ := made(t).Decide(at(0), target, nil)
	if decision.Verdict != policy.Stop || decision.Reason != "the store has no setting tier of log-placement" {
		t.Errorf("verdict %s (%s)", decision.Verdict, decision.Reason)
	}
}

func TestLimitsMustBeApart(t *testing.T) {
	_, err := redirect.New(map[string]any{
		"fast_devices": []any{"a"}, "slow_devices": []any{"b"}, "queue_requests": 1, "idle_requests": 1,
	})
	if err == nil || store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

// A change is followed by least_seconds without another, as long as the slow tier bears it.
func TestItDoesNotOscillate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		built := made(t)
		queues := rapid.SliceOfN(rapid.Float64Range(0, 30), 40, 40).Draw(t, "queues of the fast tier")
		var memory policy.Memory
		var lease *store.Lease
		changed := -100.0
		for second, queue := range queues {
			target := node(queue, queue, 0)
			target.Lease = lease
			var decision policy.Decision
			decision, memory = built.Decide(at(float64(second)), target, memory)
			switch decision.Verdict {
			case policy.Change:
				lease, changed = slowLease(), float64(second)
			case policy.Stop:
				if lease != nil && float64(second)-changed < 10 {
					t.Fatalf("sent back after %v s", float64(second)-changed)
				}
				lease = nil
			}
		}
	})
}
