package endtoend

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/tests/etcdserver"
	"sluice.dev/control/tests/process"
)

const (
	olderVersion = "1.0.0"
	newerVersion = "1.1.0"
	// operatorOwner has a lease that nobody renews: it must last for its time, and no longer.
	operatorOwner      = "operator/ann"
	operatorTimeToLive = 10 * time.Minute
)

// build makes the program of a version.
func build(t *testing.T, version string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sluice")
	command := exec.Command("go", "build", "-ldflags", "-X sluice.dev/control/internal/version.number="+version,
		"-o", program, "sluice.dev/control/cmd/sluice")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, output)
	}
	return program
}

// upgrade is a cluster of two controllers while its programs are exchanged.
type upgrade struct {
	*cluster
	etcd            *etcdserver.Server
	active, standby *controller
	guards          []*guard
	// extra is what both controllers have in their configuration.
	extra string
}

// newUpgrade makes a cluster that is at work: leases of a policy and of an operator on every node.
func newUpgrade(t *testing.T, program string) *upgrade {
	t.Helper()
	u := &upgrade{cluster: newClusterOf(t, program, "n1", "n2"), etcd: etcdserver.Start(t)}
	// A lease is renewed when less of it is left than the session's time and some: that is how long a busy
	// machine may take to exchange a controller. Both end their sessions when they are stopped.
	u.extra = fmt.Sprintf("coordination: {etcd: {endpoints: [%q], session_time_to_live_seconds: 20}}\n", u.etcd.Endpoint) +
		"lease_time_to_live_seconds: 26"
	u.active = u.startControllerOf(program, "c1", 5e6, u.extra)
	for _, each := range u.nodes {
		each.waitForLease(5e6)
	}
	u.standby = u.startControllerOf(program, "c2", 5e6, u.extra)
	u.waitForRoles()
	u.orderAsOperator()
	for _, each := range u.nodes {
		u.guards = append(u.guards, startGuard(t, each, policyOwner, operatorOwner))
	}
	u.waitForRenewals()
	return u
}

func (u *upgrade) orderAsOperator() {
	u.t.Helper()
	client := u.client(u.active)
	for _, each := range u.nodes {
		_, err := client.RelaySetLease(u.t.Context(), &sluicev1.RelaySetLeaseRequest{
			Node: each.name, Request: &sluicev1.SetLeaseRequest{
				Ref:  &sluicev1.StoreRef{Store: "reference", Instance: "main"},
				Kind: sluicev1.Kind_KIND_COMPACTION, Owner: operatorOwner, TimeToLive: durationpb.New(operatorTimeToLive),
				Setting: &sluicev1.Setting{Name: "concurrency", Value: &sluicev1.Setting_Number{Number: 1}},
			},
		})
		if err != nil {
			u.t.Fatal(err)
		}
	}
}

func (u *upgrade) waitForRenewals() {
	u.t.Helper()
	for _, each := range u.guards {
		each.waitForRenewal(u.t)
	}
}

// exchangeAgents restarts the agents one after the other with a program of a version.
func (u *upgrade) exchangeAgents(program, version string) {
	u.t.Helper()
	for i, each := range u.nodes {
		each.agent.Terminate(u.t)
		each.startAgentOf(program)
		u.waitForAgent(each.name, version)
		u.guards[i].waitForRenewal(u.t)
	}
}

// waitForAgent waits until both controllers see the agent of a node at work in a version.
func (u *upgrade) waitForAgent(name, version string) {
	u.t.Helper()
	for _, each := range []*controller{u.active, u.standby} {
		client := u.client(each)
		process.Eventually(u.t, func() error {
			state, err := client.GetCluster(u.t.Context(), &sluicev1.GetClusterRequest{})
			if err != nil {
				return err
			}
			for _, seen := range state.GetNodes() {
				if seen.GetNode() == name && seen.GetProblem() == "" && seen.GetSnapshot().GetVersion() == version {
					return nil
				}
			}
			return fmt.Errorf("controller %s sees %v, want node %s of version %s", each.name, state.GetNodes(), name, version)
		})
	}
}

// exchangeControllers restarts the standby with a program of a version, and then the active controller,
// which makes the first one the active one.
func (u *upgrade) exchangeControllers(program, version string) {
	u.t.Helper()
	u.restart(u.standby, program, version)
	u.waitForRoles()
	u.waitForRenewals()
	u.restart(u.active, program, version)
	u.active, u.standby = u.standby, u.active
	u.waitForRoles()
	u.waitForRenewals()
}

func (u *upgrade) restart(made *controller, program, version string) {
	u.t.Helper()
	made.Terminate(u.t)
	u.run(made, program)
	process.Eventually(u.t, func() error {
		if !strings.Contains(made.Output(), fmt.Sprintf(`"version":%q`, version)) {
			return fmt.Errorf("controller %s has not said that it is of version %s", made.name, version)
		}
		return nil
	})
}

// waitForRoles waits until both controllers see who is active, and every node at work.
func (u *upgrade) waitForRoles() {
	u.t.Helper()
	for _, each := range []*controller{u.active, u.standby} {
		client := u.client(each)
		process.Eventually(u.t, func() error {
			state, err := client.GetCluster(u.t.Context(), &sluicev1.GetClusterRequest{})
			if err != nil {
				return err
			}
			if state.GetActiveController() != u.active.name || state.GetIsActive() != (each == u.active) {
				return fmt.Errorf("controller %s says that %q is active, want %s", each.name, state.GetActiveController(), u.active.name)
			}
			for _, seen := range state.GetNodes() {
				if seen.GetSnapshot() == nil || seen.GetProblem() != "" {
					return fmt.Errorf("controller %s sees %v", each.name, seen)
				}
			}
			return nil
		})
	}
}

// No store is without its leases at any time, nor does any end before its time, while every agent and
// every controller is exchanged for a newer program, and then for the older one again. The order is that
// of docs/operations.md.
func TestRollingUpgradeAndBackOut(t *testing.T) {
	older, newer := build(t, olderVersion), build(t, newerVersion)
	u := newUpgrade(t, older)

	u.exchangeAgents(newer, newerVersion)
	u.exchangeControllers(newer, newerVersion)
	u.exchangeControllers(older, olderVersion)
	u.exchangeAgents(older, olderVersion)

	for _, each := range u.guards {
		_, looks, problem := each.state()
		if problem != nil {
			t.Error(problem)
		}
		t.Logf("the store of %s was looked at %d times", each.name, looks)
	}
}
