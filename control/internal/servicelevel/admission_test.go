package servicelevel

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the expected output anew")

// testbed is three nodes with a disk of 5 ms and 2 GB of cache each.
func testbed() Resources {
	return Resources{
		Nodes: 3, ReservableBytes: 2e9, StepBytes: 1e8,
		Costs: Costs{ReadSeconds: 0.005, ParallelReads: 1, HitSeconds: 0.001, MostUtilisation: 0.7},
	}
}

func orders() Object {
	return Object{
		Name: "orders", Store: "hbase", Scope: "orders/cf", Weight: 1, MostOperationsPerSecond: 1000,
		Profile: Profile{DataBytes: 10e9, RowBytes: 1000, Locality: Zipfian, ReadShare: 1},
		Target:  Target{Statistic: Mean, Seconds: 0.03},
	}
}

func TestAdmission(t *testing.T) {
	random, fast, huge := orders(), orders(), orders()
	random.Name, random.Profile.Locality, random.MostOperationsPerSecond = "random", Random, 600
	fast.Name, fast.Target.Seconds = "fast", 0.0005
	huge.Name, huge.Target = "huge", Target{Statistic: P99, Seconds: 0.01}
	for _, test := range []struct {
		name     string
		asked    Object
		promised []Object
		want     bool
	}{
		{"admitted", orders(), nil, true},
		{"beside-another", random, []Object{orders()}, false},
		{"faster-than-a-hit", fast, nil, false},
		{"percentile", huge, []Object{orders()}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Admit(test.asked, test.promised, testbed())
			if got.IsAdmitted != test.want || got.IsAdmitted == (got.Reason != "") || got.IsAdmitted == (got.Nearest != "") {
				t.Errorf("%+v", got)
			}
			compare(t, test.name, strings.Join(got.Lines, "\n")+"\n")
		})
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant (%s)\n%s", got, path, want)
	}
}

func objects(t *rapid.T, label string, count int) []Object {
	made := make([]Object, count)
	for i := range made {
		made[i] = Object{
			Name: fmt.Sprintf("%s-%d", label, i), Store: "hbase", Scope: fmt.Sprintf("%s%d/cf", label, i), Weight: 1,
			Profile: profiles().Draw(t, "profile"), MostOperationsPerSecond: rapid.Float64Range(1, 5000).Draw(t, "load"),
			Target: Target{
				Statistic: rapid.SampledFrom([]Statistic{Mean, P50, P99, P999}).Draw(t, "statistic"),
				Seconds:   rapid.Float64Range(1e-3, 0.2).Draw(t, "seconds"),
			},
		}
	}
	return made
}

func clusters() *rapid.Generator[Resources] {
	return rapid.Custom(func(t *rapid.T) Resources {
		step := rapid.Float64Range(1e6, 1e9).Draw(t, "step_bytes")
		return Resources{
			Nodes: rapid.IntRange(1, 5).Draw(t, "nodes"), StepBytes: step,
			ReservableBytes: step * rapid.Float64Range(0, 50).Draw(t, "steps"), Costs: costsOf().Draw(t, "costs"),
		}
	})
}

// Who asks for less, of more, with fewer beside him, is not refused where he was admitted.
func TestAdmissionIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := objects(t, "asked", 1)[0]
		promised := objects(t, "promised", rapid.IntRange(0, 3).Draw(t, "promised"))
		resources := clusters().Draw(t, "resources")
		if makePlan(append(promised, asked), resources).shortage != noShortage {
			return
		}
		slower, calmer, more, faster := asked, asked, resources, resources
		slower.Target.Seconds *= 1.5
		calmer.MostOperationsPerSecond *= 0.7
		more.ReservableBytes *= 1.5
		faster.Costs.ParallelReads *= 2
		for name, easier := range map[string]plan{
			"a slower target":  makePlan(append(promised, slower), resources),
			"a lower load":     makePlan(append(promised, calmer), resources),
			"more cache":       makePlan(append(promised, asked), more),
			"a faster device":  makePlan(append(promised, asked), faster),
			"nobody beside it": makePlan([]Object{asked}, resources),
		} {
			if easier.shortage != noShortage {
				t.Fatalf("with %s it is refused: %s", name, easier.whyNot())
			}
		}
	})
}

// A plan gives away no more than there is, and holds each target in the model.
func TestPlansHoldWhatTheyPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		resources := clusters().Draw(t, "resources")
		made := makePlan(objects(t, "asked", rapid.IntRange(1, 5).Draw(t, "objects")), resources)
		if made.shortage != noShortage {
			return
		}
		steps, reads := 0, 0.0
		for _, given := range made.shares {
			steps += given.steps
			reads += resources.diskReads(given.object, given.steps)
			misses := 1 - resources.hitShare(given.object, given.steps)
			target := given.object.Target
			if got := resources.Costs.Response(target.Statistic, misses, resources.Costs.MostUtilisation); got > target.Seconds*(1+1e-9) {
				t.Fatalf("%s is planned with %v s, above %v", given.object.Name, got, target)
			}
		}
		if steps > resources.steps() || reads > resources.readsPerSecond()*(1+1e-9) {
			t.Fatalf("%d steps of %d, %v reads of %v", steps, resources.steps(), reads, resources.readsPerSecond())
		}
	})
}

// What is named as the nearest is possible.
func TestTheNearestIsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := objects(t, "asked", 1)[0]
		resources := clusters().Draw(t, "resources")
		isPossible := func(object Object, given Resources) bool {
			return makePlan([]Object{object}, given).shortage == noShortage
		}
		if isPossible(asked, resources) {
			return
		}
		if seconds, found := shortestTime(asked, resources, isPossible); found {
			asked := asked
			asked.Target.Seconds = seconds
			if !isPossible(asked, resources) {
				t.Fatalf("%v s is no possible target", seconds)
			}
		}
		if operations, found := highestLoad(asked, resources, isPossible); found {
			asked := asked
			asked.MostOperationsPerSecond = operations
			if !isPossible(asked, resources) {
				t.Fatalf("%v operations/s is no possible load", operations)
			}
		}
	})
}
