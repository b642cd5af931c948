package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
)

func TestTerminationRemovesTheSocket(t *testing.T) {
	directory := referencetest.SocketDirectory(t)
	process := referencetest.Start(t, referencetest.Build(t), directory, "--instance", "one")
	if want := filepath.Join(directory, "reference", "one.sock"); process.SocketPath != want {
		t.Errorf("it serves %s, not %s", process.SocketPath, want)
	}
	if err := process.Terminate(); err != nil {
		t.Errorf("it failed: %v", err)
	}
	if _, err := os.Lstat(process.SocketPath); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestSocketOfALiveProcessIsRefused(t *testing.T) {
	binary, directory := referencetest.Build(t), referencetest.SocketDirectory(t)
	first := referencetest.Start(t, binary, directory)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	output, err := exec.CommandContext(ctx, binary, "--socket-directory", directory).CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 1 || !bytes.Contains(output, []byte("served by another process")) {
		t.Errorf("the second one: %v, %s", err, output)
	}
	client := localprotocol.NewClient(first.SocketPath)
	defer func() { _ = client.Close() }()
	if _, err := client.Describe(ctx); err != nil {
		t.Errorf("the first one is gone: %v", err)
	}
}

func TestSocketOfAKilledProcessIsTakenOver(t *testing.T) {
	binary, directory := referencetest.Build(t), referencetest.SocketDirectory(t)
	killed := referencetest.Start(t, binary, directory)
	_ = killed.Kill()
	if _, err := os.Lstat(killed.SocketPath); err != nil {
		t.Fatalf("the killed process has left no socket: %v", err)
	}
	if next := referencetest.Start(t, binary, directory); next.SocketPath != killed.SocketPath {
		t.Errorf("the next one serves %s, not %s", next.SocketPath, killed.SocketPath)
	}
}

func TestFlags(t *testing.T) {
	tests := []struct {
		name      string
		arguments []string
		message   string
	}{
		{"unknown", []string{"--colour", "blue"}, "not defined: -colour"},
		{"no number", []string{"--write-bytes-per-second", "much"}, "invalid value"},
		{"out of range", []string{"--write-bytes-per-second", "-1"}, "WriteBytesPerSecond must be a positive number"},
		{"not a number", []string{"--limit-bytes", "NaN"}, "invalid value"},
		{"path as instance", []string{"--instance", "../x"}, "instance must match"},
		{"the same table twice", []string{"--scopes", "a,a"}, "different names"},
		{"argument", []string{"now"}, "unexpected arguments"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), test.arguments, &stdout, &stderr)
			if err == nil || !strings.Contains(err.Error()+stderr.String(), test.message) {
				t.Errorf("the error is %v, %s, without %q", err, stderr.String(), test.message)
			}
		})
	}
	var stderr bytes.Buffer
	if err := run(t.Context(), []string{"-help"}, &stderr, &stderr); !errors.Is(err, flag.ErrHelp) || !strings.Contains(stderr.String(), "-seed") {
		t.Errorf("help: %v, %s", err, stderr.String())
	}
}
