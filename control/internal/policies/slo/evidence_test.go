package slo_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/policies/slo"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func TestSignalInPlaceOfSnapshots(t *testing.T) {
	built := made(t, map[string]any{"signal": "p99"})
	l := loop{policy: built}
	view := func(signals map[string]policy.Signal) policy.View {
		l.now += time.Second
		return policy.View{Now: l.now, Period: time.Second, Signals: signals}
	}
	fresh := map[string]policy.Signal{"p99": {Value: 0.9, Fresh: true}}
	target := l.target(second{task: store.Running})
	decision, memory := built.Decide(view(fresh), target, nil)
	if rateOf(decision) != 0 {
		t.Errorf("the rate is %v MB/s at 900 ms, want a hold", rateOf(decision))
	}
	old := map[string]policy.Signal{"p99": {Value: 0.001, Age: time.Second, Fresh: true}}
	if decision, memory = built.Decide(view(old), target, memory); rateOf(decision) != 0 {
		t.Errorf("the same result of the query, a second later, led to %v", decision.Setting)
	}
	for want, signals := range map[string]map[string]policy.Signal{
		`no signal "p99"`:    nil,
		"missing: no answer": {"p99": {Missing: "no answer"}},
		"4.0 s old":          {"p99": {Value: 1, Fresh: true, Age: 4 * time.Second}},
		"no latency":         {"p99": {Value: -1, Fresh: true}},
	} {
		if decision, _ := built.Decide(view(signals), target, memory); decision.Verdict != policy.Stop || !strings.Contains(decision.Reason, want) {
			t.Errorf("got %s: %s, want stop: %s", decision.Verdict, decision.Reason, want)
		}
	}
}

// A value that reaches 15 s back shows 15 s what a rate was good for, or bad.
func TestSignalMovesTheRateOnceInItsWindow(t *testing.T) {
	for name, test := range map[string]struct {
		value float64
		wants []float64
	}{
		"bad":  {0.03, []float64{4, 4, 2, 2, 1}},
		"good": {0.01, []float64{9, 9, 10, 10, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			built := made(t, map[string]any{"signal": "p99"})
			l := loop{policy: built, lease: &store.Lease{Setting: store.Setting{Name: store.RateBytesPerSecond, Number: 8 * megabyte}}}
			signals := map[string]policy.Signal{"p99": {Value: test.value, Fresh: true}}
			var got []float64
			for at := range 37 {
				view := policy.View{Now: time.Duration(at) * time.Second, Period: time.Second, Signals: signals}
				decision, memory := built.Decide(view, l.target(second{task: store.Running}), l.memory)
				l.memory, l.lease = memory, &store.Lease{Setting: *decision.Setting}
				if at%9 == 0 {
					got = append(got, rateOf(decision))
				}
			}
			if !slices.Equal(got, test.wants) {
				t.Errorf("rates after 0, 9, 18, 27 and 36 s are %v MB/s, want %v", got, test.wants)
			}
		})
	}
}

func TestStops(t *testing.T) {
	for want, change := range map[string]func(*policy.Target){
		"no answer":                        func(target *policy.Target) { target.Fresh, target.Missing = false, "no answer" },
		"cannot set rate_bytes_per_second": func(target *policy.Target) { target.Description = store.Description{} },
		"no latency of both requests":      func(target *policy.Target) { target.Snapshot.Latencies = nil },
		"the last latency is 3.5 s old":    func(target *policy.Target) { target.Snapshot.Latencies[0].Age = 3500 * time.Millisecond },
		"has reached its limit":            func(target *policy.Target) { target.Snapshot.Debts[0].Bytes = 100 * megabyte },
	} {
		l := loop{policy: made(t, nil)}
		target := l.target(second{p99Milliseconds: 1, requests: 100, debtMegabytes: 1})
		change(&target)
		decision, _ := l.policy.Decide(policy.View{Now: time.Second, Period: time.Second}, target, nil)
		if decision.Verdict != policy.Stop || decision.Setting != nil || !strings.Contains(decision.Reason, want) {
			t.Errorf("got %s: %s, want stop: %s", decision.Verdict, decision.Reason, want)
		}
	}
}

func TestClassOfRequests(t *testing.T) {
	l := loop{policy: made(t, map[string]any{"request_class": "read"})}
	target := l.target(good(900))
	target.Snapshot.Latencies = append(target.Snapshot.Latencies, store.Latency{
		Class: "read", Interval: time.Second, Count: 100, P99: time.Millisecond,
	})
	decision, _ := l.policy.Decide(policy.View{Now: time.Second, Period: time.Second}, target, nil)
	if rateOf(decision) != 1 || decision.Inputs["p99_seconds"] != 0.001 {
		t.Errorf("got %+v, want the floor, by reads of 1 ms", decision)
	}
}

func TestFloorAboveCeilingIsRefused(t *testing.T) {
	_, err := slo.New(map[string]any{
		"target_seconds": 1, "ceiling_bytes_per_second": 1e6, "floor_bytes_per_second": 2e6,
	})
	if err == nil || !strings.Contains(err.Error(), "Lower the floor") || store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

func TestDecideLeavesItsArgumentsAlone(t *testing.T) {
	l := loop{policy: made(t, nil)}
	l.decide(good(1))
	remembered := reflect.ValueOf(l.memory).Elem()
	before := reflect.New(remembered.Type()).Elem()
	before.Set(remembered)
	l.policy.Decide(policy.View{Now: time.Minute, Period: time.Second}, l.target(good(900)), l.memory)
	if !before.Equal(remembered) {
		t.Errorf("the memory has changed from %v to %v", before, remembered)
	}
}

// The first load after an idle time looks like a burst, within which there can be a burst.
func TestABurstUponANewLoadIsNotTakenForTheLoad(t *testing.T) {
	l := loop{policy: made(t, map[string]any{"longest_burst_seconds": 10})}
	step := func(requests uint64) policy.Decision {
		return l.decide(second{p99Milliseconds: 1, requests: requests, debtMegabytes: 60})
	}
	for range 5 {
		step(0)
	}
	for _, rising := range []uint64{22, 43, 129} {
		step(rising)
	}
	for range 4 {
		step(150)
	}
	for i := range 10 {
		decision := step(1500)
		if rateOf(decision) != 0 || decision.Start {
			t.Errorf("%d s into the burst: %s", i, decision.Reason)
		}
	}
	for range 4 {
		step(150)
	}
	if mean := step(150).Inputs["mean_load_requests_per_second"]; mean != 150 {
		t.Errorf("the mean load outside of bursts is %v, want 150", mean)
	}
	if decision := step(400); rateOf(decision) != 0 {
		t.Errorf("the next burst is not seen: %s", decision.Reason)
	}
}

func TestIntervalsLongerThanTheLongestBurst(t *testing.T) {
	l := loop{policy: made(t, nil)}
	var mean float64
	for _, requests := range []uint64{100, 1000, 1000} {
		l.now += 5 * time.Minute
		mean = l.decide(second{p99Milliseconds: 1, requests: requests}).Inputs["mean_load_requests_per_second"]
	}
	if mean != 1000 {
		t.Errorf("the mean load is %v after 5 minutes of 1000, want that", mean)
	}
}

// That it was good before a gap does not make the first good interval after it the second one.
func TestAfterAGapItMustHaveBeenGoodForAsLong(t *testing.T) {
	l := loop{policy: made(t, map[string]any{"resume_after_seconds": 5})}
	for _, milliseconds := range []float64{10, 10, 100, 10} {
		l.decide(good(milliseconds))
	}
	gone := l.target(good(10))
	gone.Fresh, gone.Missing = false, "no answer"
	l.now += time.Second
	_, l.memory = l.policy.Decide(policy.View{Now: l.now, Period: time.Second}, gone, l.memory)
	l.now += 30 * time.Second
	if decision := l.decide(good(10)); rateOf(decision) != 0 {
		t.Errorf("the rate is %v MB/s, want it still held: %s", rateOf(decision), decision.Reason)
	}
}
