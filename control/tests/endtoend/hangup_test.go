package endtoend

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/tests/process"
)

// startFromPipe starts a program that reads its configuration from a pipe, whose name comes after the arguments.
// It returns when the program has opened that: it is at work then, and does not serve yet. goOn gives it the
// configuration; who reads it again finds a file.
func startFromPipe(t *testing.T, config string, arguments ...string) (started *process.Process, goOn func()) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), filepath.Base(config))
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	started = process.Start(t, builtProgram(), append(arguments, pipe)...)
	var writer *os.File
	process.Eventually(t, func() (err error) {
		writer, err = os.OpenFile(pipe, os.O_WRONLY|unix.O_NONBLOCK, 0)
		return err
	})
	t.Cleanup(func() { writer.Close() })
	return started, func() {
		t.Helper()
		text, readErr := os.ReadFile(config)
		renameErr := os.Rename(config, pipe)
		_, writeErr := writer.Write(text)
		if err := errors.Join(readErr, renameErr, writeErr, writer.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func waitForOutput(t *testing.T, started *process.Process, text string) {
	t.Helper()
	process.Eventually(t, func() error {
		if started.Exited() || !strings.Contains(started.Output(), text) {
			return errors.New("the output has no " + text)
		}
		return nil
	})
}

// A service manager that reloads may do so at any time.
func TestServicesDoNotEndAtHangups(t *testing.T) {
	c := &cluster{node: newNode(t, securitytest.NewAuthority(t, clusterName), "n1")}
	c.nodes = []*node{c.node}
	tests := map[string]struct{ config, serves string }{
		"agent":      {c.writeAgentConfig(), "the agent serves"},
		"controller": {c.prepareController("c1", 5e6, "").config, "the controller serves"},
	}
	for service, test := range tests {
		t.Run(service, func(t *testing.T) {
			started, goOn := startFromPipe(t, test.config, service, "--config")
			started.Hangup()
			goOn()
			waitForOutput(t, started, test.serves)
			if service == "controller" {
				waitForOutput(t, started, "configuration read again")
			}
			var hangups sync.WaitGroup
			hangups.Go(func() {
				for !started.Exited() {
					started.Hangup()
				}
			})
			started.Terminate(t)
			hangups.Wait()
			if code := started.ExitCode(); code != 0 {
				t.Errorf("it ended with %d, want 0; -1 is the end by a signal", code)
			}
		})
	}
}

// The terminal of whoever gives a command may be closed.
func TestCommandsEndAtHangups(t *testing.T) {
	// Else it would ignore SIGHUP where these tests do, as below nohup.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, unix.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	c := newNode(t, securitytest.NewAuthority(t, clusterName), "n1")
	started, _ := startFromPipe(t, c.writeAgentConfig(), "agent", "check")
	started.Hangup()
	process.Eventually(t, func() error {
		if !started.Exited() {
			return errors.New("it goes on")
		}
		return nil
	})
	if code := started.ExitCode(); code != -1 {
		t.Errorf("it ended with %d, want -1, the end by a signal", code)
	}
}
