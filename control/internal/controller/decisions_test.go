package controller

import (
	"testing"

	"pgregory.net/rapid"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

func someDecisions(count int) []*sluicev1.Decision {
	decisions := make([]*sluicev1.Decision, count)
	for i := range decisions {
		decisions[i] = &sluicev1.Decision{}
	}
	return decisions
}

// A reader sees every decision once and in order, or is told how many it missed.
func TestReadersSeeEverythingOrAreTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 20).Draw(t, "capacity")
		log := newDecisionLog(capacity)
		var seen, told uint64
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			log.add(someDecisions(rapid.IntRange(0, 30).Draw(t, "added")))
			if rapid.Bool().Draw(t, "sleeps") {
				continue
			}
			decisions, missed := log.after(seen, rapid.IntRange(1, 25).Draw(t, "limit"))
			told += missed
			seen += missed
			for _, decision := range decisions {
				seen++
				if decision.GetSequence() != seen {
					t.Fatalf("decision %d came where %d was due", decision.GetSequence(), seen)
				}
			}
		}
		for {
			decisions, missed := log.after(seen, capacity)
			if len(decisions) == 0 && missed == 0 {
				break
			}
			seen += missed + uint64(len(decisions))
		}
		if seen != log.newest() {
			t.Fatalf("the reader ended at %d, the log at %d", seen, log.newest())
		}
	})
}

func TestReaderOfTheFuture(t *testing.T) {
	log := newDecisionLog(4)
	log.add(someDecisions(2))
	if decisions, missed := log.after(100, 10); len(decisions) != 0 || missed != 0 {
		t.Errorf("got %d decisions and %d missed", len(decisions), missed)
	}
}

func TestWaitEndsWithTheNextDecision(t *testing.T) {
	log := newDecisionLog(4)
	waiting := log.wait(0)
	select {
	case <-waiting:
		t.Fatal("there is no decision yet")
	default:
	}
	log.add(someDecisions(1))
	<-waiting
	<-log.wait(0)
}

func TestFilter(t *testing.T) {
	decision := &sluicev1.Decision{Node: "n1", Policy: "p", Verdict: sluicev1.Verdict_VERDICT_KEEP}
	tests := []struct {
		filter filter
		want   bool
	}{
		{filter{}, true}, {filter{node: "n1", policy: "p"}, true}, {filter{node: "n2"}, false},
		{filter{policy: "q"}, false}, {filter{changesOnly: true}, false},
	}
	for _, test := range tests {
		if got := test.filter.selects(decision); got != test.want {
			t.Errorf("%+v selects: %v, want %v", test.filter, got, test.want)
		}
	}
}
