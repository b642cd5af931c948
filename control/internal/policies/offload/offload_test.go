package offload_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/policies/offload"
)

const now = time.Hour

var parameters = offload.Parameters{ThresholdShare: 0.2, MinimumInputBytes: 1000, MinimumOutputLevel: 1}

func node(used float64) offload.Node {
	return offload.Node{CPUUsed: used, SampledAt: now - time.Second}
}

func peer(name string, used float64) offload.Peer {
	return offload.Peer{
		Name: name, Node: node(used), CPUs: 4, FreeSlots: 2, HeardAt: now - time.Second/2, Series: []string{"11.8"},
	}
}

func job() compaction.Job {
	return compaction.Job{InputBytes: 1000, OutputLevel: 1, RocksDB: compaction.Version{Major: 11, Minor: 8, Patch: 1}}
}

func placedOn(names ...string) []offload.Placement {
	var placements []offload.Placement
	for _, name := range names {
		placements = append(placements, offload.Placement{Peer: name, At: now})
	}
	return placements
}

func TestDecide(t *testing.T) {
	stale, full, other := peer("a", 0), peer("a", 0), peer("a", 0)
	stale.SampledAt = now - offload.Stale - 1
	full.FreeSlots, other.Series = 0, []string{"10.2"}
	lastSlot, toldSince := peer("a", 0), peer("a", 0)
	lastSlot.FreeSlots, toldSince.FreeSlots, toldSince.HeardAt = 1, 1, now+1
	small, shallow := job(), job()
	small.InputBytes, shallow.OutputLevel = 999, 0
	tests := map[string]struct {
		view offload.View
		job  compaction.Job
		want []string
		why  compaction.Reason
	}{
		"lowest first": {
			view: offload.View{Own: node(0.9), Peers: []offload.Peer{peer("a", 0.5), peer("b", 0.1), peer("c", 0.3)}},
			want: []string{"b", "c", "a"},
		},
		"by load and not by name": {
			view: offload.View{Own: node(0.9), Peers: []offload.Peer{peer("a", 0.69), peer("b", 0)}}, want: []string{"b", "a"},
		},
		"only those below the threshold": {
			view: offload.View{Own: node(0.5), Peers: []offload.Peer{peer("a", 0.31), peer("b", 0.29)}}, want: []string{"b"},
		},
		"just at the threshold": {
			view: offload.View{Own: node(0.75), Peers: []offload.Peer{peer("a", 0.55)}}, why: compaction.BelowThreshold,
		},
		"idle itself": {
			view: offload.View{Own: node(0.1), Peers: []offload.Peer{peer("a", 0)}}, why: compaction.BelowThreshold,
		},
		"own load unknown": {
			view: offload.View{Own: offload.Node{CPUUsed: 1, SampledAt: now - time.Minute}, Peers: []offload.Peer{peer("a", 0)}},
			why:  compaction.BelowThreshold,
		},
		"nobody":          {view: offload.View{Own: node(1)}, why: compaction.NoPeer},
		"not heard of":    {view: offload.View{Own: node(1), Peers: []offload.Peer{stale}}, why: compaction.NoPeer},
		"no slot":         {view: offload.View{Own: node(1), Peers: []offload.Peer{full}}, why: compaction.Busy},
		"another version": {view: offload.View{Own: node(1), Peers: []offload.Peer{other}}, why: compaction.NoPeer},
		"last slot given away since": {
			view: offload.View{Own: node(1), Peers: []offload.Peer{lastSlot}, InFlight: placedOn("a")}, why: compaction.Busy,
		},
		"one slot left beside the job that was given since": {
			view: offload.View{Own: node(1), Peers: []offload.Peer{toldSince}, InFlight: placedOn("a")}, want: []string{"a"},
		},
		"too small": {job: small, view: offload.View{Own: node(1), Peers: []offload.Peer{peer("a", 0)}}, why: compaction.TooSmall},
		"level":     {job: shallow, view: offload.View{Own: node(1), Peers: []offload.Peer{peer("a", 0)}}, why: compaction.Level},
		"reserved": {
			view: offload.View{Own: node(0.9), Peers: []offload.Peer{peer("a", 0), peer("b", 0.1)}, InFlight: placedOn("a")},
			want: []string{"b", "a"},
		},
		"equal ones in turn": {
			view: offload.View{
				Own: node(0.9), Peers: []offload.Peer{peer("a", 0.1), peer("b", 0.1)},
				// Long ago, so that the averages show it and nothing is reserved.
				InFlight: []offload.Placement{{Peer: "a", At: 0}},
			},
			want: []string{"b", "a"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.job.InputBytes == 0 {
				test.job = job()
			}
			test.view.Now = now
			candidates, failure := offload.Decide(parameters, test.view, test.job)
			if failure == nil {
				failure = &compaction.Failure{}
			}
			if !slices.Equal(namesOf(candidates), test.want) || failure.Reason != test.why {
				t.Errorf("%v, %v; want %v, %v", candidates, failure, test.want, test.why)
			}
		})
	}
}

func namesOf(candidates []offload.Candidate) []string {
	var names []string
	for _, candidate := range candidates {
		names = append(names, candidate.Name)
	}
	return names
}

// What is reserved and what an average shows of a job are the whole job at any time: so nothing is counted
// twice, and nothing is forgotten.
func TestReservationComplementsTheAverage(t *testing.T) {
	for age := time.Duration(0); age <= 10*time.Second; age += 100 * time.Millisecond {
		shown := 0.25 * (1 - math.Pow(0.5, age.Seconds()))
		target := peer("a", shown)
		view := offload.View{
			Now: now, Own: offload.Node{CPUUsed: 1, SampledAt: now}, Peers: []offload.Peer{target},
			InFlight: []offload.Placement{{Peer: "a", At: target.SampledAt - age}},
		}
		candidates, failure := offload.Decide(parameters, view, job())
		if failure != nil || math.Abs(candidates[0].Load-0.25) > 1e-12 {
			t.Errorf("after %v: %v, %v; want a load of 0.25", age, candidates, failure)
		}
	}
}

// A peer with a part of a processor is full with one job, and not more than full.
func TestJobOnAPartOfAProcessor(t *testing.T) {
	small := peer("a", 0)
	small.CPUs = 0.3
	view := offload.View{Now: now, Own: node(1), Peers: []offload.Peer{small}, InFlight: placedOn("a")}
	if _, failure := offload.Decide(parameters, view, job()); failure == nil || failure.Reason != compaction.BelowThreshold {
		t.Errorf("%v; one job more on a node that one job fills", failure)
	}
}

// Jobs that were placed count for more than a node, where several are placed at a time.
func TestWithTheLowestThresholdAnySlotWillDo(t *testing.T) {
	busy := peer("a", 1)
	busy.FreeSlots = 32
	view := offload.View{Now: now, Own: node(0), Peers: []offload.Peer{busy}, InFlight: placedOn("a", "a", "a", "a", "a")}
	lowest := parameters
	lowest.ThresholdShare = -1
	if candidates, failure := offload.Decide(lowest, view, job()); len(candidates) != 1 {
		t.Error(candidates, failure)
	}
}

func TestDecisionsAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shares := rapid.Float64Range(0, 1)
		times := rapid.Map(rapid.Int64Range(0, int64(10*time.Second)), func(ago int64) time.Duration { return now - time.Duration(ago) })
		view := offload.View{Now: now, Own: offload.Node{CPUUsed: shares.Draw(t, "own"), SampledAt: times.Draw(t, "own at")}}
		known := map[string]offload.Peer{}
		for _, name := range []string{"a", "b", "c"}[:rapid.IntRange(0, 3).Draw(t, "peers")] {
			drawn := peer(name, shares.Draw(t, "used"))
			drawn.SampledAt, drawn.CPUs = times.Draw(t, "at"), rapid.Float64Range(0.1, 64).Draw(t, "cpus")
			drawn.FreeSlots = rapid.Uint32Range(0, 3).Draw(t, "slots")
			view.Peers, known[name] = append(view.Peers, drawn), drawn
		}
		for range rapid.IntRange(0, 5).Draw(t, "jobs") {
			view.InFlight = append(view.InFlight, offload.Placement{
				Peer: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "on"), At: times.Draw(t, "since"),
			})
		}
		candidates, failure := offload.Decide(parameters, view, job())
		if (failure == nil) != (len(candidates) > 0) {
			t.Fatalf("%v and %v", candidates, failure)
		}
		last := 0.0
		for _, candidate := range candidates {
			chosen := known[candidate.Name]
			if candidate.Load < chosen.CPUUsed || candidate.Load < last ||
				candidate.Load >= view.Own.CPUUsed-parameters.ThresholdShare ||
				chosen.FreeSlots == 0 || now-chosen.SampledAt > offload.Stale {
				t.Fatalf("%v is chosen of %+v", candidate, view)
			}
			last = candidate.Load
		}
	})
}
