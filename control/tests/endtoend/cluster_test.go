// Package endtoend tests agent, controller and reference store together, each a process of its own that
// can be killed. The store's own socket shows what became of it.
package endtoend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/local"
	"sluice.dev/control/tests/process"
)

const clusterName = "test"

// programs is where the programs under test are built.
var programs string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	directory, err := os.MkdirTemp("", "sluice-endtoend-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(directory)
	programs = directory
	build := exec.Command("go", "build", "-o", directory+"/", "sluice.dev/control/cmd/...")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build.Args, err, output)
		return 1
	}
	return m.Run()
}

// cluster is a node with a store and an agent, and any number of controllers.
type cluster struct {
	t         *testing.T
	authority *securitytest.Authority
	sockets   string
	agentAt   string

	store *process.Process
	agent *process.Process
	// driver asks the store itself, past the agent.
	driver *local.Driver
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	// A socket's path has at most 107 bytes, which the test's own directory may be beyond.
	sockets, err := os.MkdirTemp("", "sluice-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(sockets) })
	c := &cluster{
		t: t, authority: securitytest.NewAuthority(t, clusterName), sockets: sockets,
		agentAt: process.FreeAddress(t), driver: local.Open(filepath.Join(sockets, "reference", "main.sock")),
	}
	t.Cleanup(func() { c.driver.Close() })
	c.startStore()
	c.startAgent()
	return c
}

// startStore starts a store with hardly any load, so that no limit of its own ends a lease.
func (c *cluster) startStore() {
	c.t.Helper()
	c.store = process.Start(c.t, filepath.Join(programs, "sluice-reference-store"), "--socket-directory", c.sockets,
		"--write-bytes-per-second=1", "--burst-bytes-per-second=1")
}

func (c *cluster) startAgent() {
	c.t.Helper()
	files := c.authority.Files(c.t, security.RoleAgent, "n1")
	config := writeFile(c.t, "agent.yaml", fmt.Sprintf(`cluster: %s
node: n1
listen: %q
metrics_listen: %q
tls: {certificate_file: %s, key_file: %s, ca_file: %s}
socket_directory: %s
snapshot_period_seconds: 0.2
`, clusterName, c.agentAt, process.FreeAddress(c.t), files.CertificateFile, files.KeyFile, files.CAFile, c.sockets))
	c.agent = process.Start(c.t, filepath.Join(programs, "sluice"), "agent", "--config", config)
}

// controller is a controller with the addresses that it is reached at.
type controller struct {
	*process.Process
	name, address, page, config string
	files                       security.Files
}

// startController starts a controller that wants the given rate; extra goes into its configuration.
func (c *cluster) startController(name string, rate int, extra string) *controller {
	c.t.Helper()
	made := &controller{
		name: name, address: process.FreeAddress(c.t), page: process.FreeAddress(c.t),
		config: writeFile(c.t, "controller.yaml", ""),
		files:  c.authority.Files(c.t, security.RoleController, name),
	}
	c.configure(made, rate, extra)
	made.Process = process.Start(c.t, filepath.Join(programs, "sluice"), "controller", "--config", made.config)
	return made
}

func (c *cluster) configure(made *controller, rate int, extra string) {
	c.t.Helper()
	text := fmt.Sprintf(`cluster: %s
name: %s
listen: %q
page: {listen: %q}
tls: {certificate_file: %s, key_file: %s, ca_file: %s}
agents: [{node: n1, address: %q}]
policies:
- name: steady
  type: script
  targets: {store: reference, kind: compaction}
  parameters: {source: "def decide(view):\n    return {'setting': 'rate_bytes_per_second=%d', 'reason': 'test'}\n"}
%s
`, clusterName, made.name, made.address, made.page, made.files.CertificateFile, made.files.KeyFile,
		made.files.CAFile, c.agentAt, rate, extra)
	if err := os.WriteFile(made.config, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// client calls a controller as an operator.
func (c *cluster) client(made *controller) sluicev1.ControllerServiceClient {
	c.t.Helper()
	options := protocol.DialOptions(c.authority.Open(c.t, security.RoleOperator, "ann"), security.RoleController, made.name)
	connection, err := grpc.NewClient("passthrough:///"+made.address, options...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { connection.Close() })
	return sluicev1.NewControllerServiceClient(connection)
}

// errNoLease says that the store is at its own pace.
var errNoLease = errors.New("the store has no lease")

// lease is the lease of the policy, as the store has it.
func (c *cluster) lease() (store.Lease, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
	defer cancel()
	snapshot, err := c.driver.Snapshot(ctx)
	if err != nil {
		return store.Lease{}, err
	}
	for _, lease := range snapshot.Leases {
		if lease.Owner == "policy/steady" {
			return lease, nil
		}
	}
	return store.Lease{}, errNoLease
}

func (c *cluster) waitForLease(rate float64) {
	c.t.Helper()
	process.Eventually(c.t, func() error {
		lease, err := c.lease()
		if err == nil && lease.Setting.Number != rate {
			return fmt.Errorf("the lease is %v, want %v", lease.Setting, rate)
		}
		return err
	})
}

func (c *cluster) waitForNoLease() {
	c.t.Helper()
	process.Eventually(c.t, func() error {
		lease, err := c.lease()
		if errors.Is(err, errNoLease) {
			return nil
		}
		return fmt.Errorf("the lease is still there: %+v, %w", lease, err)
	})
}

// waitForReason waits for a decision to stop whose reason holds a text.
func (c *cluster) waitForReason(made *controller, text string) {
	c.t.Helper()
	client := c.client(made)
	process.Eventually(c.t, func() error {
		list, err := client.ListDecisions(c.t.Context(), &sluicev1.ListDecisionsRequest{Limit: 1})
		if err != nil {
			return err
		}
		for _, decision := range list.GetDecisions() {
			if decision.GetVerdict() == sluicev1.Verdict_VERDICT_STOP && strings.Contains(decision.GetReason(), text) {
				return nil
			}
		}
		return fmt.Errorf("the last decision is %v, want one to stop for %q", list.GetDecisions(), text)
	})
}
