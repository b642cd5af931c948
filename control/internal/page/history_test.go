package page

import (
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

func TestRingHoldsTheLastValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.IntRange(1, 9).Draw(t, "bound")
		values := rapid.SliceOf(rapid.Int()).Draw(t, "values")
		var kept ring[int]
		for _, value := range values {
			kept.add(value, bound)
		}
		var got []int
		for place := range kept.values {
			got = append(got, *kept.at(place))
		}
		want := values[max(0, len(values)-bound):]
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if last := kept.last(); (last == nil) != (len(values) == 0) || last != nil && *last != values[len(values)-1] {
			t.Fatalf("last is %v", last)
		}
	})
}

func TestNewestDecisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOf(rapid.IntRange(0, 2)).Draw(t, "nodes")
		log := newDecisionLog()
		for i, node := range nodes {
			log.add(&sluicev1.Decision{
				Sequence: uint64(i + 1), Node: nodeName(node), Verdict: sluicev1.Verdict_VERDICT_CHANGE, WasWritten: true,
			}, 0)
		}
		after := rapid.IntRange(0, len(nodes)).Draw(t, "after")
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		var want []uint64
		for i := after; i < len(nodes); i++ {
			if nodes[i] == 1 {
				want = append(want, uint64(i+1))
			}
		}
		found, leftOut, lost := log.newest(uint64(after), limit, func(m made) bool { return m.decision.GetNode() == nodeName(1) })
		shown := want[max(0, len(want)-limit):]
		if len(found) != len(shown) || leftOut != uint64(len(want)-len(shown)) || lost != 0 {
			t.Fatalf("%d found, %d left out, %d lost; want %d of %d", len(found), leftOut, lost, len(shown), len(want))
		}
		for i, one := range found {
			if one.ordinal != shown[i] {
				t.Fatalf("ordinal %d at %d, want %d", one.ordinal, i, shown[i])
			}
		}
	})
}

// A store may have its tasks in scopes and take its orders for all of them.
func TestPointsOfScopes(t *testing.T) {
	rate := store.Setting{Name: store.RateBytesPerSecond, Number: 30e6}
	snapshot := &store.Snapshot{
		Tasks: []store.Task{
			{Kind: store.Compaction, Scope: "orders/cf", RateBytesPerSecond: 20e6},
			{Kind: store.Compaction, Scope: "items/d", RateBytesPerSecond: 5e6},
			{Kind: store.Flush, Scope: "orders/cf", RateBytesPerSecond: 75e6},
		},
		Leases: []store.Lease{
			{Kind: store.Compaction, Setting: rate},
			{Kind: store.Compaction, Scope: "items/d", Setting: store.Setting{Name: store.Hold}},
			{Kind: store.Compaction, Scope: "orders/cf", Setting: store.Setting{Name: store.DeferUntilDebtBytes, Number: 1}},
		},
	}
	unknown := float32(math.NaN())
	for l, want := range map[lane][2]float32{
		{store.Compaction, ""}:          {25e6, 30e6},
		{store.Compaction, "orders/cf"}: {20e6, 30e6},
		{store.Compaction, "items/d"}:   {5e6, 0},
		{store.Flush, "orders/cf"}:      {75e6, unknown},
	} {
		point := pointOf(snapshot, l)
		isOrdered := point.ordered == want[1] || math.IsNaN(float64(point.ordered)) && math.IsNaN(float64(want[1]))
		if point.rate != want[0] || !isOrdered {
			t.Errorf("%s of %q: rate %v, ordered %v; want %v", l.kind, l.scope, point.rate, point.ordered, want)
		}
	}
}

func TestWhatIsNewsInALog(t *testing.T) {
	change := &sluicev1.Decision{Verdict: sluicev1.Verdict_VERDICT_CHANGE, Setting: rateSetting(5e6), WasWritten: true}
	keep := &sluicev1.Decision{Verdict: sluicev1.Verdict_VERDICT_KEEP, Setting: rateSetting(5e6), WasWritten: true}
	stop := &sluicev1.Decision{Verdict: sluicev1.Verdict_VERDICT_STOP}
	failed := &sluicev1.Decision{Verdict: sluicev1.Verdict_VERDICT_KEEP, Setting: rateSetting(5e6), Problem: "refused"}
	unwritten := &sluicev1.Decision{Verdict: sluicev1.Verdict_VERDICT_CHANGE, Setting: rateSetting(5e6)}
	other := &sluicev1.Decision{Verdict: sluicev1.Verdict_VERDICT_CHANGE, Setting: rateSetting(6e6)}
	failedChange := &sluicev1.Decision{Verdict: sluicev1.Verdict_VERDICT_CHANGE, Setting: rateSetting(5e6), Problem: "refused"}
	elsewhere := &sluicev1.Decision{Node: "db-2", Verdict: sluicev1.Verdict_VERDICT_STOP}
	for name, test := range map[string]struct {
		decisions []*sluicev1.Decision
		news      []bool
	}{
		"to keep is no news":                     {[]*sluicev1.Decision{keep, keep}, []bool{false, false}},
		"what is written is":                     {[]*sluicev1.Decision{change, keep, change, change}, []bool{true, false, true, true}},
		"to stop is news once":                   {[]*sluicev1.Decision{stop, stop, keep, stop}, []bool{true, false, false, true}},
		"a failure is news once":                 {[]*sluicev1.Decision{keep, failed, failed, keep}, []bool{false, true, false, false}},
		"a dry run repeats itself":               {[]*sluicev1.Decision{unwritten, unwritten, other, unwritten}, []bool{true, false, true, true}},
		"each target and policy for its own":     {[]*sluicev1.Decision{stop, elsewhere, stop}, []bool{true, true, false}},
		"a change that fails after it succeeded": {[]*sluicev1.Decision{change, failedChange}, []bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			log := newDecisionLog()
			for i, decision := range test.decisions {
				if got := log.add(proto.Clone(decision).(*sluicev1.Decision), 0); got != test.news[i] {
					t.Errorf("decision %d is news: %v, want %v", i, got, test.news[i])
				}
			}
		})
	}
}

func TestLogForgetsSilentDeciders(t *testing.T) {
	log := newDecisionLog()
	stop := &sluicev1.Decision{Verdict: sluicev1.Verdict_VERDICT_STOP}
	log.add(stop, time.Minute)
	log.forget(time.Minute)
	if len(log.last) != 1 {
		t.Errorf("%d deciders are remembered, want 1", len(log.last))
	}
	log.forget(2 * time.Minute)
	if len(log.last) != 0 {
		t.Errorf("%d deciders are remembered, want none", len(log.last))
	}
}

// The timelines of targets that have gone are dropped when nothing of them would be shown.
func TestHistoryForgetsWhatHasGone(t *testing.T) {
	c := newTestCluster(2)
	p := New(c, c.Now)
	c.change(1, nodeThatFailed(1, "connection refused"))
	c.pass(historyLength)
	p.Record()
	if _, found := p.timeline(checkpointOf(1), fromTheStart, 0); !found {
		t.Error("the timeline is gone after 15 minutes, want it to be kept so long")
	}
	recordLater(p, c)
	if _, found := p.timeline(checkpointOf(1), fromTheStart, 0); found {
		t.Error("the timeline is there after more than 15 minutes")
	}
	if _, found := p.timeline(checkpointOf(0), fromTheStart, 0); !found {
		t.Error("the timeline of the node that answers is gone")
	}
}

// A timeline has no more than 15 minutes, and a bounded number of points.
func TestHistoryIsBounded(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	for i := range maxPoints + 50 {
		c.answer(0, float64(i))
		c.decide(0, sluicev1.Verdict_VERDICT_KEEP, 1)
		recordLater(p, c)
	}
	shown, found := p.timeline(checkpointOf(0), fromTheStart, 0)
	if !found || len(shown.points) != maxPoints || shown.points[0].since <= shown.at-historyLength {
		t.Errorf("found %v, %d points from %v at %v", found, len(shown.points), shown.points[0].since, shown.at)
	}
	if len(shown.repeats) > maxWindows || len(shown.repeats) < maxWindows-1 {
		t.Errorf("%d windows of repeated decisions, want about %d", len(shown.repeats), maxWindows)
	}
}

// When there are as many timelines as are allowed, the one goes that nobody has asked for the longest.
func TestOpeningMakesRoom(t *testing.T) {
	h := newHistory()
	for i := range maxSeries {
		h.begin(checkpointOf(i), 0).asked = time.Duration(i+1) * time.Second
	}
	h.open(checkpointOf(0), true, time.Hour)
	h.open(checkpointOf(maxSeries), true, time.Hour)
	if h.series[checkpointOf(0)] == nil || h.series[checkpointOf(1)] != nil || h.series[checkpointOf(maxSeries)] == nil {
		t.Error("another one has gone than the one that was asked for the longest ago")
	}
	if len(h.series) != maxSeries {
		t.Errorf("%d timelines, want %d", len(h.series), maxSeries)
	}
}

func TestRecordsComeApart(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	c.answer(0, 2e6)
	c.pass(publishInterval - time.Millisecond)
	p.Record()
	if p.currentFrame().since != 0 {
		t.Error("a record was taken too soon")
	}
	c.pass(time.Millisecond)
	p.Record()
	if p.currentFrame().since != publishInterval {
		t.Errorf("the last record is of %v, want %v", p.currentFrame().since, publishInterval)
	}
}

func BenchmarkRecordTenThousandNodes(b *testing.B) {
	c := newTestCluster(10_000)
	p := New(c, c.Now)
	states := []Cluster{newTestCluster(10_000).state, c.state}
	for period := 0; b.Loop(); period++ {
		c.state = states[period%len(states)] // every agent has answered anew
		recordLater(p, c)
	}
}
