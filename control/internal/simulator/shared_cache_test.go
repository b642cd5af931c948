package simulator_test

import (
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/simulator"
)

// sharing is oneNode with a cache that all applications share, of which the node has a little of its own.
func sharing(t testing.TB, applications ...simulator.Application) simulator.ServiceLevels {
	scenario := oneNode(t, applications...)
	scenario.SharesCache, scenario.OwnCacheBytes = true, 1e7
	return scenario
}

func reserved(result simulator.ServiceLevelsResult, name string) float64 {
	for _, status := range result.Statuses {
		if status.Name == name {
			return status.ReservedBytes
		}
	}
	return -1
}

// Who is alone has the whole cache, so that it is as with a cache of his own.
func TestAloneInASharedCache(t *testing.T) {
	zipfian := published("zipfian", servicelevel.Zipfian, 0.03, 700)
	result := simulator.RunServiceLevels(sharing(t, zipfian))
	expectKept(t, result, zipfian, 20*time.Minute)
	if strings.Contains(shown(result.Events), "shrink") {
		t.Errorf("the actions are\n%s", shown(result.Events))
	}
	own := simulator.RunServiceLevels(oneNode(t, zipfian))
	if is, was := reserved(result, "zipfian"), reserved(own, "zipfian"); is > was || is == 0 {
		t.Errorf("it has %v bytes, and %v where it is kept for it", is, was)
	}
}

// One that reads little beside one that reads much gets fewer hits of its steps: steps go on until both have what they
// need, each for the sake of whoever misses his target.
func TestACalmOneBesideABusyOneInASharedCache(t *testing.T) {
	busy, calm := published("busy", servicelevel.Zipfian, 0.02, 400), published("calm", servicelevel.Zipfian, 0.004, 20)
	scenario := sharing(t, busy, calm)
	scenario.Policy = jointPolicy(t, map[string]any{"least_benefit_share": 0.01})
	result := simulator.RunServiceLevels(scenario)
	expectKept(t, result, busy, 30*time.Minute)
	expectKept(t, result, calm, 30*time.Minute)
	if reserved(result, "calm") <= reserved(result, "busy") {
		t.Errorf("the calm one has %v, the busy one %v", reserved(result, "calm"), reserved(result, "busy"))
	}
	if strings.Contains(shown(result.Events), "shrink") {
		t.Errorf("the actions are\n%s", shown(result.Events))
	}
}

// When no cache is left, nobody gives any to another: a node is asked for, once.
func TestASharedCacheThatIsUsedUp(t *testing.T) {
	rich, poor := published("rich", servicelevel.Zipfian, 0.5, 300), published("poor", servicelevel.Zipfian, 0.0012, 100)
	scenario := sharing(t, rich, poor)
	scenario.ReservableBytes, scenario.JoinsAfter = 1e9, 0
	scenario.Policy = jointPolicy(t, map[string]any{"least_benefit_share": 0.001})
	result := simulator.RunServiceLevels(scenario)
	events := shown(result.Events)
	if strings.Contains(events, "shrink") || strings.Count(events, "poor add-node") != 1 {
		t.Errorf("the actions are\n%s", events)
	}
	if result.MostReservedShare != 1 {
		t.Errorf("%v of the cache is given", result.MostReservedShare)
	}
}
