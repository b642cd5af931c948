package endtoend

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/tests/etcdserver"
	"sluice.dev/control/tests/process"
)

func TestControllerIsKilled(t *testing.T) {
	c := newCluster(t)
	made := c.startController("c1", 5e6, "")
	c.waitForLease(5e6)
	made.Kill()
	c.waitForNoLease()
	c.startController("c1", 6e6, "")
	c.waitForLease(6e6)
}

func TestControllerIsPaused(t *testing.T) {
	c := newCluster(t)
	made := c.startController("c1", 5e6, "")
	c.waitForLease(5e6)
	made.Pause()
	c.waitForNoLease()
	made.Continue()
	c.waitForLease(5e6)
}

func TestAgentIsKilled(t *testing.T) {
	c := newCluster(t)
	made := c.startController("c1", 5e6, "")
	c.waitForLease(5e6)
	c.agent.Kill()
	c.waitForNoLease()
	c.waitForReason(made, "does not answer")
	c.startAgent()
	c.waitForLease(5e6)
}

func TestAgentIsPaused(t *testing.T) {
	c := newCluster(t)
	made := c.startController("c1", 5e6, "")
	c.waitForLease(5e6)
	c.agent.Pause()
	c.waitForNoLease()
	c.waitForReason(made, "does not answer")
	c.agent.Continue()
	c.waitForLease(5e6)
}

func TestStoreIsKilled(t *testing.T) {
	c := newCluster(t)
	made := c.startController("c1", 5e6, "")
	c.waitForLease(5e6)
	c.store.Kill()
	c.waitForReason(made, "old, more than 3s")
	c.startStore()
	c.waitForLease(5e6)
}

func TestConfigurationChangesWhileTheControllerRuns(t *testing.T) {
	c := newCluster(t)
	made := c.startController("c1", 5e6, "")
	c.waitForLease(5e6)
	c.configure(made, 7e6, "no_such_key: 1")
	made.Hangup()
	process.Eventually(t, func() error {
		if !strings.Contains(made.Output(), "no_such_key") {
			return errors.New("the controller has not said what is wrong")
		}
		return nil
	})
	c.waitForLease(5e6)
	c.configure(made, 7e6, "")
	made.Hangup()
	c.waitForLease(7e6)
}

func TestPauseAndResume(t *testing.T) {
	c := newCluster(t)
	made := c.startController("c1", 5e6, "")
	c.waitForLease(5e6)
	client := c.client(made)
	if _, err := client.PausePolicy(t.Context(), &sluicev1.PausePolicyRequest{Name: "steady"}); err != nil {
		t.Fatal(err)
	}
	c.waitForNoLease()
	if _, err := client.ResumePolicy(t.Context(), &sluicev1.ResumePolicyRequest{Name: "steady"}); err != nil {
		t.Fatal(err)
	}
	c.waitForLease(5e6)
}

func coordinated(server *etcdserver.Server) string {
	return coordinatedFor(server, 2)
}

func coordinatedFor(server *etcdserver.Server, sessionSeconds int) string {
	return fmt.Sprintf("coordination: {etcd: {endpoints: [%q], session_time_to_live_seconds: %d}}", server.Endpoint, sessionSeconds)
}

// The store is watched all the time: the lease must not run out in between.
func TestStandbyTakesOverBeforeTheLeaseRunsOut(t *testing.T) {
	server := etcdserver.Start(t)
	c := newCluster(t)
	// Longer than the invariant asks for by what a loaded machine may add; the first one is to be active until it is killed.
	extra := coordinatedFor(server, 5) + "\nlease_time_to_live_seconds: 30"
	first := c.startController("c1", 5e6, extra)
	c.waitForLease(5e6)
	second := c.startController("c2", 6e6, extra)
	client := c.client(second)
	process.Eventually(t, func() error {
		state, err := client.GetCluster(t.Context(), &sluicev1.GetClusterRequest{})
		if err != nil {
			return err
		}
		if state.GetIsActive() || state.GetActiveController() != "c1" || state.GetNodes()[0].GetProblem() != "" {
			return fmt.Errorf("the standby says %v", state)
		}
		return nil
	})

	first.Kill()
	least := 30 * time.Second
	process.Eventually(t, func() error {
		lease, err := c.lease()
		if errors.Is(err, errNoLease) {
			t.Fatal("the lease ran out before the standby took over")
		}
		if err != nil {
			return err
		}
		least = min(least, lease.TimeLeft)
		if lease.Setting.Number != 6e6 {
			return fmt.Errorf("the lease is %+v, want that of the standby", lease)
		}
		return nil
	})
	t.Logf("the lease had %v left when the standby took over", least)
}

func TestEtcdIsGone(t *testing.T) {
	server := etcdserver.Start(t)
	c := newCluster(t)
	c.startController("c1", 5e6, coordinated(server))
	c.waitForLease(5e6)
	server.Kill()
	c.waitForNoLease()
	server.Restart(t)
	c.waitForLease(5e6)
}

func TestEtcdIsPaused(t *testing.T) {
	server := etcdserver.Start(t)
	c := newCluster(t)
	c.startController("c1", 5e6, coordinated(server))
	c.waitForLease(5e6)
	server.Pause()
	c.waitForNoLease()
	server.Continue()
	c.waitForLease(5e6)
}

// A rolling upgrade ends one controller after the other with SIGTERM.
func TestControllerEndsAndAnotherTakesOver(t *testing.T) {
	server := etcdserver.Start(t)
	c := newCluster(t)
	first := c.startController("c1", 5e6, coordinated(server))
	c.waitForLease(5e6)
	c.startController("c2", 6e6, coordinated(server))
	first.Terminate(t)
	c.waitForLease(6e6)
}
