package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"google.golang.org/grpc"

	"sluice.dev/control/internal/cli/clitest"
	"sluice.dev/control/internal/cli/contexts"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
)

var update = flag.Bool("update", false, "write the expected output anew")

// buffer is an output that is read while it is written.
type buffer struct {
	mutex   sync.Mutex
	content bytes.Buffer
}

func (b *buffer) Write(content []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content.Write(content)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content.String()
}

// world is a cluster with a controller and an agent, and somebody with contexts for both.
type world struct {
	controller  *clitest.Controller
	agent       *clitest.Agent
	authority   *securitytest.Authority
	folder      string
	variables   map[string]string
	environment Environment
}

// newWorld makes contexts "demo", of the controller, which is the current one, and "db1", of the agent.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		controller: &clitest.Controller{}, agent: &clitest.Agent{},
		authority: securitytest.NewAuthority(t, "demo"), folder: t.TempDir(),
	}
	w.variables = map[string]string{"HOME": w.folder}
	controllerAddress := clitest.Serve(t, w.authority.Open(t, security.RoleController, "c1"),
		func(server *grpc.Server) { sluicev1.RegisterControllerServiceServer(server, w.controller) })
	agentAddress := clitest.Serve(t, w.authority.Open(t, security.RoleAgent, "db1"),
		func(server *grpc.Server) { sluicev1.RegisterAgentServiceServer(server, w.agent) })
	files := w.authority.Files(t, security.RoleOperator, "ann")
	file := contexts.File{CurrentContext: "demo", Contexts: map[string]contexts.Context{
		"demo": contextOf(files, contexts.Context{Controller: controllerAddress}),
		"db1":  contextOf(files, contexts.Context{Agent: agentAddress, Node: "db1"}),
	}}
	if err := file.Save(w.userPath()); err != nil {
		t.Fatal(err)
	}
	w.environment = Environment{
		EndAtHangup: func() {},
		Stdin:       strings.NewReader(""), Now: clitest.Now, Version: "1.2.3",
		Getenv:           func(name string) string { return w.variables[name] },
		SystemConfigPath: filepath.Join(w.folder, "system.yaml"),
		NewScreen:        func() (tcell.Screen, error) { return tcell.NewSimulationScreen("UTF-8"), nil },
	}
	return w
}

func contextOf(files security.Files, way contexts.Context) contexts.Context {
	way.Cluster = "demo"
	way.CertificateFile, way.KeyFile, way.CAFile = files.CertificateFile, files.KeyFile, files.CAFile
	return way
}

func (w *world) userPath() string {
	return filepath.Join(w.folder, ".config", "sluice", "config.yaml")
}

// result is what a command left.
type result struct {
	code           int
	stdout, stderr string
}

func (w *world) run(t *testing.T, arguments ...string) result {
	t.Helper()
	started := w.start(t, arguments...)
	return started.wait(t)
}

// running is a command that has not ended yet.
type running struct {
	stdout, stderr *buffer
	cancel         context.CancelFunc
	code           chan int
}

func (w *world) start(t *testing.T, arguments ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	started := &running{stdout: &buffer{}, stderr: &buffer{}, cancel: cancel, code: make(chan int, 1)}
	environment := w.environment
	environment.Stdout, environment.Stderr = started.stdout, started.stderr
	go func() { started.code <- Run(ctx, environment, arguments) }()
	return started
}

const patience = 2 * time.Minute

func (r *running) wait(t *testing.T) result {
	t.Helper()
	defer r.cancel()
	select {
	case code := <-r.code:
		return result{code, r.stdout.String(), r.stderr.String()}
	case <-time.After(patience):
		t.Fatalf("it has not ended after %v, with output\n%s%s", patience, r.stdout, r.stderr)
		return result{}
	}
}

// interrupt ends a command as ctrl-c does.
func (r *running) interrupt(t *testing.T) result {
	t.Helper()
	r.cancel()
	return r.wait(t)
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if condition() {
			return
		}
	}
	t.Fatalf("after %v, %s", patience, what)
}

// compare compares with a file of testdata.
func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant (%s)\n%s", got, path, want)
	}
}
