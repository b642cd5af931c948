// Package referencetest runs the reference store as a process of its own, for tests.
package referencetest

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	// The results of tests that run the command are cached no longer than its store is the same.
	_ "sluice.dev/control/internal/localprotocol/reference"
)

const command = "sluice.dev/control/cmd/sluice-reference-store"

// Process is a reference store in a process.
type Process struct {
	SocketPath string

	command *exec.Cmd
	ended   func() error
}

// Build compiles the command and returns the path of its binary, which is removed after the test.
func Build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "sluice-reference-store")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, command).CombinedOutput()
	if err != nil {
		t.Fatalf("go build %s: %v\n%s", command, err, output)
	}
	return binary
}

// SocketDirectory makes a folder for sockets. Its path is short: that of a socket must fit into 108
// bytes, which the folder that a test gets from t.TempDir may not.
func SocketDirectory(t testing.TB) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "sluice")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	return directory
}

// Start runs a binary that Build has made until the test ends, and returns once it takes connections.
func Start(t *testing.T, binary, socketDirectory string, flags ...string) *Process {
	t.Helper()
	arguments := append([]string{"--socket-directory", socketDirectory}, flags...)
	started := exec.Command(binary, arguments...)
	var log strings.Builder
	started.Stderr = &log
	stdout, err := started.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := started.Start(); err != nil {
		t.Fatal(err)
	}
	// Its first line is the path of its socket; there is none if it could not begin to serve.
	line, err := bufio.NewReader(stdout).ReadString('\n')
	process := &Process{
		SocketPath: strings.TrimSuffix(line, "\n"),
		command:    started,
		ended:      sync.OnceValue(started.Wait),
	}
	if err != nil {
		t.Fatalf("the reference store has ended: %v\n%s", errors.Join(process.ended(), err), log.String())
	}
	t.Cleanup(func() { _ = process.Kill() })
	return process
}

// Kill ends the process with SIGKILL and waits until it is gone.
func (p *Process) Kill() error {
	return p.signal(syscall.SIGKILL)
}

// Terminate asks the process to end with SIGTERM, waits until it is gone, and returns an error if it
// has failed.
func (p *Process) Terminate() error {
	return p.signal(syscall.SIGTERM)
}

// Pause stops the process without ending it, and returns when none of its threads runs.
func (p *Process) Pause() error {
	if err := p.command.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return unix.Waitid(unix.P_PID, p.command.Process.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
}

func (p *Process) signal(signal syscall.Signal) error {
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.ended()
}
