// Package election tests the election of the active controller in Debian's etcd: with candidates and
// servers that are killed and paused.
package election

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/election"
	"sluice.dev/control/tests/etcdserver"
	"sluice.dev/control/tests/process"
)

func TestStandbyTakesOverFromAKilledController(t *testing.T) {
	server := etcdserver.Start(t)
	first := startCandidate(t, "first", server.Endpoint)
	first.waitForActive(t)
	second := startCandidate(t, "second", server.Endpoint)
	second.waitFor(t, election.State{Leader: "first"})

	first.Kill()
	second.waitForActive(t)
}

func TestStandbyTakesOverFromAControllerThatEnds(t *testing.T) {
	server := etcdserver.Start(t)
	first := startCandidate(t, "first", server.Endpoint)
	first.waitForActive(t)
	second := startCandidate(t, "second", server.Endpoint)
	second.waitFor(t, election.State{Leader: "first"})

	first.Terminate(t)
	first.waitFor(t, election.State{})
	second.waitForActive(t)
}

func TestPausedControllerIsNoLongerActiveWhenItGoesOn(t *testing.T) {
	server := etcdserver.Start(t)
	first := startCandidate(t, "first", server.Endpoint)
	first.waitForActive(t)
	second := startCandidate(t, "second", server.Endpoint)
	second.waitFor(t, election.State{Leader: "first"})

	first.Pause()
	second.waitForActive(t)
	first.Continue()
	first.waitFor(t, election.State{Leader: "second"})
	if got := second.state(); got != describe(election.State{Active: true, Leader: "second"}) {
		t.Errorf("the new active controller says %q", got)
	}
}

func TestEtcdKilledAndStartedAgain(t *testing.T) {
	server := etcdserver.Start(t)
	first := startCandidate(t, "first", server.Endpoint)
	first.waitForActive(t)

	server.Kill()
	first.waitFor(t, election.State{})
	server.Restart(t)
	first.waitForActive(t)
}

func TestEtcdPaused(t *testing.T) {
	server := etcdserver.Start(t)
	first := startCandidate(t, "first", server.Endpoint)
	first.waitForActive(t)
	second := startCandidate(t, "second", server.Endpoint)
	second.waitFor(t, election.State{Leader: "first"})

	server.Pause()
	first.waitFor(t, election.State{})
	second.waitFor(t, election.State{})
	server.Continue()
	process.Eventually(t, func() error {
		active := 0
		for _, candidate := range []*candidate{first, second} {
			if strings.Contains(candidate.state(), "active=true") {
				active++
			}
		}
		if active != 1 {
			return fmt.Errorf("%d controllers are active: %q, %q", active, first.state(), second.state())
		}
		return nil
	})
}

func TestControllerThatIsStartedBeforeEtcd(t *testing.T) {
	server := etcdserver.Start(t)
	server.Kill()
	first := startCandidate(t, "first", server.Endpoint)
	first.waitFor(t, election.State{})
	server.Restart(t)
	first.waitForActive(t)
}

func TestSessionThatEtcdWouldLengthenIsRefused(t *testing.T) {
	server := etcdserver.Start(t)
	elector := election.NewEtcd(election.EtcdConfig{
		Endpoints: []string{server.Endpoint}, KeyPrefix: "/sluice/test", Name: "hasty",
		SessionTimeToLive: time.Second, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	go elector.Run(t.Context())
	process.Eventually(t, func() error {
		state := elector.State()
		if state.Active {
			t.Fatal("active with a session that lasts longer than configured")
		}
		if !strings.Contains(state.Problem, "etcd grants sessions of 2 s at least, not 1 s") {
			return fmt.Errorf("the problem is %q", state.Problem)
		}
		return nil
	})
}
