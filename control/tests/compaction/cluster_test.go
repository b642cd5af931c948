// Package compaction tests remote compactions between agents that are processes of their own, and can be
// killed. The worker is a program that keeps or breaks the contract of sluice-compact as its job says; the
// tests are the store.
package compaction

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/scratch"
	"sluice.dev/control/internal/compaction/workertest"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/tests/process"
)

const clusterName = "test"

// program is the agent.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	directory, err := os.MkdirTemp("", "sluice-compaction-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(directory)
	program = filepath.Join(directory, "sluice")
	build := exec.Command("go", "build", "-o", program, "sluice.dev/control/cmd/sluice")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build.Args, err, output)
		return 1
	}
	return workertest.Run(m)
}

// cluster is a node with a store, db-1, and one that runs compactions, db-2, which share a directory.
type cluster struct {
	t      *testing.T
	socket string
	// database is that of the store, below what workers may use.
	database string
	// state is the worker's state directory.
	state string
	// network is between the two.
	network *relay

	callerConfig, workerConfig string
	caller, worker             *process.Process
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	authority := securitytest.NewAuthority(t, clusterName)
	// A socket's path has at most 107 bytes, which the test's own directory may be beyond.
	sockets, err := os.MkdirTemp("", "sluice-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(sockets) })
	c := &cluster{t: t, socket: filepath.Join(sockets, "compaction.sock"), database: filepath.Join(t.TempDir(), "db"), state: process.MemoryDirectory(t)}
	if err := os.Mkdir(c.database, 0o750); err != nil {
		t.Fatal(err)
	}
	workerAt := process.FreeAddress(t)
	c.network = newRelay(t, workerAt)
	c.callerConfig = writeConfig(t, authority, "db-1", process.FreeAddress(t), sockets, fmt.Sprintf(`
  client:
    socket: %s
    peers: [{node: db-2, address: %q}]
    threshold_share: -1
    minimum_input_bytes: 0
`, c.socket, c.network.address()))
	c.workerConfig = writeConfig(t, authority, "db-2", workerAt, t.TempDir(), fmt.Sprintf(`
  worker:
    programs: [{rocksdb_series: "11.8", path: %s}]
    paths: [%s]
    state_directory: %s
    slots: 1
    free_bytes: 0
`, workertest.Program, filepath.Dir(c.database), c.state))
	return c
}

// writeConfig gives certificates that are still good on a machine whose clock is an hour off.
func writeConfig(t *testing.T, authority *securitytest.Authority, node, listen, sockets, compactions string) string {
	t.Helper()
	request := authority.RequestFor(security.RoleAgent, node)
	request.NotBefore, request.NotAfter = time.Now().Add(-12*time.Hour), time.Now().Add(12*time.Hour)
	files := authority.Write(t, t.TempDir(), request)
	path := filepath.Join(t.TempDir(), "agent.yml")
	text := fmt.Sprintf(`cluster: %s
node: %s
listen: %q
metrics_listen: %q
tls: {certificate_file: %s, key_file: %s, ca_file: %s}
socket_directory: %s
log_level: debug
compaction:%s`, clusterName, node, listen, process.FreeAddress(t), files.CertificateFile, files.KeyFile, files.CAFile, sockets, compactions)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (c *cluster) startCaller() {
	c.t.Helper()
	c.caller = process.Start(c.t, program, "agent", "--config", c.callerConfig)
}

func (c *cluster) startWorker() {
	c.t.Helper()
	c.worker = process.Start(c.t, program, "agent", "--config", c.workerConfig)
}

// startCluster starts both, and returns when jobs can be placed.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := newCluster(t)
	c.startWorker()
	c.startCaller()
	c.waitForPlacement()
	return c
}

// waitForPlacement offers jobs until one is placed, and lets it be done.
func (c *cluster) waitForPlacement() {
	c.t.Helper()
	count := 0
	process.Eventually(c.t, func() error {
		count++
		job := workertest.Job(c.t, c.database, fmt.Sprint("try-", count), "result")
		defer os.RemoveAll(job.OutputPath)
		s, err := connect(c.t, c.socket)
		if err != nil {
			return err
		}
		defer s.connection.Close()
		placed := s.run(job)
		if placed.Reason != "" {
			return fmt.Errorf("%s: %s", placed.Reason, *placed.Detail)
		}
		return s.wait().err()
	})
	c.waitForNothingLeft()
}

// begin has a job run by the worker, and gives its store, and the process of the worker.
func (c *cluster) begin(id, act string) (*store, compaction.Job, scratch.Process) {
	c.t.Helper()
	job := workertest.Job(c.t, c.database, id, act)
	s := c.place(job)
	var at scratch.Process
	process.Eventually(c.t, func() error {
		s.keep()
		if _, err := os.Stat(filepath.Join(job.OutputPath, "000001.sst")); err != nil {
			return err
		}
		for _, entry := range c.journal() {
			at = entry.Worker
		}
		if at.PID == 0 {
			return errors.New("the worker is not noted")
		}
		return nil
	})
	return s, job, at
}

// place offers a job until it is taken: that a slot is free again is heard a moment later.
func (c *cluster) place(job compaction.Job) *store {
	c.t.Helper()
	s := mustConnect(c.t, c.socket)
	process.Eventually(c.t, func() error {
		if placed := s.run(job); placed.Reason != "" {
			return fmt.Errorf("%s: %s", placed.Reason, *placed.Detail)
		}
		return nil
	})
	return s
}

// journal is what the worker's agent has noted to remove.
func (c *cluster) journal() []scratch.Entry {
	c.t.Helper()
	paths, err := filepath.Glob(filepath.Join(c.state, "compactions", "*.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	var entries []scratch.Entry
	for _, path := range paths {
		text, err := os.ReadFile(path)
		var entry scratch.Entry
		if err == nil && json.Unmarshal(text, &entry) == nil {
			entries = append(entries, entry)
		}
	}
	return entries
}

// waitForNothingLeft waits until no directory of a job is there, and none is noted.
func (c *cluster) waitForNothingLeft() {
	c.t.Helper()
	process.Eventually(c.t, func() error {
		left, err := filepath.Glob(filepath.Join(c.database, compaction.OutputPrefix+"*"))
		if err != nil || len(left) > 0 {
			return fmt.Errorf("%v is left, %v", left, err)
		}
		if entries := c.journal(); len(entries) > 0 {
			return fmt.Errorf("%v is noted", entries)
		}
		return nil
	})
}

func (c *cluster) waitForEndOf(worker scratch.Process) {
	c.t.Helper()
	process.Eventually(c.t, func() error {
		if !workertest.IsGone(worker.PID) {
			return fmt.Errorf("the worker %d is still there", worker.PID)
		}
		return nil
	})
}
