// Package endtoend tests agent, controller and reference store together, each a process of its own that
// can be killed. The store's own socket shows what became of it.
package endtoend

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
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

// builtProgram is the program under test.
func builtProgram() string { return filepath.Join(programs, "sluice") }

// cluster is nodes, each with a store and an agent, and any number of controllers.
type cluster struct {
	// The first node is the one that most tests are about.
	*node
	nodes []*node
	// operator is what operators show and trust.
	operator security.Files
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return newClusterOf(t, builtProgram(), "n1")
}

// newClusterOf makes nodes of these names whose agents are of one program.
func newClusterOf(t *testing.T, program string, names ...string) *cluster {
	t.Helper()
	authority := securitytest.NewAuthority(t, clusterName)
	c := &cluster{operator: filesFor(t, authority, security.RoleOperator, "ann")}
	for _, name := range names {
		made := newNode(t, authority, name)
		made.startAgentOf(program)
		c.nodes = append(c.nodes, made)
	}
	c.node = c.nodes[0]
	return c
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
	return c.startControllerOf(builtProgram(), name, rate, extra)
}

// startControllerOf starts the controller of a program, which may be one of another version.
func (c *cluster) startControllerOf(program, name string, rate int, extra string) *controller {
	c.t.Helper()
	made := c.prepareController(name, rate, extra)
	c.run(made, program)
	return made
}

// prepareController makes a controller that has a configuration, and is not started.
func (c *cluster) prepareController(name string, rate int, extra string) *controller {
	c.t.Helper()
	made := &controller{
		name: name, address: process.FreeAddress(c.t), page: process.FreeAddress(c.t),
		config: writeFile(c.t, "controller.yaml", ""),
		files:  filesFor(c.t, c.authority, security.RoleController, name),
	}
	c.configure(made, rate, extra)
	return made
}

func (c *cluster) run(made *controller, program string) {
	c.t.Helper()
	made.Process = process.Start(c.t, program, "controller", "--config", made.config)
}

func (c *cluster) configure(made *controller, rate int, extra string) {
	c.t.Helper()
	text := fmt.Sprintf(`cluster: %s
name: %s
listen: %q
page: {listen: %q}
tls: {certificate_file: %s, key_file: %s, ca_file: %s}
agents: [%s]
policies:
- name: steady
  type: script
  targets: {store: reference, kind: compaction}
  parameters: {source: "def decide(view):\n    return {'setting': 'rate_bytes_per_second=%d', 'reason': 'test'}\n"}
%s
`, clusterName, made.name, made.address, made.page, made.files.CertificateFile, made.files.KeyFile,
		made.files.CAFile, c.agents(), rate, extra)
	if err := os.WriteFile(made.config, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// agents are those of all nodes, as a controller's configuration lists them.
func (c *cluster) agents() string {
	var entries []string
	for _, each := range c.nodes {
		entries = append(entries, fmt.Sprintf("{node: %s, address: %q}", each.name, each.agentAt))
	}
	return strings.Join(entries, ", ")
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
	return c.clientOf(made, c.operator)
}

// clientOf calls a controller as whoever has the files.
func (c *cluster) clientOf(made *controller, files security.Files) sluicev1.ControllerServiceClient {
	c.t.Helper()
	credentials, err := security.Open(files, clusterName, slog.New(slog.DiscardHandler))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(credentials.Close)
	options := protocol.DialOptions(credentials, security.RoleController, made.name)
	connection, err := grpc.NewClient("passthrough:///"+made.address, options...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { connection.Close() })
	return sluicev1.NewControllerServiceClient(connection)
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
