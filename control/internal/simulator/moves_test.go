package simulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/simulator"
)

// moving gives the model and the policy what moves to a node that joins, beside what else is changed of the policy.
func moving(t testing.TB, scenario simulator.ServiceLevels, rate float64, changed map[string]any) simulator.ServiceLevels {
	t.Helper()
	scenario.MoveBytesPerSecond, scenario.DeviceBytesPerSecond = rate, 1e8
	given := map[string]any{"move_bytes_per_second": rate, "device_bytes_per_second": 1e8}
	for name, value := range changed {
		given[name] = value
	}
	scenario.Policy = jointPolicy(t, given)
	return scenario
}

// Of 10 GB a second node takes 5 GB over, at 50 MB/s in 100 s: up to that a node is asked for, and not below.
func TestAMoveThatPaysTooLate(t *testing.T) {
	for most, want := range map[float64]string{
		100: "1m0s uniform grow-cache\n2m0s uniform add-node\n7m0s uniform add-node",
		99:  "1m0s uniform grow-cache",
	} {
		scenario := oneNode(t, published("uniform", servicelevel.Random, 0.05, 450))
		result := simulator.RunServiceLevels(moving(t, scenario, 5e7, map[string]any{"most_move_seconds": most}))
		if got := shown(result.Events); got != want {
			t.Errorf("with at most %v s the actions are\n%s", most, got)
		}
		if status := result.Statuses[0]; most == 99 && (status.State != servicelevel.Missed || status.Wanted != "" ||
			!strings.HasSuffix(status.Reason, ": a node more would take 5GB of 10GB over, at 50MB/s for 1m40s, and meanwhile 50% of the "+
				"time of each device, of which requests take 100%, longer than the 1m39s in which it has to pay: none is asked for")) {
			t.Errorf("it ends with %+v", status)
		}
	}
}

// Two nodes do 400 reads/s, of which one object's 190 and its neighbour's 50 miss: the neighbour, who has reached his
// target, would miss it while data moves at 50 MB/s, and does not at 10 MB/s.
func TestAMoveThatTakesANeighboursTarget(t *testing.T) {
	poor, calm := published("poor", servicelevel.Random, 0.005, 190), published("calm", servicelevel.Random, 0.02, 50)
	for rate, isAsked := range map[float64]bool{5e7: false, 1e7: true} {
		scenario := oneNode(t, poor, calm)
		scenario.Nodes, scenario.ReservableBytes = 2, 2.5e8
		result := simulator.RunServiceLevels(moving(t, scenario, rate, nil))
		if got := strings.Contains(shown(result.Events), "poor add-node"); got != isAsked {
			t.Errorf("at %v bytes/s a node is asked for: %v, by\n%s", rate, got, shown(result.Events))
		}
		expectKept(t, result, calm, 0)
		reason := result.Statuses[0].Reason
		if !isAsked && !strings.Contains(reason, "with which the mean of calm would be") {
			t.Errorf("the reason is %s", reason)
		}
	}
}

// Whatever is asked for: no node whose data would move for too long, and none whose move takes a target from somebody who
// had reached it.
func TestPropertiesOfMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate, most := rapid.Float64Range(1e6, 2e8).Draw(t, "rate"), rapid.Float64Range(1, 2000).Draw(t, "most")
		scenario := simulator.ServiceLevels{
			Duration: 6 * time.Minute, Nodes: rapid.IntRange(1, 3).Draw(t, "nodes"), MostNodes: 4,
			ReservableBytes: rapid.Float64Range(0, 5e8).Draw(t, "reservable"),
			Costs:           servicelevel.Costs{ReadSeconds: 0.005, ParallelReads: 1, HitSeconds: 0.001, MostUtilisation: 0.7},
			JoinsAfter:      time.Second, MoveBytesPerSecond: min(rate, 1e8), DeviceBytesPerSecond: 1e8,
			Policy: jointPolicy(t, map[string]any{
				"move_bytes_per_second": rate, "device_bytes_per_second": 1e8, "most_move_seconds": most,
			}),
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "applications") {
			// Loads that devices can do, so that some reach their targets and some do not.
			locality := rapid.SampledFrom([]servicelevel.Locality{servicelevel.Random, servicelevel.Zipfian}).Draw(t, "locality")
			made := published(fmt.Sprintf("a%d", i), locality, rapid.Float64Range(0.002, 0.05).Draw(t, "target"),
				rapid.Float64Range(1, 150).Draw(t, "load"))
			scenario.Applications = append(scenario.Applications, made)
		}
		expectMovesAfforded(t, scenario, most)
	})
}

func expectMovesAfforded(t *rapid.T, scenario simulator.ServiceLevels, most float64) {
	result := simulator.RunServiceLevels(scenario)
	data := 10e9 * float64(len(scenario.Applications))
	shortest := data / float64(scenario.MostNodes) / scenario.MoveBytesPerSecond
	isAsking := map[time.Duration]map[string]bool{}
	for _, event := range result.Events {
		if event.Action != servicelevel.AddNode {
			continue
		}
		if shortest > most {
			t.Fatalf("%v, whose data move for %v s, more than %v s", event, shortest, most)
		}
		if isAsking[event.At] == nil {
			isAsking[event.At] = map[string]bool{}
		}
		isAsking[event.At][event.Object] = true
	}
	for at, asking := range isAsking {
		for _, application := range scenario.Applications {
			expectNotTaken(t, result, application, at, asking)
		}
	}
}

// expectNotTaken fails where an object that asked for nothing had reached its target when a move began, and has not in
// the next second. What it has given to others in the same decision is not the move's doing.
func expectNotTaken(
	t *rapid.T, result simulator.ServiceLevelsResult, application simulator.Application, at time.Duration, asking map[string]bool,
) {
	name, target := application.Object.Name, application.Object.Target.Seconds
	// The policy's averages are as near as this to what the model does.
	const tolerance = 1.001
	second := int(at.Seconds())
	before, after := result.Seconds[name][second], result.Seconds[name][min(second+1, len(result.Seconds[name])-1)]
	isGiving := slices.ContainsFunc(result.Events, func(event simulator.Event) bool {
		return event.At == at && event.Object == name && event.Action == servicelevel.ShrinkCache
	})
	if asking[name] || isGiving || before > target/tolerance {
		return
	}
	if after > tolerance*target {
		t.Fatalf("a node that is asked for at %v makes %s take %v s, target %v s; it was %v s", at, name, after, target, before)
	}
}
