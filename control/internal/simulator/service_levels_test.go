package simulator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/simulator"
)

func jointPolicy(t interface{ Fatal(...any) }, changed map[string]any) policy.Joint {
	given := map[string]any{"read_seconds": 0.005, "step_bytes": 2.5e8}
	for name, value := range changed {
		given[name] = value
	}
	built, err := policies.New("service-level", given)
	if err != nil {
		t.Fatal(err)
	}
	return built.(policy.Joint)
}

func steadily(operationsPerSecond float64) simulator.Load {
	return func(time.Duration) float64 { return operationsPerSecond }
}

// published is the data of the published scenarios, 10 M records of 1 kB, with a target of the mean.
func published(name string, locality servicelevel.Locality, seconds, operationsPerSecond float64) simulator.Application {
	return simulator.Application{
		Object: servicelevel.Object{
			Name: name, Store: "simulated", Scope: name + "/cf", Weight: 1, MostOperationsPerSecond: operationsPerSecond,
			Profile: servicelevel.Profile{DataBytes: 10e9, RowBytes: 1000, Locality: locality, ReadShare: 1},
			Target:  servicelevel.Target{Statistic: servicelevel.Mean, Seconds: seconds},
		},
		Locality: locality, OperationsPerSecond: steadily(operationsPerSecond),
	}
}

// oneNode is where the published scenarios begin: a node with a disk of 5 ms, and no cache given.
func oneNode(t testing.TB, applications ...simulator.Application) simulator.ServiceLevels {
	t.Helper()
	return simulator.ServiceLevels{
		Duration: time.Hour, Applications: applications, Nodes: 1, ReservableBytes: 4e9,
		Costs:      servicelevel.Costs{ReadSeconds: 0.005, ParallelReads: 1, HitSeconds: 0.001, MostUtilisation: 0.7},
		Policy:     jointPolicy(t, nil),
		JoinsAfter: 150 * time.Second, MostNodes: 3,
	}
}

func shown(events []simulator.Event) string {
	texts := make([]string, len(events))
	for i, event := range events {
		texts[i] = fmt.Sprintf("%v %s %s", event.At, event.Object, event.Action)
	}
	return strings.Join(texts, "\n")
}

// expectKept fails where a target is missed after some time.
func expectKept(t *testing.T, result simulator.ServiceLevelsResult, application simulator.Application, from time.Duration) {
	t.Helper()
	name, target := application.Object.Name, application.Object.Target.Seconds
	for second, seconds := range result.Seconds[name][int(from.Seconds()):] {
		if seconds > target {
			t.Fatalf("%s takes %v s %v after it should be reached, more than %v", name, seconds, time.Duration(second)*time.Second, target)
		}
	}
}

func TestPublishedScenarios(t *testing.T) {
	for _, test := range []struct {
		application simulator.Application
		want        []string
		// reached is when the target is, for good.
		reached time.Duration
		nodes   int
	}{
		{published("zipfian", servicelevel.Zipfian, 0.03, 5000), []string{
			"1m0s zipfian grow-cache", "2m0s zipfian grow-cache", "3m0s zipfian grow-cache", "4m0s zipfian grow-cache",
			"5m0s zipfian grow-cache", "6m0s zipfian grow-cache", "7m0s zipfian add-node",
		}, 11 * time.Minute, 2},
		{published("uniform", servicelevel.Random, 0.05, 450), []string{
			"1m0s uniform grow-cache", "2m0s uniform add-node", "5m0s uniform add-node",
		}, 8 * time.Minute, 3},
	} {
		t.Run(test.application.Object.Name, func(t *testing.T) {
			result := simulator.RunServiceLevels(oneNode(t, test.application))
			if got := shown(result.Events); got != strings.Join(test.want, "\n") {
				t.Errorf("the actions are\n%s", got)
			}
			if result.Nodes != test.nodes || result.Statuses[0].State != servicelevel.Reached {
				t.Errorf("it ends on %d nodes with %+v", result.Nodes, result.Statuses[0])
			}
			expectKept(t, result, test.application, test.reached)
		})
	}
}

// Without a node that joins, one is asked for once, and what is there is held.
func TestANodeIsAskedForOnce(t *testing.T) {
	scenario := oneNode(t, published("uniform", servicelevel.Random, 0.05, 450))
	scenario.JoinsAfter = 0
	result := simulator.RunServiceLevels(scenario)
	if got := shown(result.Events); got != "1m0s uniform grow-cache\n2m0s uniform add-node" {
		t.Errorf("the actions are\n%s", got)
	}
	status := result.Statuses[0]
	if status.State != servicelevel.WantsNode || status.Wanted != servicelevel.AddNode || status.ReservedBytes != 2.5e8 {
		t.Errorf("it ends with %+v", status)
	}
}

// noisy is two nodes with an application whose neighbour does fifty times what it was promised for from the twentieth
// minute on.
func noisy(t testing.TB) (simulator.ServiceLevels, simulator.Application) {
	t.Helper()
	calm, loud := published("calm", servicelevel.Zipfian, 0.06, 500), published("loud", servicelevel.Random, 0.3, 40)
	calm.Object.Target.Statistic = servicelevel.P99
	loud.OperationsPerSecond = func(at time.Duration) float64 {
		if at < 20*time.Minute {
			return 40
		}
		return 2000
	}
	scenario := oneNode(t, calm, loud)
	scenario.Nodes = 2
	return scenario, calm
}

func TestANoisyNeighbour(t *testing.T) {
	scenario, calm := noisy(t)
	alone := scenario
	alone.Applications = scenario.Applications[:1]
	alone.HasThrottle, scenario.HasThrottle = true, true
	result, quiet := simulator.RunServiceLevels(scenario), simulator.RunServiceLevels(alone)
	events := shown(result.Events)
	if !strings.Contains(events, "loud throttle") || strings.Contains(events, "add-node") || strings.Contains(events, "shrink") {
		t.Errorf("the actions are\n%s", events)
	}
	// From a decision and a half after the noise began on.
	from := 20*time.Minute + 90*time.Second
	expectKept(t, result, calm, from)
	for second := int(from.Seconds()); second < len(result.Seconds["calm"]); second++ {
		if is, was := result.Seconds["calm"][second], quiet.Seconds["calm"][second]; is > 1.25*was {
			t.Fatalf("its p99 is %v at %d s, and %v alone", is, second, was)
		}
	}
}

// Without something that throttles, the neighbour is named, and nobody gets a node for it.
func TestANoisyNeighbourThatNobodyThrottles(t *testing.T) {
	scenario, _ := noisy(t)
	result := simulator.RunServiceLevels(scenario)
	for _, event := range result.Events {
		if event.Action == servicelevel.AddNode {
			t.Errorf("a node is asked for: %v", event)
		}
	}
	for _, status := range result.Statuses {
		if status.Name == "loud" && (status.State != servicelevel.AboveLoad || status.Wanted != servicelevel.Throttle) {
			t.Errorf("the neighbour ends with %+v", status)
		}
		if status.Name == "calm" && status.State == servicelevel.Reached {
			t.Errorf("the other ends with %+v", status)
		}
	}
}

func TestAWrongProfile(t *testing.T) {
	application := published("liar", servicelevel.Zipfian, 0.05, 450)
	application.Locality = servicelevel.Random
	scenario := oneNode(t, application)
	result := simulator.RunServiceLevels(scenario)
	if result.Statuses[0].State != servicelevel.Reached || result.Nodes != 3 {
		t.Errorf("with nodes it ends with %+v", result.Statuses[0])
	}
	if got := shown(result.Events); got != "1m0s liar grow-cache\n2m0s liar add-node\n5m0s liar add-node" {
		t.Errorf("with nodes the actions are\n%s", got)
	}
	scenario.JoinsAfter = 0
	result = simulator.RunServiceLevels(scenario)
	status := result.Statuses[0]
	if status.State != servicelevel.Refused {
		t.Errorf("without nodes it ends with %+v", status)
	}
	for _, want := range []string{"its profile says zipfian", "as if random", "which cannot be promised", "possible are"} {
		if !strings.Contains(status.Reason, want) {
			t.Errorf("the reason has no %q: %s", want, status.Reason)
		}
	}
}

// Two that need all the cache there is get it by their weights, and it is not moved to and fro.
func TestCacheIsSharedByWeight(t *testing.T) {
	heavy, light := published("heavy", servicelevel.Zipfian, 0.002, 3000), published("light", servicelevel.Zipfian, 0.002, 3000)
	heavy.Object.Weight = 3
	scenario := oneNode(t, heavy, light)
	scenario.JoinsAfter = 0
	scenario.Policy = jointPolicy(t, map[string]any{"least_benefit_share": 0.001})
	result := simulator.RunServiceLevels(scenario)
	if result.MostReservedShare != 1 {
		t.Errorf("%v of the cache is given", result.MostReservedShare)
	}
	if heavy, light := result.Statuses[0].ReservedBytes, result.Statuses[1].ReservedBytes; heavy != 3e9 || light != 1e9 {
		t.Errorf("they have %v and %v bytes, of weights 3 and 1", heavy, light)
	}
	if strings.Contains(shown(result.Events), "shrink") {
		t.Errorf("the actions are\n%s", shown(result.Events))
	}
}

// Who has more than his target takes gives it to one who needs it, a step a decision, and keeps his target.
func TestWhatOneCanSpareGoesToAnother(t *testing.T) {
	rich, poor := published("rich", servicelevel.Zipfian, 0.008, 1100), published("poor", servicelevel.Zipfian, 0.0035, 1000)
	rich.OperationsPerSecond = func(at time.Duration) float64 {
		if at < 20*time.Minute {
			return 1100
		}
		return 50
	}
	poor.OperationsPerSecond = func(at time.Duration) float64 {
		if at < 25*time.Minute {
			return 0
		}
		return 1000
	}
	// What is given is never in two places, whichever order arrives first.
	for _, applications := range [][]simulator.Application{{rich, poor}, {poor, rich}} {
		scenario := oneNode(t, applications...)
		scenario.ReservableBytes, scenario.JoinsAfter = 2e9, 0
		result := simulator.RunServiceLevels(scenario)
		events := shown(result.Events)
		if !strings.Contains(events, "rich shrink-cache") || !strings.Contains(events, "poor grow-cache") {
			t.Errorf("the actions are\n%s", events)
		}
		expectKept(t, result, rich, 30*time.Minute)
		expectNothingUndone(t, result.Events, 10*time.Minute)
		if result.MostReservedShare > 1 {
			t.Errorf("%v of the cache is given", result.MostReservedShare)
		}
	}
}

func TestNothingIsDoneOnWhatIsStale(t *testing.T) {
	scenario := oneNode(t, published("zipfian", servicelevel.Zipfian, 0.03, 5000))
	silent := simulator.Span{From: 150 * time.Second, To: 400 * time.Second}
	scenario.Silent = []simulator.Span{silent}
	result := simulator.RunServiceLevels(scenario)
	for _, event := range result.Events {
		if event.At > silent.From+3*time.Second && event.At < silent.To {
			t.Errorf("%v while nothing was known", event)
		}
	}
	if result.Statuses[0].State != servicelevel.Reached {
		t.Errorf("it ends with %+v", result.Statuses[0])
	}
}

// A controller that restarts goes on from the leases; after one that was away for longer it begins anew.
func TestRestartInTheMiddle(t *testing.T) {
	for name, down := range map[string]time.Duration{"a moment": 3 * time.Second, "two minutes": 2 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			application := published("zipfian", servicelevel.Zipfian, 0.03, 5000)
			scenario := oneNode(t, application)
			begin := 200 * time.Second
			scenario.ControllerDown = []simulator.Span{{From: begin, To: begin + down}}
			result := simulator.RunServiceLevels(scenario)
			expectKept(t, result, application, 20*time.Minute)
			expectNothingUndone(t, result.Events, 10*time.Minute)
			grown := 0
			for _, event := range result.Events {
				if event.Action == servicelevel.GrowCache && event.At < begin {
					grown++
				}
			}
			held := result.Statuses[0].ReservedBytes / 2.5e8
			if down < 5*time.Second && int(held) < grown {
				t.Errorf("%d steps were given before, and %v are held at the end", grown, held)
			}
		})
	}
}

// expectNothingUndone fails where cache is given and taken, or taken and given, within a time.
func expectNothingUndone(t interface{ Fatalf(string, ...any) }, events []simulator.Event, within time.Duration) {
	type last struct {
		at     time.Duration
		action servicelevel.Action
	}
	before := map[string]last{}
	for _, event := range events {
		if event.Action != servicelevel.GrowCache && event.Action != servicelevel.ShrinkCache {
			continue
		}
		if was, isThere := before[event.Object]; isThere && was.action != event.Action && event.At-was.at < within {
			t.Fatalf("%v undoes what was done at %v", event, was.at)
		}
		before[event.Object] = last{event.At, event.Action}
	}
}

// Whatever is asked for and whatever happens: no more is given than there is, nothing is undone within ten decisions,
// and nothing is done while nothing is known.
func TestPropertiesOfServiceLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scenario := simulator.ServiceLevels{
			Duration: 5 * time.Minute, Nodes: rapid.IntRange(1, 3).Draw(t, "nodes"), MostNodes: 4,
			ReservableBytes: rapid.Float64Range(0, 4e9).Draw(t, "reservable"),
			Costs:           servicelevel.Costs{ReadSeconds: 0.005, ParallelReads: 1, HitSeconds: 0.001, MostUtilisation: 0.7},
			JoinsAfter:      time.Duration(rapid.IntRange(0, 100).Draw(t, "joins")) * time.Second,
			SharesCache:     rapid.Bool().Draw(t, "shared"),
			HasThrottle:     rapid.Bool().Draw(t, "throttle"), Policy: jointPolicy(t, map[string]any{"decision_seconds": 5}),
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "applications") {
			scenario.Applications = append(scenario.Applications, anyApplication(t, i))
		}
		from := time.Duration(rapid.IntRange(0, 250).Draw(t, "silent")) * time.Second
		silent := simulator.Span{From: from, To: from + time.Duration(rapid.IntRange(0, 60).Draw(t, "silence"))*time.Second}
		scenario.Silent = []simulator.Span{silent}
		result := simulator.RunServiceLevels(scenario)
		if result.MostReservedShare > 1+1e-9 {
			t.Fatalf("%v of the cache is given", result.MostReservedShare)
		}
		expectNothingUndone(t, result.Events, 50*time.Second)
		for _, event := range result.Events {
			if event.At > silent.From+3*time.Second && event.At < silent.To {
				t.Fatalf("%v while nothing was known", event)
			}
		}
	})
}

func anyApplication(t *rapid.T, index int) simulator.Application {
	localities := []servicelevel.Locality{servicelevel.Random, servicelevel.Zipfian}
	load := rapid.Float64Range(1, 3000).Draw(t, "load")
	made := published(fmt.Sprintf("a%d", index), rapid.SampledFrom(localities).Draw(t, "declared"),
		rapid.Float64Range(0.001, 0.1).Draw(t, "target"), load)
	made.Locality = rapid.SampledFrom(localities).Draw(t, "real")
	made.Object.Weight = rapid.Float64Range(0.1, 10).Draw(t, "weight")
	made.Object.Target.Statistic = rapid.SampledFrom([]servicelevel.Statistic{servicelevel.Mean, servicelevel.P50, servicelevel.P99}).
		Draw(t, "statistic")
	factor, after := rapid.Float64Range(0, 4).Draw(t, "factor"), time.Duration(rapid.IntRange(0, 300).Draw(t, "after"))*time.Second
	made.OperationsPerSecond = func(at time.Duration) float64 {
		if at < after {
			return load
		}
		return load * factor
	}
	return made
}
