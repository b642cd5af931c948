package servicelevel

import (
	"strings"
	"testing"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
)

// roundOf is a decision about an object that asks for a node, on two nodes whose devices requests keep busy for three
// quarters of the time, and a neighbour whose reads all miss: a miss takes 20 ms.
func roundOf(t *testing.T, changed map[string]any) (*round, *objectState, *objectState) {
	t.Helper()
	given := map[string]any{"read_seconds": 0.005, "parallel_reads": 2.0}
	for name, value := range changed {
		given[name] = value
	}
	built, err := New(given)
	if err != nil {
		t.Fatal(err)
	}
	made := built.(*Policy)
	asking, calm := newObject(orders()), newObject(orders())
	calm.demand.Name, calm.demand.Scope, calm.demand.Target.Seconds = "calm", "calm/cf", 0.041
	asking.nodes, asking.state, asking.reason = 2, servicelevel.Missed, "it is slow"
	asking.servers.misses = 600
	calm.state, calm.hits.misses, calm.hits.isThere = servicelevel.Reached, 100, true
	calm.judged = measurement{seconds: 0.021, missSeconds: 0.02}
	return &round{
		Policy: made, asks: map[string]servicelevel.Action{},
		view:  policy.View{ServiceLevels: []servicelevel.Object{asking.demand, calm.demand}},
		state: &state{objects: map[string]*objectState{"orders": asking, "calm": calm}},
	}, asking, calm
}

func TestWhatAMoveTakes(t *testing.T) {
	r, asking, _ := roundOf(t, map[string]any{"move_bytes_per_second": 1e7})
	data, rate := 20e9, 1e7
	want := move{bytes: data / 3, allBytes: data, bytesPerSecond: rate, seconds: data / 3 / rate, share: 0.05, busy: 0.75}
	if got := r.moveFor(asking); got != want {
		t.Errorf("it takes %+v, want %+v", got, want)
	}
	if !r.askForNode(asking) || asking.wanted != servicelevel.AddNode || r.asks["orders"] != servicelevel.AddNode {
		t.Errorf("it wants %q, and asks are %v", asking.wanted, r.asks)
	}
	const reason = "it is slow: a node more would take 6.67GB of 20GB over, at 10MB/s for 11m7s, and meanwhile 5% of the time of " +
		"each device, of which requests take 75%"
	if asking.reason != reason || asking.actions[0].Reason != reason {
		t.Errorf("the reason is %s, and the action's %s", asking.reason, asking.actions[0].Reason)
	}
}

// A node takes no more than its own device writes.
func TestAMoveIsNoFasterThanADevice(t *testing.T) {
	r, asking, _ := roundOf(t, map[string]any{"move_bytes_per_second": 1e9, "device_bytes_per_second": 2e8})
	if got := r.moveFor(asking); got.bytesPerSecond != 2e8 || got.share != 0.5 {
		t.Errorf("it is %+v", got)
	}
}

// A quarter of the devices is left to misses, of which a move takes a half at 25 MB/s: they take twice as long then, and
// the neighbour 41 ms, which is his target. At 50 MB/s it takes all of it.
func TestANeighbourKeepsHisTarget(t *testing.T) {
	for _, test := range []struct {
		rate    float64
		target  float64
		against string
	}{
		{25e6, 0.0411, ""},
		{25e6, 0.0409, "with which the mean of calm would be 41ms, target 40.9ms"},
		{50e6, 600, "with which the mean of calm would be without bound, target 10m0s"},
	} {
		r, asking, calm := roundOf(t, map[string]any{"move_bytes_per_second": test.rate})
		calm.demand.Target.Seconds = test.target
		asking.wanted = servicelevel.AddNode
		isAsked := r.askForNode(asking)
		if isAsked != (test.against == "") || (asking.wanted == servicelevel.AddNode) != isAsked {
			t.Errorf("at %v bytes/s, target %v s: asked for %v, wanted %q", test.rate, test.target, isAsked, asking.wanted)
		}
		if !isAsked && !strings.HasSuffix(asking.reason, ", "+test.against+": none is asked for") {
			t.Errorf("the reason is %s", asking.reason)
		}
	}
}

// Who misses nothing, and who has missed his target already, has nothing to lose.
func TestWhoHasNothingToLose(t *testing.T) {
	for name, change := range map[string]func(*objectState){
		"hits alone":      func(o *objectState) { o.hits.hits, o.hits.misses = 1000, 0 },
		"missed already":  func(o *objectState) { o.state = servicelevel.Missed },
		"nothing is seen": func(o *objectState) { o.state = servicelevel.Unknown },
	} {
		r, asking, calm := roundOf(t, map[string]any{"move_bytes_per_second": 1e8})
		change(calm)
		if against := r.against(asking, r.moveFor(asking)); against != "" {
			t.Errorf("%s: %s", name, against)
		}
	}
}
