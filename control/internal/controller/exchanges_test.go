package controller

import (
	"fmt"
	"testing"
	"time"
)

// Exchanges that begin one at a time, as agents come back, are spread over the period as those that begin together.
func TestPhasesDifferHoweverExchangesBegin(t *testing.T) {
	const nodes = 100
	w := newWorld(t, func(c *Config) {
		c.Agents = nil
		for i := range nodes {
			name := fmt.Sprint("n", i)
			c.Agents = append(c.Agents, Agent{name, name + ":7411"})
		}
	})
	t.Cleanup(w.close)
	phases := make(map[time.Duration]string)
	for _, n := range w.nodes {
		agent := w.agents[n.agent.Node]
		agent.steered = make(chan *memoryExchange, 1)
		n.read(t.Context(), w.clock.now)
		w.beginExchanges(t.Context(), []*node{n}, w.clock.now())
		begun := <-agent.steered
		phase := (<-begun.requests).GetDelay().AsDuration()
		if other, isTaken := phases[phase]; isTaken {
			t.Fatalf("the snapshots of %s and %s come at the same time, %v into the period", other, n.agent.Node, phase)
		}
		phases[phase] = n.agent.Node
	}
}
