package servicelevel

import (
	"testing"
	"time"

	"sluice.dev/control/internal/policy"
)

// remembered is of how many sources the latencies, the hits and all counters of an object are kept.
func (l *loop) remembered() [3]int {
	object := l.memory.(*state).objects[l.objects[0].Name]
	return [3]int{len(object.load.last), len(object.hits.last), len(object.servers.last)}
}

// What an instance has told is kept while it may be back, as after a restart of its agent, and no longer.
func TestWhatInstancesThatAreGoneHaveToldIsForgotten(t *testing.T) {
	l := newLoop(t, 2)
	l.run(5)
	l.servers = l.servers[:1]
	l.run(29)
	if is := l.remembered(); is != [3]int{2, 2, 2} {
		t.Errorf("when one may be back, what is kept is of %v", is)
	}
	l.run(30)
	if is := l.remembered(); is != [3]int{1, 1, 1} {
		t.Errorf("when one is gone for good, what is kept is of %v", is)
	}
}

// One that is silent and still expected goes on from where its counters were.
func TestWhatSilentInstancesHaveToldIsKept(t *testing.T) {
	l := newLoop(t, 2)
	l.run(5)
	l.servers[1].fresh, l.servers[1].age = false, time.Hour
	l.run(100)
	if is := l.remembered(); is != [3]int{2, 2, 2} {
		t.Errorf("what is kept is of %v", is)
	}
}

func TestWhatClientsThatAreGoneHaveToldIsForgotten(t *testing.T) {
	object := atClients(newTable("t", time.Millisecond))
	s := newSharing(t, object)
	gone, here := told("a", object.object.Scope, time.Millisecond, 100), told("b", object.object.Scope, time.Millisecond, 100)
	s.clients = []policy.ClientLatencies{gone, here}
	s.run(5)
	s.clients = s.clients[1:]
	s.run(60)
	for source := range s.memory.(*state).objects["t"].load.last {
		if source.ref != refOf(here) {
			t.Errorf("what %+v told is kept", source)
		}
	}
}
