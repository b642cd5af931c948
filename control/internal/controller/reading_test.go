package controller

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/connectivity"
)

// Half of the agents take requests and never answer; the others must not wait for them.
func TestAgentsThatHangDoNotKeepOthersWaiting(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Agents = nil
		for i := range 300 {
			name := "n" + string(rune('a'+i/26/26)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
			c.Agents = append(c.Agents, Agent{name, name + ":7411"})
		}
		// Far more than it takes, so that only the hanging ones reach it.
		c.RequestTimeoutSeconds = 5
	})
	w.isTimed = true
	hanging := make(map[string]bool)
	for i, agent := range w.config.Agents {
		if i%2 == 0 {
			hanging[agent.Node] = true
			w.agents[agent.Node].beforeAnswer = func(ctx context.Context) { <-ctx.Done() }
		}
	}
	for _, decision := range w.step() {
		if hanging[decision.GetNode()] {
			t.Fatalf("a decision about %s, which never answered", decision.GetNode())
		}
		if !decision.GetWasWritten() {
			t.Errorf("the order for %s was not written: %s", decision.GetNode(), decision.GetProblem())
		}
	}
	if got, want := w.countAnswering(), 150; got != want {
		t.Errorf("%d agents answered, want %d", got, want)
	}
}

func TestAgentsWithoutConnectionTakeTurns(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Agents = nil
		for i := range maxConnecting + 500 {
			name := "n" + strings.Repeat("x", i/26+1) + string(rune('a'+i%26))
			c.Agents = append(c.Agents, Agent{name, name + ":7411"})
		}
	})
	for _, agent := range w.agents {
		agent.connection = connectivity.Idle
	}
	for period := range 2 {
		w.step()
		asked := 0
		for _, agent := range w.agents {
			asked += agent.asked
		}
		if want := (period + 1) * maxConnecting; asked != want {
			t.Errorf("after period %d agents were asked %d times, want %d", period+1, asked, want)
		}
	}
	for name, agent := range w.agents {
		if agent.asked == 0 {
			t.Fatalf("agent %s was never asked", name)
		}
	}
}
