package compaction

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/workertest"
	"sluice.dev/control/tests/process"
	"sluice.dev/control/tests/wallclock"
)

func TestJobIsDone(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	s, job, worker := c.begin("a", "released")
	release(t, job)
	if ended := s.wait(); ended.result != "released" {
		t.Errorf("%+v", ended)
	}
	c.waitForEndOf(worker)
	// The directory is the store's now, whatever becomes of the worker's agent.
	c.worker.Kill()
	c.startWorker()
	c.waitForPlacementBeside(job)
	if _, err := os.Stat(filepath.Join(job.OutputPath, "000001.sst")); err != nil {
		t.Errorf("the output of a job that is done: %v", err)
	}
}

func release(t *testing.T, job compaction.Job) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(job.DatabasePath, "release"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// waitForPlacementBeside is waitForPlacement while a directory of a job is the store's.
func (c *cluster) waitForPlacementBeside(job compaction.Job) {
	c.t.Helper()
	kept := filepath.Join(c.database, "kept")
	if err := os.Rename(job.OutputPath, kept); err != nil {
		c.t.Fatal(err)
	}
	c.waitForPlacement()
	if err := os.Rename(kept, job.OutputPath); err != nil {
		c.t.Fatal(err)
	}
}

// Whatever a worker does, the store is told why, and nothing is left. A node whose workers fail one after
// the other is left alone for longer each time, so each act has nodes of its own.
func TestWorkersThatFail(t *testing.T) {
	t.Parallel()
	for act, reason := range map[string]compaction.Reason{
		"crash": compaction.WorkerLost, "exit": compaction.WorkerLost, "garbage": compaction.WorkerOutput,
		"large": compaction.TooLarge, "grow": compaction.TooLarge, "disk-full": compaction.DiskFull,
		"object": compaction.ObjectUnknown, "silent": compaction.WorkerSilent,
	} {
		t.Run(act, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t)
			c.place(workertest.Job(t, c.database, act, act)).expect(reason)
			c.waitForNothingLeft()
		})
	}
}

// Each fault comes in the middle of a job. The store is told that the job is its own, its worker ends, and
// nothing is left, where the node of the worker is there to see to that.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		act    string
		strike func(*cluster, *store, int)
		reason compaction.Reason
		after  func(*cluster)
	}{
		"worker killed": {
			strike: func(_ *cluster, _ *store, worker int) { _ = syscall.Kill(worker, syscall.SIGKILL) }, reason: compaction.WorkerLost,
		},
		"worker hangs": {
			strike: func(_ *cluster, _ *store, worker int) { _ = syscall.Kill(worker, syscall.SIGSTOP) }, reason: compaction.WorkerSilent,
		},
		"worker's agent killed": {
			strike: func(c *cluster, _ *store, _ int) { c.worker.Kill() }, reason: compaction.PeerLost,
			after: func(c *cluster) { c.startWorker() },
		},
		"worker's agent killed and worker stubborn": {
			act: "stubborn", strike: func(c *cluster, _ *store, _ int) { c.worker.Kill() }, reason: compaction.PeerLost,
			after: func(c *cluster) { c.startWorker() },
		},
		"worker's agent ended": {
			strike: func(c *cluster, _ *store, _ int) { c.worker.Terminate(c.t) }, reason: compaction.Stopping,
			after: func(c *cluster) { c.startWorker() },
		},
		"worker's agent hangs": {
			strike: func(c *cluster, _ *store, _ int) { c.worker.Pause() }, reason: compaction.PeerLost,
			after: func(c *cluster) { c.worker.Continue() },
		},
		"network cut": {
			strike: func(c *cluster, _ *store, _ int) { c.network.cut() }, reason: compaction.PeerLost,
			after: func(c *cluster) { c.network.mend() },
		},
		"store's agent killed": {
			strike: func(c *cluster, _ *store, _ int) { c.caller.Kill() }, reason: "no-agent",
			after: func(c *cluster) { c.startCaller() },
		},
		"store's agent hangs": {
			strike: func(c *cluster, _ *store, worker int) {
				c.caller.Pause()
				workertest.Eventually(c.t, "the end of the worker", func() bool { return workertest.IsGone(worker) })
				c.caller.Continue()
			}, reason: compaction.Cancelled,
		},
		"store killed": {
			strike: func(_ *cluster, s *store, _ int) { s.connection.Close() }, reason: "no-agent",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t)
			act := "wait"
			if fault.act != "" {
				act = fault.act
			}
			s, _, worker := c.begin("a", act)
			fault.strike(c, s, worker.PID)
			// An agent that was stopped for a while may also take the store for one that hangs.
			if ended := s.wait(); ended.reason != fault.reason && ended.reason != "no-agent" {
				t.Errorf("the job has ended with %+v, want %s", ended, fault.reason)
			}
			if fault.after != nil {
				fault.after(c)
			}
			c.waitForEndOf(worker)
			c.waitForNothingLeft()
			// And all goes on.
			c.waitForPlacement()
		})
	}
}

// What the clock of a machine says is of no account, in the middle of a job and for those that come.
func TestWallClocksJump(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"ahead": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t)
			s, job, _ := c.begin("a", "released")
			wallclock.Jump(t, c.worker.PID(), by)
			wallclock.Jump(t, c.caller.PID(), -by)
			release(t, job)
			if ended := s.wait(); ended.result != "released" {
				t.Errorf("%+v", ended)
			}
			if err := os.RemoveAll(job.OutputPath); err != nil {
				t.Fatal(err)
			}
			c.waitForPlacement()
		})
	}
}

// A full worker says so at once; nothing waits.
func TestBusy(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	first, _, _ := c.begin("first", "wait")
	second := workertest.Job(t, c.database, "second", "result")
	placed := mustConnect(t, c.socket).run(second)
	// The caller may know already that there is no slot, or be told when it asks.
	if placed.Reason != compaction.Busy && placed.Reason != compaction.NoPeer {
		t.Errorf("%+v", placed)
	}
	if err := os.RemoveAll(second.OutputPath); err != nil {
		t.Fatal(err)
	}
	first.connection.Close()
	c.waitForNothingLeft()
	c.waitForPlacement()
}

func TestJobsThatAreNotTaken(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	for name, test := range map[string]struct {
		change func(*compaction.Job)
		reason compaction.Reason
	}{
		"another version": {func(j *compaction.Job) { j.RocksDB.Minor++ }, compaction.NoPeer},
		"another place": {func(j *compaction.Job) {
			other := workertest.Job(t, t.TempDir(), "a", "result")
			j.DatabasePath, j.OutputPath = other.DatabasePath, other.OutputPath
		}, compaction.Path},
		"no room": {func(j *compaction.Job) { j.InputBytes = compaction.MaxCount }, compaction.Busy},
	} {
		t.Run(name, func(t *testing.T) {
			job := workertest.Job(t, c.database, "a", "result")
			defer os.RemoveAll(job.OutputPath)
			test.change(&job)
			// That the slot of the job before is free again is heard a moment later. Nothing else is asked for twice.
			s := mustConnect(t, c.socket)
			process.Eventually(t, func() error {
				placed := s.run(job)
				if placed.Reason == compaction.Busy && strings.Contains(*placed.Detail, "slot") {
					return fmt.Errorf("%s: %s", placed.Reason, *placed.Detail)
				}
				if placed.Reason != test.reason {
					t.Errorf("%+v, want %s", placed, test.reason)
				}
				return nil
			})
		})
	}
}

// A peer that does not run compactions, as one before this version, is none.
func TestPeerWithoutWorkers(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	text, err := os.ReadFile(c.workerConfig)
	if err != nil {
		t.Fatal(err)
	}
	withoutWorker, _, _ := strings.Cut(string(text), "compaction:")
	if err := os.WriteFile(c.workerConfig, []byte(withoutWorker), 0o600); err != nil {
		t.Fatal(err)
	}
	c.startWorker()
	c.startCaller()
	job := workertest.Job(t, c.database, "a", "result")
	var s *store
	workertest.Eventually(t, "the agent's socket", func() bool { s, err = connect(t, c.socket); return err == nil })
	if placed := s.run(job); placed.Reason != compaction.NoPeer {
		t.Errorf("%+v", placed)
	}
}
