package slo_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/policies/slo"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const megabyte = 1e6

func made(t *testing.T, more map[string]any) policy.Policy {
	t.Helper()
	given := map[string]any{"target_seconds": 0.02, "ceiling_bytes_per_second": 10 * megabyte}
	maps.Copy(given, more)
	built, err := slo.New(given)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// second is what a store shows for one second.
type second struct {
	p99Milliseconds float64
	requests        uint64
	// task is the state of its task, none if empty.
	task store.State
	// debtMegabytes of 100 are put off.
	debtMegabytes float64
}

// loop feeds a policy with a snapshot each second, taken when the interval of latency ended, and tells it
// in the next one what it has ordered.
type loop struct {
	policy policy.Policy
	memory policy.Memory
	now    time.Duration
	lease  *store.Lease
}

func (l *loop) target(seen second) policy.Target {
	target := policy.Target{
		Ref: policy.Ref{Node: "n", Store: "postgres", Instance: "main"}, Kind: store.Checkpoint, Fresh: true,
		Description: store.Description{Capabilities: []store.Capability{{
			Kind: store.Checkpoint, CanStart: true, Settings: []store.SettingName{store.RateBytesPerSecond, store.Hold},
		}}},
		Lease: l.lease,
	}
	target.Snapshot.Latencies = []store.Latency{{
		Class: "write", Interval: time.Second, Count: seen.requests,
		P99: time.Duration(seen.p99Milliseconds * float64(time.Millisecond)),
	}}
	if seen.task != "" {
		task := store.Task{Kind: store.Checkpoint, State: seen.task, BytesTotal: 1e6}
		if l.lease != nil && seen.task == store.Running {
			task.RateBytesPerSecond = l.lease.Setting.Number
		}
		target.Snapshot.Tasks = []store.Task{task}
	}
	if seen.debtMegabytes > 0 {
		target.Snapshot.Debts = []store.Debt{{
			Kind: store.Checkpoint, Bytes: uint64(seen.debtMegabytes * megabyte), LimitBytes: 100 * megabyte,
		}}
	}
	return target
}

func (l *loop) decide(seen second) policy.Decision {
	l.now += time.Second
	decision, memory := l.policy.Decide(policy.View{Now: l.now, Period: time.Second}, l.target(seen), l.memory)
	l.memory, l.lease = memory, nil
	if decision.Setting != nil {
		l.lease = &store.Lease{Setting: *decision.Setting}
	}
	return decision
}

// rateOf is the decided rate in MB/s, 0 for a hold, -1 for none.
func rateOf(decision policy.Decision) float64 {
	if decision.Setting == nil {
		return -1
	}
	return decision.Setting.Number / megabyte
}

func good(milliseconds float64) second {
	return second{p99Milliseconds: milliseconds, requests: 100, task: store.Running}
}

func TestAdditiveIncreaseAndMultiplicativeDecrease(t *testing.T) {
	l := loop{policy: made(t, nil)}
	for i, step := range []struct {
		milliseconds, want float64
	}{
		{10, 1}, // the floor; what it has used is not known yet
		{10, 2}, {10, 3}, {15.9, 4},
		{17, 4},   // within the target, but not by enough
		{16, 5},   // exactly the share below which it is raised
		{10, 6},   // again
		{30, 3},   // missed: half
		{30, 3},   // queues may still be long from before
		{30, 1.5}, // half again
		{61, 0},   // three times the target: hold
		{10, 0},   // good, but not for long enough
		{10, 1.5}, // resumed where it was
		{10, 2.5}, {10, 3.5},
	} {
		decision := l.decide(good(step.milliseconds))
		if got := rateOf(decision); got != step.want {
			t.Fatalf("in second %d, with %v ms, the rate is %v MB/s, want %v: %s", i, step.milliseconds, got, step.want, decision.Reason)
		}
	}
}

func TestNoSecondDecreaseForTheSameHarm(t *testing.T) {
	l := loop{policy: made(t, nil)}
	for range 8 {
		l.decide(good(10))
	}
	// Intervals that end half a second before the decision began before the decrease.
	l.now += 500 * time.Millisecond
	late := func(milliseconds float64) float64 {
		l.now += time.Second
		target := l.target(good(milliseconds))
		target.Snapshot.Latencies[0].Age = 500 * time.Millisecond
		decision, memory := l.policy.Decide(policy.View{Now: l.now, Period: time.Second}, target, l.memory)
		l.memory, l.lease = memory, &store.Lease{Setting: *decision.Setting}
		return rateOf(decision)
	}
	for i, want := range []float64{4, 4, 4, 2, 2} {
		if got := late(30); got != want {
			t.Errorf("after %d more intervals the rate is %v MB/s, want %v", i, got, want)
		}
	}
}

func TestRateIsNotRaisedUnlessItIsUsed(t *testing.T) {
	l := loop{policy: made(t, nil)}
	for range 10 {
		if got := rateOf(l.decide(second{p99Milliseconds: 1, requests: 100})); got != 1 {
			t.Fatalf("the rate is %v MB/s without a task, want the floor", got)
		}
	}
}

func TestCeilingEndsTheIncrease(t *testing.T) {
	l := loop{policy: made(t, nil)}
	var last float64
	for range 20 {
		last = rateOf(l.decide(good(1)))
	}
	if last != 10 {
		t.Errorf("the rate is %v MB/s, want the ceiling", last)
	}
}

func TestFewRequestsAreAddedUp(t *testing.T) {
	l := loop{policy: made(t, map[string]any{"minimum_requests": 50})}
	l.decide(good(1))
	for i, step := range []struct {
		milliseconds float64
		want         float64
	}{{1, 1}, {90, 1}, {1, 0}} { // 20, 40, then 60 requests, the worst of which is far over the target
		seen := good(step.milliseconds)
		seen.requests = 20
		if got := rateOf(l.decide(seen)); got != step.want {
			t.Errorf("after %d intervals the rate is %v MB/s, want %v", i+1, got, step.want)
		}
	}
}

func TestBurstIsSeenByItsLoad(t *testing.T) {
	l := loop{policy: made(t, nil)}
	step := func(requests uint64) policy.Decision {
		return l.decide(second{p99Milliseconds: 1, requests: requests, task: store.Running})
	}
	for range 5 {
		step(100)
	}
	if got := rateOf(step(150)); got == 0 {
		t.Error("held at 150 requests a second, which is within three standard deviations of 125")
	}
	decision := step(400)
	if rateOf(decision) != 0 || !strings.Contains(decision.Reason, "burst: 400 requests a second") {
		t.Errorf("not held in a burst: %s", decision.Reason)
	}
	before := decision.Inputs["controlled_bytes_per_second"]
	if got := rateOf(step(390)); got != 0 {
		t.Errorf("the rate is %v MB/s in a burst", got)
	}
	if got := rateOf(step(100)); got != 0 {
		t.Errorf("the rate is %v MB/s right after a burst, want a hold for another second", got)
	}
	if got := rateOf(step(100)); got*megabyte != before {
		t.Errorf("resumed at %v MB/s, want the %v bytes a second from before the burst", got, before)
	}
}

func TestLatencyAloneCountsWhereBurstsAreNotWatchedFor(t *testing.T) {
	l := loop{policy: made(t, map[string]any{"watch_bursts": false, "ceiling_bytes_per_second": 5e6})}
	// A task that would be done in time at the floor.
	step := func(requests uint64, milliseconds float64) policy.Decision {
		return l.decide(second{p99Milliseconds: milliseconds, requests: requests, task: store.Running, debtMegabytes: 10})
	}
	for range 5 {
		step(100, 1)
	}
	for range 2 * 30 {
		if decision := step(1000, 1); rateOf(decision) != 5 {
			t.Fatalf("the rate is %v MB/s, want the ceiling, 5: %s", rateOf(decision), decision.Reason)
		}
	}
	decision := step(1000, 61)
	if got := rateOf(decision); got != 0 {
		t.Errorf("the rate is %v MB/s far above the target: %s", got, decision.Reason)
	}
	if _, isThere := decision.Inputs["mean_load_requests_per_second"]; isThere {
		t.Errorf("a mean load is shown that nothing rests on: %v", decision.Inputs)
	}
}

func TestABurstSaysNothingOfTheRateAfterIt(t *testing.T) {
	l := loop{policy: made(t, nil)}
	for range 5 {
		l.decide(good(1))
	}
	before := rateOf(l.decide(good(18)))
	inBurst := second{p99Milliseconds: 50, requests: 1000, task: store.Running}
	if got := rateOf(l.decide(inBurst)); got != 0 {
		t.Errorf("the rate is %v MB/s in a burst", got)
	}
	l.decide(good(1))
	if got := rateOf(l.decide(good(1))); got != before {
		t.Errorf("resumed at %v MB/s, want the %v MB/s from before the burst", got, before)
	}
}

func TestOneRequestAfterAnIdleTimeIsNoBurst(t *testing.T) {
	l := loop{policy: made(t, nil)}
	for range 5 {
		l.decide(good(1))
	}
	for range 150 {
		l.decide(second{task: store.Running})
	}
	if decision := l.decide(second{p99Milliseconds: 1, requests: 1, task: store.Running}); rateOf(decision) == 0 {
		t.Errorf("held for one request: %s", decision.Reason)
	}
}

func TestNoBurstIsExpectedBecauseOfANewLoad(t *testing.T) {
	l := loop{policy: made(t, map[string]any{"longest_burst_seconds": 10})}
	for range 5 {
		l.decide(second{p99Milliseconds: 1, requests: 100, debtMegabytes: 15})
	}
	for i := range 20 {
		decision := l.decide(second{p99Milliseconds: 1, requests: 1000, debtMegabytes: 15})
		if decision.Start {
			t.Errorf("a task is started after %d s of the new load, at 15 %% of the limit", i)
		}
	}
}

func TestWhatLastsIsNoBurst(t *testing.T) {
	l := loop{policy: made(t, map[string]any{"longest_burst_seconds": 10})}
	for range 5 {
		l.decide(good(1))
	}
	held := 0
	for range 20 {
		if rateOf(l.decide(second{p99Milliseconds: 1, requests: 1000, task: store.Running})) == 0 {
			held++
		}
	}
	if held != 12 {
		t.Errorf("held for %d s, want 11 and one to be sure", held)
	}
}

func TestTaskIsStartedAfterABurst(t *testing.T) {
	l := loop{policy: made(t, nil)}
	step := func(requests uint64, debt float64, task store.State) bool {
		decision := l.decide(second{p99Milliseconds: 1, requests: requests, task: task, debtMegabytes: debt})
		if decision.Start && decision.Verdict != policy.Change {
			t.Errorf("a start is to %s", decision.Verdict)
		}
		return decision.Start
	}
	for i, test := range []struct {
		requests uint64
		debt     float64
		task     store.State
		want     bool
	}{
		{100, 20, "", false}, {100, 20, "", false},
		{1000, 21, "", false}, {1000, 22, "", false},
		{100, 23, "", false}, // held for a second yet
		{100, 23, "", true},
		{100, 23, "", false}, // asked for a second ago
		{100, 23, "", false},
		{100, 23, "", true}, // nothing came of it
		{100, 23, store.Running, false},
		{100, 23, "", false}, // once after each burst
	} {
		if got := step(test.requests, test.debt, test.task); got != test.want {
			t.Errorf("in second %d start is %v, want %v", i, got, test.want)
		}
	}
}

func TestTaskIsStartedBeforeItIsTooLate(t *testing.T) {
	for name, test := range map[string]struct {
		milliseconds float64
		requests     uint64
		debt         float64
		want         bool
	}{
		"below the share":            {1, 100, 49, false},
		"at the share":               {1, 100, 50, true},
		"at the share, slow":         {500, 100, 50, true},
		"at the share, in a burst":   {1, 1000, 50, false},
		"hardly in time, in a burst": {1, 1000, 89, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := loop{policy: made(t, nil)}
			for i := range 5 {
				l.decide(second{p99Milliseconds: 1, requests: 100, debtMegabytes: 40 + 0.1*float64(i)})
			}
			seen := second{p99Milliseconds: test.milliseconds, requests: test.requests, debtMegabytes: test.debt}
			if decision := l.decide(seen); decision.Start != test.want {
				t.Errorf("start is %v, want %v: %s", decision.Start, test.want, decision.Reason)
			}
		})
	}
}

func TestWithoutMemoryItGoesOnFromTheLease(t *testing.T) {
	for name, test := range map[string]struct {
		lease *store.Lease
		want  float64
	}{
		"rate":            {&store.Lease{Setting: store.Setting{Name: store.RateBytesPerSecond, Number: 4 * megabyte}}, 4},
		"above ceiling":   {&store.Lease{Setting: store.Setting{Name: store.RateBytesPerSecond, Number: 40 * megabyte}}, 10},
		"hold":            {&store.Lease{Setting: store.Setting{Name: store.Hold}}, 0},
		"no lease at all": {nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := loop{policy: made(t, nil), lease: test.lease}
			seen := good(18) // neither raised nor lowered
			if got := rateOf(l.decide(seen)); got != test.want {
				t.Errorf("the rate is %v MB/s, want %v", got, test.want)
			}
		})
	}
}

func TestHoldThatHelpsNobodyIsGivenUp(t *testing.T) {
	l := loop{policy: made(t, nil)}
	seen := second{p99Milliseconds: 90, requests: 100, task: store.Held}
	seconds := 0
	for rateOf(l.decide(seen)) == 0 && seconds < 100 {
		seconds++
	}
	if seconds != 11 {
		t.Errorf("held for %d s while the target was missed without background work, want 11", seconds)
	}
}

func TestMayHoldFalseKeepsTheFloor(t *testing.T) {
	l := loop{policy: made(t, map[string]any{"may_hold": false})}
	l.decide(good(1))
	if got := rateOf(l.decide(good(900))); got != 1 {
		t.Errorf("the rate is %v MB/s, want the floor", got)
	}
}

func TestIdleStoreIsNotHeldForEver(t *testing.T) {
	l := loop{policy: made(t, nil)}
	l.decide(good(1))
	l.decide(good(900))
	seconds := 0
	for rateOf(l.decide(second{task: store.Held})) == 0 && seconds < 100 {
		seconds++
	}
	if seconds != 10 {
		t.Errorf("held for %d s without a request, want 10", seconds)
	}
}
