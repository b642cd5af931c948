package host_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/host"
	"sluice.dev/control/internal/compaction/workertest"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

const poolSocket = "/run/sluice/agent/pool.sock"

// pools is a node that runs compactions of databases in a pool, and where their workers have temporary files.
func pools(t *testing.T) (*node, string) {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "scratch")
	return newNode(t, func(c *host.Config) {
		c.Allowed, c.PoolVolumes, c.PoolSocket = nil, []string{"orders", "returns"}, poolSocket
		c.ScratchDirectory, c.ResumeJobs = directory, true
	}), directory
}

func (n *node) runInPool(volume, id, act string) *stream {
	n.t.Helper()
	opened := n.open()
	n.begin(opened, workertest.PoolJob(volume, id, act))
	return opened
}

// The worker is told where it reaches the pool, and what it leaves on this node is removed. What it has written to the
// pool is the store's to remove.
func TestPoolHandover(t *testing.T) {
	n, directory := pools(t)
	s := n.runInPool("orders", "a", "pooled")
	n.expectAccepted(s)
	result, err := wire.DecodeCompactionResult(n.next(s).GetResult())
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Split(string(result.Blob), "\n")
	want := []string{"orders", "7", poolSocket, "", filepath.Join(directory, compaction.OutputPrefix+"a"), "/db/" + compaction.OutputPrefix + "a"}
	if strings.Join(told, " ") != strings.Join(want, " ") {
		t.Errorf("the worker was told %q, want %q", told, want)
	}
	n.send(s, &sluicev1.RunCompactionRequest{Take: true})
	if _, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the end of the stream is %v", err)
	}
	n.expectEmpty(directory)
}

func TestWorkersOfOtherJobsAreNotToldOfThePool(t *testing.T) {
	n := newNode(t, func(c *host.Config) { c.PoolVolumes, c.PoolSocket = []string{"orders"}, poolSocket })
	s, _ := n.run("a", "pooled")
	n.expectAccepted(s)
	result, err := wire.DecodeCompactionResult(n.next(s).GetResult())
	if err != nil || strings.Contains(string(result.Blob), poolSocket) {
		t.Errorf("%q, %v", result.Blob, err)
	}
}

// A second worker would find the lease of the first.
func TestPoolJobIsNotResumed(t *testing.T) {
	n, directory := pools(t)
	s := n.runInPool("orders", "a", "killed-once")
	n.expectAccepted(s)
	n.expectFailure(s, compaction.WorkerLost)
	n.expectEmpty(directory)
}

func TestPoolJobThatWritesTooMuch(t *testing.T) {
	n, directory := pools(t)
	s := n.runInPool("orders", "a", "far")
	n.expectAccepted(s)
	n.expectFailure(s, compaction.TooLarge)
	n.expectEmpty(directory)
}

func TestVolumeThatIsNotAllowed(t *testing.T) {
	n, directory := pools(t)
	answer := n.next(n.runInPool("other", "a", "result"))
	failure := wire.DecodeFailure(answer.GetFailed())
	if failure.Reason != compaction.Path || !strings.Contains(failure.Detail, "pool_volumes") {
		t.Errorf("%v", failure)
	}
	if _, err := os.Stat(directory); !os.IsNotExist(err) {
		t.Errorf("a directory was made for a job that is refused: %v", err)
	}
	without := newNode(t, nil)
	without.expectFailure(without.runInPool("orders", "a", "result"), compaction.Path)
}

// A directory is one job's, of the volume that it is in.
func TestSecondJobForTheSameDirectoryOfAVolume(t *testing.T) {
	n, directory := pools(t)
	first := n.runInPool("orders", "a", "wait")
	n.expectAccepted(first)
	n.expectFailure(n.runInPool("orders", "a", "result"), compaction.Path)
	if err := first.CloseSend(); err != nil {
		t.Fatal(err)
	}
	n.expectFailure(first, compaction.Cancelled)
	n.expectEmpty(directory)
}
