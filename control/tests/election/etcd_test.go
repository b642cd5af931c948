// Package election tests the election of the active controller in Debian's etcd: with candidates and
// servers that are killed and paused.
package election

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

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

// A standby wins as soon as the key is gone, whatever has become of the session that it was made in.
func TestActiveControllerWhoseKeyIsDeletedGivesUp(t *testing.T) {
	server := etcdserver.Start(t)
	first := startCandidate(t, "first", server.Endpoint)
	first.waitForActive(t)
	second := startCandidate(t, "second", server.Endpoint)
	second.waitFor(t, election.State{Leader: "first"})

	deleteKeyOf(t, server.Endpoint, "first")
	second.waitForActive(t)
	first.waitFor(t, election.State{Leader: "second"})
}

// A candidate that has no key any more would be elected beside the next one that has.
func TestStandbyWhoseKeyIsDeletedIsNotElected(t *testing.T) {
	server := etcdserver.Start(t)
	first := startCandidate(t, "first", server.Endpoint)
	first.waitForActive(t)
	second := startCandidate(t, "second", server.Endpoint)
	waitForKeyOf(t, server.Endpoint, "second")
	deleteKeyOf(t, server.Endpoint, "second")
	third := startCandidate(t, "third", server.Endpoint)
	waitForKeyOf(t, server.Endpoint, "third")

	first.Kill()
	third.waitForActive(t)
	second.waitFor(t, election.State{Leader: "third"})
}

func newEtcdClient(t *testing.T, endpoint string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// keyOf is the key of a candidate, empty if it has none.
func keyOf(t *testing.T, client *clientv3.Client, name string) string {
	t.Helper()
	answer, err := client.Get(t.Context(), "/sluice/test/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range answer.Kvs {
		if string(pair.Value) == name {
			return string(pair.Key)
		}
	}
	return ""
}

func waitForKeyOf(t *testing.T, endpoint, name string) {
	t.Helper()
	client := newEtcdClient(t, endpoint)
	process.Eventually(t, func() error {
		if keyOf(t, client, name) == "" {
			return fmt.Errorf("candidate %s has no key", name)
		}
		return nil
	})
}

func deleteKeyOf(t *testing.T, endpoint, name string) {
	t.Helper()
	client := newEtcdClient(t, endpoint)
	deleted, err := client.Delete(t.Context(), keyOf(t, client, name))
	if err != nil || deleted.Deleted != 1 {
		t.Fatalf("the key of candidate %s was not deleted: %v", name, err)
	}
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
