package endtoend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/local"
	"sluice.dev/control/tests/process"
)

// policyOwner is the owner of the leases of the controllers' policy.
const policyOwner = "policy/steady"

// node is a machine with a store and an agent.
type node struct {
	t         *testing.T
	authority *securitytest.Authority
	name      string
	sockets   string
	agentAt   string
	// files are the agent's own.
	files security.Files

	store *process.Process
	agent *process.Process
	// driver asks the store itself, past the agent.
	driver *local.Driver
}

// filesFor gives a certificate that is still good on a machine whose clock is an hour off.
func filesFor(t *testing.T, authority *securitytest.Authority, role security.Role, name string) security.Files {
	t.Helper()
	request := authority.RequestFor(role, name)
	request.NotBefore, request.NotAfter = time.Now().Add(-12*time.Hour), time.Now().Add(12*time.Hour)
	return authority.Write(t, t.TempDir(), request)
}

// newNode starts the store of a node, and no agent yet.
func newNode(t *testing.T, authority *securitytest.Authority, name string) *node {
	t.Helper()
	// A socket's path has at most 107 bytes, which the test's own directory may be beyond.
	sockets, err := os.MkdirTemp("", "sluice-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(sockets) })
	n := &node{
		t: t, authority: authority, name: name, sockets: sockets, agentAt: process.FreeAddress(t),
		files: filesFor(t, authority, security.RoleAgent, name),
	}
	n.driver = n.open()
	n.startStore()
	return n
}

// open makes a connection of its own to the store.
func (n *node) open() *local.Driver {
	driver := local.Open(filepath.Join(n.sockets, "reference", "main.sock"))
	n.t.Cleanup(func() { driver.Close() })
	return driver
}

// startStore starts a store with hardly any load, so that no limit of its own ends a lease.
func (n *node) startStore() {
	n.t.Helper()
	n.store = process.Start(n.t, filepath.Join(programs, "sluice-reference-store"), "--socket-directory", n.sockets,
		"--write-bytes-per-second=1", "--burst-bytes-per-second=1")
}

func (n *node) startAgent() {
	n.t.Helper()
	n.startAgentOf(builtProgram())
}

// startAgentOf starts the agent of a program, which may be one of another version.
func (n *node) startAgentOf(program string) {
	n.t.Helper()
	n.agent = process.Start(n.t, program, "agent", "--config", n.writeAgentConfig())
}

// writeAgentConfig writes the configuration of the node's agent, and gives its path.
func (n *node) writeAgentConfig() string {
	n.t.Helper()
	return writeFile(n.t, "agent.yaml", fmt.Sprintf(`cluster: %s
node: %s
listen: %q
metrics_listen: %q
tls: {certificate_file: %s, key_file: %s, ca_file: %s}
socket_directory: %s
snapshot_period_seconds: 0.2
`, clusterName, n.name, n.agentAt, process.FreeAddress(n.t), n.files.CertificateFile, n.files.KeyFile, n.files.CAFile, n.sockets))
}

// errNoLease says that the store is at its own pace.
var errNoLease = errors.New("the store has no lease")

// lease is the lease of the policy, as the store has it.
func (n *node) lease() (store.Lease, error) {
	ctx, cancel := context.WithTimeout(n.t.Context(), 5*time.Second)
	defer cancel()
	snapshot, err := n.driver.Snapshot(ctx)
	if err != nil {
		return store.Lease{}, err
	}
	return leaseOf(snapshot, policyOwner)
}

func leaseOf(snapshot store.Snapshot, owner string) (store.Lease, error) {
	for _, lease := range snapshot.Leases {
		if lease.Owner == owner {
			return lease, nil
		}
	}
	return store.Lease{}, errNoLease
}

func (n *node) waitForLease(rate float64) {
	n.t.Helper()
	process.Eventually(n.t, func() error {
		lease, err := n.lease()
		if err == nil && lease.Setting.Number != rate {
			return fmt.Errorf("the lease is %v, want %v", lease.Setting, rate)
		}
		return err
	})
}

func (n *node) waitForNoLease() {
	n.t.Helper()
	process.Eventually(n.t, func() error {
		lease, err := n.lease()
		if errors.Is(err, errNoLease) {
			return nil
		}
		return fmt.Errorf("the lease is still there: %+v, %w", lease, err)
	})
}
