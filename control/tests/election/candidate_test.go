package election

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice.dev/control/internal/election"
	"sluice.dev/control/tests/process"
)

const (
	candidateVariable = "SLUICE_TEST_CANDIDATE"
	etcdVariable      = "SLUICE_TEST_ETCD"
	// timeToLive is not so short that a candidate loses its session for what a busy machine keeps it from.
	timeToLive = 4 * time.Second
)

// TestMain runs as a candidate where the environment says so: one that can be killed must be a process.
func TestMain(m *testing.M) {
	if name := os.Getenv(candidateVariable); name != "" {
		runCandidate(name, os.Getenv(etcdVariable))
		return
	}
	os.Exit(m.Run())
}

// runCandidate prints each change of its state until it is asked to end.
func runCandidate(name, endpoint string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	elector := election.NewEtcd(election.EtcdConfig{
		Endpoints: []string{endpoint}, KeyPrefix: "/sluice/test", Name: name,
		SessionTimeToLive: timeToLive, Now: time.Now, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(ctx)
	}()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for last := ""; ; {
		if line := describe(elector.State()); line != last {
			fmt.Println(line)
			last = line
		}
		select {
		case <-ended:
			fmt.Println(describe(elector.State()))
			return
		case <-ticker.C:
		}
	}
}

func describe(state election.State) string {
	return fmt.Sprintf("state active=%v leader=%q", state.Active, state.Leader)
}

// candidate is a controller's half of the election in a process of its own.
type candidate struct {
	*process.Process
	name string
}

func startCandidate(t *testing.T, name, endpoint string) *candidate {
	t.Helper()
	t.Setenv(candidateVariable, name)
	t.Setenv(etcdVariable, endpoint)
	return &candidate{process.Start(t, os.Args[0]), name}
}

// state is the last that the candidate printed.
func (c *candidate) state() string {
	lines := strings.Split(c.Output(), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "state ") {
			return lines[i]
		}
	}
	return ""
}

func (c *candidate) waitFor(t *testing.T, want election.State) {
	t.Helper()
	process.Eventually(t, func() error {
		if got := c.state(); got != describe(want) {
			return fmt.Errorf("candidate %s says %q, want %q", c.name, got, describe(want))
		}
		return nil
	})
}

func (c *candidate) waitForActive(t *testing.T) {
	t.Helper()
	c.waitFor(t, election.State{Active: true, Leader: c.name})
}
