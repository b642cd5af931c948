package controller

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/election"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func TestChangeIsWrittenAndThenKept(t *testing.T) {
	w := newWorld(t, nil)
	first := about(t, w.step(), "n1")
	if first.GetVerdict() != sluicev1.Verdict_VERDICT_CHANGE || !first.GetWasWritten() || first.GetProblem() != "" {
		t.Errorf("the first decision is %v", first)
	}
	if first.GetPolicy() != "p" || first.GetReason() != "steady" || first.GetInputs()["rate_bytes_per_second"] != 5e6 {
		t.Errorf("the first decision does not say what it rests on: %v", first)
	}
	want := store.Lease{
		Kind: store.Compaction, Setting: store.Setting{Name: store.RateBytesPerSecond, Number: 5e6},
		Owner: "policy/p", TimeLeft: 5 * time.Second,
	}
	if got := w.agents["n1"].lease("main"); got == nil || *got != want {
		t.Fatalf("the lease is %+v, want %+v", got, want)
	}

	second := about(t, w.step(), "n1")
	if second.GetVerdict() != sluicev1.Verdict_VERDICT_KEEP || !second.GetWasWritten() {
		t.Errorf("the second decision is %v", second)
	}
	if got := w.agents["n1"].lease("main"); got == nil || *got != want {
		t.Errorf("the lease was not renewed: %+v", got)
	}
	if second.GetSequence() <= first.GetSequence() {
		t.Errorf("sequence %d follows %d", second.GetSequence(), first.GetSequence())
	}
}

func TestWhatIsNotWritten(t *testing.T) {
	keepWithout := decideFunc(func(_ policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
		return policy.Decision{Target: target.Ref, Kind: target.Kind, Verdict: policy.Keep, Reason: "as it is"}, m
	})
	stop := decideFunc(func(_ policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
		return policy.StopFor(target, "no need"), m
	})
	tests := []struct {
		name    string
		policy  policy.Policy
		change  func(*Config)
		verdict sluicev1.Verdict
	}{
		{"keep without a lease", keepWithout, nil, sluicev1.Verdict_VERDICT_KEEP},
		{"stop", stop, nil, sluicev1.Verdict_VERDICT_STOP},
		{"dry run", steady(5e6), func(c *Config) { c.DryRun = true }, sluicev1.Verdict_VERDICT_CHANGE},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.change)
			w.use(test.policy)
			for range 3 {
				decision := about(t, w.step(), "n1")
				if decision.GetVerdict() != test.verdict || decision.GetWasWritten() || decision.GetProblem() != "" {
					t.Errorf("the decision is %v", decision)
				}
			}
			if lease := w.agents["n1"].lease("main"); lease != nil {
				t.Errorf("there is a lease: %+v", lease)
			}
		})
	}
}

func TestStopLetsALeaseRunOut(t *testing.T) {
	w := newWorld(t, nil)
	w.step()
	w.use(decideFunc(func(_ policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
		return policy.StopFor(target, "no need"), m
	}))
	for second := 1; second <= 5; second++ {
		w.step()
		if has := w.agents["n1"].lease("main") != nil; has != (second < 5) {
			t.Errorf("%d s after the last renewal there is a lease: %v", second, has)
		}
	}
}

// Whatever a policy makes of what is not fresh, nothing is written for it.
func TestWhatIsNotFreshIsStopped(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		spoil  func(*world)
		reason string
	}{
		{"old signals of the node", nil, func(w *world) { w.agents["n1"].signalsAge = 4001 * time.Millisecond },
			"the signals of node n1 are 4.001s old, more than 4s, though its agent answers"},
		{"old snapshot", nil, func(w *world) { w.agents["n1"].instances["main"].age = 3001 * time.Millisecond },
			"the snapshot is 3.001s old, more than 3s, though the agent of node n1 answers"},
		{"store that is gone", nil, func(w *world) {
			*w.agents["n1"].instances["main"] = memoryStore{age: 4 * time.Second, problem: "the socket is gone"}
		}, "the snapshot is 4s old, more than 3s: the socket is gone"},
		{"store that has never answered", nil, func(w *world) {
			*w.agents["n1"].instances["main"] = memoryStore{isSilent: true, problem: "it has not been asked yet"}
		}, "the agent has no snapshot of the store: it has not been asked yet"},
		{"unreachable agent", nil, func(w *world) { w.agents["n1"].failure = errGone },
			"the agent at n1:7411 does not answer: connection refused"},
		{"agent of another node", nil, func(w *world) { w.agents["n1"].node = "n2" },
			"the answer of the agent at n1:7411 cannot be used"},
		{"missing instance", func(c *Config) {
			c.Policies[0].Targets.Nodes, c.Policies[0].Targets.Instances = []string{"n1"}, []string{"main"}
		}, func(w *world) { w.agents["n1"].instances = nil }, "the agent of node n1 knows no instance main of reference"},
		{"missing signal", func(c *Config) {
			c.Policies[0].Signals = map[string]Signal{"p99_seconds": {Query: "x", StaleSeconds: 30}}
		}, func(*world) {}, "the signal p99_seconds is missing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.change)
			w.period(t.Context()) // so that the target is known
			test.spoil(w)
			isTold := false
			w.use(decideFunc(func(_ policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
				isTold = isTold || target.Node == "n1"
				if target.Node == "n1" && (target.Fresh || !strings.Contains(target.Missing, test.reason)) {
					t.Errorf("the policy was told that the target is fresh: %v, and missing: %s", target.Fresh, target.Missing)
				}
				return steady(9e6)(policy.View{}, target, m)
			}))
			decision := about(t, w.step(), "n1")
			if decision.GetVerdict() != sluicev1.Verdict_VERDICT_STOP || !strings.Contains(decision.GetReason(), test.reason) {
				t.Errorf("the decision is %v, want to stop for %q", decision, test.reason)
			}
			if decision.GetWasWritten() || !isTold {
				t.Errorf("something was written, or the policy was told nothing: %v", decision)
			}
		})
	}
}

func TestInstanceThatIsLeftOutIsGone(t *testing.T) {
	w := newWorld(t, nil)
	w.step()
	w.agents["n1"].instances = map[string]*memoryStore{}
	if made := w.step(); len(made) != 1 || made[0].GetNode() != "n2" {
		t.Errorf("the decisions are %v, want one about n2", made)
	}
}

// Two orders for one instance would be given at the same time.
func TestInstanceThatIsNamedTwiceIsDecidedAboutOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.agents["n1"].instances["main"].isTwice = true
	if made := w.step(); len(made) != 2 {
		t.Errorf("there are %d decisions, want one about each node: %v", len(made), made)
	}
}

func TestMemory(t *testing.T) {
	w := newWorld(t, nil)
	counts := make(map[string]int)
	w.use(decideFunc(func(_ policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
		if !target.Fresh {
			return policy.StopFor(target, target.Missing), m
		}
		periods, _ := m.(int)
		counts[target.Node] = periods + 1
		return policy.StopFor(target, "counting"), periods + 1
	}))
	expect := func(what string, n1, n2 int) {
		t.Helper()
		w.step()
		if counts["n1"] != n1 || counts["n2"] != n2 {
			t.Errorf("%s: the policy remembers %v periods, want %v and %v", what, counts, n1, n2)
		}
	}
	expect("first", 1, 1)
	expect("second", 2, 2)
	w.agents["n1"].failure = errGone
	expect("while n1 does not answer", 2, 3)
	w.agents["n1"].failure = nil
	expect("when n1 answers again", 3, 4)
	instances := w.agents["n1"].instances
	w.agents["n1"].instances = nil
	expect("without the instance", 3, 5)
	w.agents["n1"].instances = instances
	expect("with the instance again", 1, 6)
	w.pause("p", "somebody")
	expect("while paused", 1, 6)
	w.resume("p")
	expect("after a pause", 1, 1)
	w.elector.set(election.State{Leader: "c2"})
	expect("standing by", 1, 1)
	w.elector.set(election.State{Active: true, Leader: "c1"})
	expect("active again", 1, 1)
	expect("still active", 2, 2)
	w.elector.set(election.State{Active: true, Term: 2, Leader: "c1"})
	expect("elected anew between two periods", 1, 1)
}

func TestPause(t *testing.T) {
	w := newWorld(t, nil)
	w.step()
	if w.pause("no-such-policy", "x") || w.resume("no-such-policy") {
		t.Error("a policy that does not exist was paused")
	}
	w.pause("p", "sluice://test/operator/ann")
	decision := about(t, w.step(), "n1")
	if decision.GetVerdict() != sluicev1.Verdict_VERDICT_STOP ||
		decision.GetReason() != "the policy was paused by sluice://test/operator/ann" {
		t.Errorf("the decision is %v", decision)
	}
	w.resume("p")
	if decision := about(t, w.step(), "n1"); !decision.GetWasWritten() {
		t.Errorf("the decision is %v", decision)
	}
}

func TestStandbyReadsAndDecidesNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.elector.set(election.State{Leader: "c2"})
	if made := w.step(); len(made) != 0 {
		t.Errorf("a standby decided %v", made)
	}
	if w.agents["n1"].asked != 1 {
		t.Errorf("a standby read the agent %d times, want 1", w.agents["n1"].asked)
	}
	w.elector.set(election.State{Active: true, Leader: "c1"})
	if decision := about(t, w.step(), "n1"); !decision.GetWasWritten() {
		t.Errorf("the first decision after taking over is %v", decision)
	}
}

func TestActivityThatEndsBeforeTheOrderIsWritten(t *testing.T) {
	w := newWorld(t, nil)
	w.use(decideFunc(func(v policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
		w.elector.set(election.State{Leader: "c2"})
		return steady(5e6)(v, target, m)
	}))
	decision := about(t, w.step(), "n1")
	if decision.GetWasWritten() || decision.GetProblem() != inactiveProblem {
		t.Errorf("the decision is %v", decision)
	}
	if lease := w.agents["n1"].lease("main"); lease != nil {
		t.Errorf("there is a lease: %+v", lease)
	}
}

// The snapshot may be older than the last order.
func TestLeaseIsKnownBeforeASnapshotShowsIt(t *testing.T) {
	w := newWorld(t, nil)
	w.step()
	w.agents["n1"].instances["main"].leases = nil
	w.agents["n1"].instances["main"].age = 2 * time.Second
	if decision := about(t, w.step(), "n1"); decision.GetVerdict() != sluicev1.Verdict_VERDICT_KEEP {
		t.Errorf("with a snapshot from before the order: %v", decision)
	}
	w.agents["n1"].instances["main"].leases = nil
	w.agents["n1"].instances["main"].age = 0
	if decision := about(t, w.step(), "n1"); decision.GetVerdict() != sluicev1.Verdict_VERDICT_CHANGE {
		t.Errorf("with a snapshot from after somebody ended the lease: %v", decision)
	}
}

func TestStartOfATask(t *testing.T) {
	w := newWorld(t, nil)
	w.use(decideFunc(func(_ policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
		return policy.Decision{Target: target.Ref, Kind: target.Kind, Verdict: policy.Keep, Start: true, Reason: "early"}, m
	}))
	if decision := about(t, w.step(), "n1"); !decision.GetWasWritten() || !decision.GetStart() {
		t.Errorf("the decision is %v", decision)
	}
	if started := w.agents["n1"].instances["main"].started; started != 1 {
		t.Errorf("%d tasks were started, want 1", started)
	}
}

func TestDecisionsThatCannotBe(t *testing.T) {
	rate := &store.Setting{Name: store.RateBytesPerSecond, Number: -1}
	tests := []struct {
		name     string
		decision policy.Decision
	}{
		{"another target", policy.Decision{Target: policy.Ref{Node: "n3"}, Kind: store.Compaction, Verdict: policy.Keep}},
		{"another kind", policy.Decision{Kind: store.Flush, Verdict: policy.Keep}},
		{"another scope", policy.Decision{Kind: store.Compaction, Scope: "t", Verdict: policy.Keep}},
		{"no verdict", policy.Decision{Kind: store.Compaction}},
		{"change to nothing", policy.Decision{Kind: store.Compaction, Verdict: policy.Change}},
		{"stop and start", policy.Decision{Kind: store.Compaction, Verdict: policy.Stop, Start: true}},
		{"setting out of range", policy.Decision{Kind: store.Compaction, Verdict: policy.Change, Setting: rate}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.use(decideFunc(func(_ policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
				made := test.decision
				if made.Target == (policy.Ref{}) {
					made.Target = target.Ref
				}
				return made, m
			}))
			decision := about(t, w.step(), "n1")
			if decision.GetVerdict() != sluicev1.Verdict_VERDICT_STOP || decision.GetWasWritten() ||
				!strings.HasPrefix(decision.GetReason(), "the policy made a decision that cannot be: ") {
				t.Errorf("the decision is %v", decision)
			}
		})
	}
}

func TestOrderThatTheAgentRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.step()
	w.use(decideFunc(func(v policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
		w.agents["n1"].failure = store.Errorf(store.CodeConflict, "ann has a lease on it")
		return steady(6e6)(v, target, m)
	}))
	decision := about(t, w.step(), "n1")
	if decision.GetWasWritten() || decision.GetProblem() != "ann has a lease on it" {
		t.Errorf("the decision is %v", decision)
	}
}

// Whatever goes wrong, an order rests on a snapshot that is fresh, and leaves a lease that will do.
func TestNothingIsEverWrittenOnStaleState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, nil)
		stale := w.config.Stale()
		for range rapid.IntRange(1, 20).Draw(rt, "periods") {
			agent := w.agents["n1"]
			agent.failure = nil
			if rapid.Bool().Draw(rt, "fails") {
				agent.failure = errGone
			}
			agent.instances["main"].age = time.Duration(rapid.Int64Range(0, int64(2*stale)).Draw(rt, "age"))
			agent.signalsAge = time.Duration(rapid.Int64Range(0, int64(2*stale)).Draw(rt, "age of the signals"))
			w.clock.advance(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(rt, "pause")))
			fresh := agent.failure == nil && agent.instances["main"].age <= stale && agent.signalsAge <= stale+time.Second
			for _, decision := range w.step() {
				if decision.GetNode() != "n1" {
					continue
				}
				if decision.GetWasWritten() && !fresh {
					rt.Fatalf("the decision rests on what is not fresh: %v", decision)
				}
				if lease := agent.lease("main"); fresh && (lease == nil || lease.TimeLeft < w.config.leastTimeLeft()) {
					rt.Fatalf("the decision %v left the lease %+v", decision, lease)
				}
			}
		}
	})
}
