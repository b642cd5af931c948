// Package cli drives the program `sluice` as people do: an agent with a reference store, a controller,
// and commands against both.
package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	// The program is built from it: a result of this test is not kept when it changes.
	_ "sluice.dev/control/internal/cli"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/tests/process"
)

const target = "db1/reference/main"

// cluster is one of an agent and a controller, and somebody who has contexts for both.
type cluster struct {
	program    string
	home       string
	agent      *process.Process
	controller *process.Process
	agentFile  string
}

func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sluice")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "sluice.dev/control/cmd/sluice").
		CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	return program
}

func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{program: build(t), home: t.TempDir()}
	authority := securitytest.NewAuthority(t, "demo")
	sockets := referencetest.SocketDirectory(t)
	// However long a busy machine takes, what is held comes to no limit, at which the store would end all leases.
	referencetest.Start(t, referencetest.Build(t), sockets, "--limit-bytes", "1000000000000")

	agentAddress, controllerAddress := process.FreeAddress(t), process.FreeAddress(t)
	c.agentFile = c.write(t, "agent.yml", fmt.Sprintf(
		"cluster: demo\nnode: db1\nlisten: %s\nmetrics_listen: %s\nsocket_directory: %s\nsnapshot_period_seconds: 0.1\n%s",
		agentAddress, process.FreeAddress(t), sockets, tlsText(authority.Files(t, security.RoleAgent, "db1"))))
	controllerFile := c.write(t, "controller.yml", fmt.Sprintf(
		"cluster: demo\nname: c1\nlisten: %s\npage: {listen: %s}\nagents: [{node: db1, address: %s}]\n%s%s",
		controllerAddress, process.FreeAddress(t), agentAddress,
		tlsText(authority.Files(t, security.RoleController, "c1")), policyText))
	for name, path := range map[string]string{"agent": c.agentFile, "controller": controllerFile} {
		c.expect(t, 0, "nothing is wrong", name, "check", path)
	}
	c.agent = process.Start(t, c.program, "agent", "--config", c.agentFile)
	c.controller = process.Start(t, c.program, "controller", "--config", controllerFile)

	files := authority.Files(t, security.RoleOperator, "ann")
	who := []string{
		"--cluster", "demo", "--certificate-file", files.CertificateFile, "--key-file", files.KeyFile,
		"--ca-file", files.CAFile,
	}
	c.expect(t, 0, "context demo is set",
		append([]string{"config", "set-context", "demo", "--controller", controllerAddress}, who...)...)
	c.expect(t, 0, "context db1 is set",
		append([]string{"config", "set-context", "db1", "--agent", agentAddress, "--node", "db1"}, who...)...)
	c.eventually(t, target, "get", "stores")
	return c
}

const policyText = `
policies:
  - name: always
    type: fixed
    targets: {store: reference, kind: compaction}
    parameters:
      time_zone: UTC
      windows: [{from: "00:00", to: "00:00", setting: hold}]
`

func tlsText(files security.Files) string {
	return fmt.Sprintf("tls: {certificate_file: %s, key_file: %s, ca_file: %s}\n",
		files.CertificateFile, files.KeyFile, files.CAFile)
}

func (c *cluster) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(c.home, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a command and gives its exit code and what it wrote.
func (c *cluster) run(t *testing.T, arguments ...string) (code int, stdout, stderr string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), c.program, arguments...)
	command.Env = append(os.Environ(), "HOME="+c.home, "XDG_CONFIG_HOME=", "SLUICE_CONFIG=", "SLUICE_CONTEXT=")
	var out, failure bytes.Buffer
	command.Stdout, command.Stderr = &out, &failure
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("sluice %v: %v", arguments, err)
	}
	return command.ProcessState.ExitCode(), out.String(), failure.String()
}

// expect runs a command that has to end with a code, and to write a text.
func (c *cluster) expect(t *testing.T, wantCode int, want string, arguments ...string) string {
	t.Helper()
	code, stdout, stderr := c.run(t, arguments...)
	if code != wantCode || !strings.Contains(stdout+stderr, want) {
		t.Fatalf("sluice %s: exit code %d, want %d, and %q in\n%s%s",
			strings.Join(arguments, " "), code, wantCode, want, stdout, stderr)
	}
	return stdout
}

// eventually runs a command until it ends well and writes a text.
func (c *cluster) eventually(t *testing.T, want string, arguments ...string) {
	t.Helper()
	process.Eventually(t, func() error {
		code, stdout, stderr := c.run(t, arguments...)
		if code != 0 || !strings.Contains(stdout, want) {
			return fmt.Errorf("sluice %s: exit code %d, want %q in\n%s%s", strings.Join(arguments, " "), code, want, stdout, stderr)
		}
		return nil
	})
}

func TestDayOfAnOperator(t *testing.T) {
	c := start(t)

	// The policy holds compactions, and says so.
	c.eventually(t, "policy/always", "get", "leases")
	c.eventually(t, "hold", "get", "decisions", "--policy", "always")
	c.expect(t, 0, "always", "policy", "list")
	c.expect(t, 3, "next: sluice get leases", "set", target, "compaction", "full", "--for", "10s")

	// A task that is held lasts long enough to be looked up and aborted.
	c.eventually(t, "asked to start, variant major", "start", target, "compaction", "--variant", "major")
	c.expect(t, 1, "It offers: minor, major", "start", target, "compaction", "--variant", "huge")
	task := c.majorTask(t)
	c.expect(t, 0, task+": asked to end", "abort", target, "compaction", task)
	c.expect(t, 1, "or it has ended", "abort", target, "compaction", task, "--context", "db1")

	// Paused, its lease runs out, and an operator's takes its place.
	c.expect(t, 0, "paused", "policy", "pause", "always")
	c.expect(t, 0, "of policy/always ended", "clear", target, "--owner", "policy/always")
	// A renewal may have been under way when the policy was paused.
	c.eventually(t, "rate_bytes_per_second=6MB/s for", "set", target, "compaction", "rate_bytes_per_second=6MB", "--for", "1m")
	c.eventually(t, "operator/ann", "get", "leases")
	c.expect(t, 0, "1 lease of operator/ann ended", "clear", target, "compaction", "--context", "db1")
	c.expect(t, 0, "resumed", "policy", "resume", "always")
	c.eventually(t, "policy/always", "get", "leases")

	// What it has is refused by name where it has it not.
	c.expect(t, 1, "hint:", "set", "db1/reference/other", "compaction", "hold", "--for", "10s")
	c.expect(t, 1, "db9", "set", "db9/reference/main", "compaction", "hold", "--for", "10s")
	c.expect(t, 0, target, "top", "--once")
	c.expect(t, 0, "local/reference/main", "local", "snapshot", c.socket(t))

	// Documents are read by programs.
	var state struct {
		Nodes []struct {
			Node     string
			Snapshot struct{ Descriptions []any }
		}
	}
	if err := json.Unmarshal([]byte(c.expect(t, 0, "", "get", "-o", "json")), &state); err != nil {
		t.Fatal(err)
	}
	if len(state.Nodes) != 1 || state.Nodes[0].Node != "db1" || len(state.Nodes[0].Snapshot.Descriptions) != 1 {
		t.Errorf("got %+v", state)
	}
}

// majorTask is the id of the compaction that was started with this variant.
func (c *cluster) majorTask(t *testing.T) (id string) {
	t.Helper()
	process.Eventually(t, func() error {
		var found struct {
			Tasks []struct{ Task struct{ ID, Phase string } }
		}
		text := c.expect(t, 0, "", "get", "tasks", "-o", "json")
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			return err
		}
		for _, each := range found.Tasks {
			if each.Task.Phase == "major" {
				id = each.Task.ID
				return nil
			}
		}
		return errors.New("there is no major compaction in\n" + text)
	})
	return id
}

// socket is that of the reference store, as the agent's configuration has it.
func (c *cluster) socket(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(c.agentFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if directory, found := strings.CutPrefix(line, "socket_directory: "); found {
			return filepath.Join(strings.TrimSpace(directory), "reference", "main.sock")
		}
	}
	t.Fatal("the agent has no socket directory")
	return ""
}

func TestKeptLeaseEndsWithItsCommand(t *testing.T) {
	c := start(t)
	c.expect(t, 0, "paused", "policy", "pause", "always")
	kept := process.Start(t, "env", "HOME="+c.home, c.program,
		"set", target, "compaction", "hold", "--for", "5s", "--keep", "--replace")
	c.eventually(t, "operator/ann", "get", "leases")

	// Killed, it can clear nothing: the lease runs out in the store.
	kept.Kill()
	process.Eventually(t, func() error {
		if _, stdout, _ := c.run(t, "get", "leases"); strings.Contains(stdout, "operator/ann") {
			return errors.New("the lease is still there:\n" + stdout)
		}
		return nil
	})
}

func TestServicesThatAreGoneAreUnreachable(t *testing.T) {
	c := start(t)
	c.agent.Terminate(t)
	c.eventually(t, "stale", "get", "nodes")
	c.expect(t, 4, "hint:", "get", "nodes", "--context", "db1")
	c.controller.Terminate(t)
	c.expect(t, 4, "cannot be reached", "get", "nodes")
}
