package controller

import (
	"testing"
	"time"

	"sluice.dev/control/internal/wire"
)

func newTestNode(t *testing.T) *node {
	t.Helper()
	made, err := newNode(Agent{"n1", "n1:7411"}, 0, func(Agent) (agentConnection, error) { return &memoryAgent{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A call can fail when the agent has long sent a newer snapshot by an exchange.
func TestLateFailureDoesNotHideANewerSnapshot(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	n := newTestNode(t)
	newer := &wire.Report{}
	n.take(newer, nil, began.Add(2*time.Second))
	n.fail(errGone, began.Add(time.Second))
	n.take(nil, errGone, began.Add(time.Second))
	n.skip("there was no time", began.Add(time.Second))
	n.take(&wire.Report{}, nil, began.Add(time.Second))
	if state := n.state.Load(); !n.answers() || state.latest.report != newer {
		t.Errorf("the state is %+v, want the newer snapshot", state)
	}
	n.fail(errGone, began.Add(3*time.Second))
	if state := n.state.Load(); n.answers() || state.latest.report != newer {
		t.Errorf("after a later failure the state is %+v, want the newer snapshot with a problem", state)
	}
}
