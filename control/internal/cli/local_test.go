package cli

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"sluice.dev/control/internal/cli/clitest"
	"sluice.dev/control/internal/localprotocol/reference"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
)

// serveReference runs the reference store until the test ends, and returns its socket.
func serveReference(t *testing.T) string {
	t.Helper()
	config := reference.DefaultConfig()
	// Its debt comes to no limit, at which it would end all leases.
	config.LimitBytes = 1e12
	served, err := reference.New(config, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	directory := referencetest.SocketDirectory(t)
	go func() {
		ended <- served.Serve(ctx, directory, slog.New(slog.DiscardHandler), func(path string) { ready <- path })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the reference store ended with: %v", err)
		}
	})
	select {
	case path := <-ready:
		return path
	case <-time.After(patience):
		t.Fatal("the reference store is not ready")
		return ""
	}
}

func TestLocalCheckOfAGoodPlugIn(t *testing.T) {
	w := newWorld(t)
	got := w.run(t, "local", "check", "--patience", patience.String(), serveReference(t))
	if got.code != exitOK || got.stderr != "" {
		t.Errorf("exit code %d, error %q, output\n%s", got.code, got.stderr, got.stdout)
	}
	if !strings.HasPrefix(got.stdout, "ok 1 - ") || !strings.Contains(got.stdout, "\n# ") ||
		!strings.Contains(got.stdout, ", 0 failed,") {
		t.Errorf("output\n%s", got.stdout)
	}
}

// A plug-in that takes connections and says nothing is waited for as long as the checks were told.
func TestLocalCheckIsAsPatientAsItIsTold(t *testing.T) {
	w := newWorld(t)
	socketPath := filepath.Join(referencetest.SocketDirectory(t), "silent.sock")
	listener, err := net.Listen("unix", socketPath)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	got := w.run(t, "local", "check", "--patience", "20ms", socketPath)
	if got.code != exitFailure || !strings.Contains(got.stdout, "#   problem: there was no answer within 20ms") {
		t.Errorf("exit code %d, error %q, output\n%s", got.code, got.stderr, got.stdout)
	}
}

func TestLocalCheckOfNothingFails(t *testing.T) {
	w := newWorld(t)
	got := w.run(t, "local", "check", filepath.Join(t.TempDir(), "none.sock"))
	if got.code != exitFailure || !strings.HasPrefix(got.stdout, "not ok 1 - ") {
		t.Errorf("exit code %d, output\n%s", got.code, got.stdout)
	}
	if !strings.Contains(got.stdout, "#   required: ") {
		t.Errorf("it does not say what is required:\n%s", got.stdout)
	}
}

func TestLocalSnapshot(t *testing.T) {
	w := newWorld(t)
	socket := serveReference(t)
	for command, want := range map[string]string{
		"local snapshot ":         "local/reference/main",
		"local snapshot -o json ": `"store": "reference"`,
		"local snapshot -o wide ": "rate_bytes_per_second",
	} {
		got := w.run(t, append(strings.Fields(command), socket)...)
		if got.code != exitOK || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: exit code %d, error %q, output\n%s", command, got.code, got.stderr, got.stdout)
		}
	}
}

func TestCheckOfConfigurations(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	tls := "tls: {certificate_file: /c.crt, key_file: /c.key, ca_file: /ca.crt}\n"
	for _, test := range []struct {
		service, content string
		code             int
		want             []string
	}{
		{"agent", "cluster: demo\nnode: db1\n" + tls, exitOK, []string{"nothing is wrong"}},
		{"agent", "cluster: demo\n" + tls + "log_level: loud\n", exitFailure, []string{"node", "log_level", "2 problems"}},
		{"agent", "cluster: demo\nnoode: db1\n", exitFailure, []string{"noode"}},
		{"controller", "cluster: demo\nname: c1\nagents: []\n" + tls, exitOK, []string{"nothing is wrong"}},
		{"controller", "cluster: demo\nnmae: c1\nagents: []\n" + tls, exitFailure, []string{"line 2", "nmae"}},
	} {
		path := filepath.Join(folder, "file.yml")
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got := w.run(t, test.service, "check", path)
		if got.code != test.code {
			t.Errorf("%s check of %q: exit code %d, error %q, output\n%s", test.service, test.content, got.code, got.stderr, got.stdout)
		}
		for _, want := range test.want {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%s check of %q: output\n%swant %q", test.service, test.content, got.stdout, want)
			}
		}
	}
}

func TestTopOnATerminalEndsWithQ(t *testing.T) {
	w := newWorld(t)
	screen := clitest.NewScreen()
	w.environment.IsTerminal = true
	w.environment.NewScreen = func() (tcell.Screen, error) { return screen, nil }
	shown := w.start(t, "top")
	screen.Press('q')
	if got := shown.wait(t); got.code != exitOK || got.stderr != "" {
		t.Errorf("exit code %d, error %q", got.code, got.stderr)
	}
}
