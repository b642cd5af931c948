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

const root = "hdfs://name:8020/hbase"

// regions is a node that runs compactions of HBase, and where their workers have temporary files.
func regions(t *testing.T) (*node, string) {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "scratch")
	return newNode(t, func(c *host.Config) {
		c.Programs = map[string]string{"hbase-2.6": workertest.Program + "-hbase"}
		c.HBaseRoots, c.ScratchDirectory, c.ResumeJobs = []string{root}, directory, true
	}), directory
}

func (n *node) runRegion(root, id, act string) *stream {
	n.t.Helper()
	opened := n.open()
	n.begin(opened, workertest.RegionJob(root, id, act))
	return opened
}

// expectEmpty waits until no temporary files and no note are left.
func (n *node) expectEmpty(directory string) {
	n.t.Helper()
	workertest.Eventually(n.t, "the removal of temporary files", func() bool {
		left, err := os.ReadDir(directory)
		noted, globErr := filepath.Glob(filepath.Join(n.state, "*"))
		return err == nil && len(left) == 0 && globErr == nil && len(noted) == 0
	})
}

func TestRegionHandover(t *testing.T) {
	n, directory := regions(t)
	s := n.runRegion(root, "a", "checked")
	n.expectAccepted(s)
	result, err := wire.DecodeCompactionResult(n.next(s).GetResult())
	if err != nil {
		t.Fatal(err)
	}
	database, output, _ := strings.Cut(string(result.Blob), "\n")
	if database != "" || output != filepath.Join(directory, compaction.OutputPrefix+"a") {
		t.Errorf("the worker was told %q and %q", database, output)
	}
	n.send(s, &sluicev1.RunCompactionRequest{Take: true})
	if _, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the end of the stream is %v", err)
	}
	n.expectEmpty(directory)
}

// A second worker would find a file without an end in its way.
func TestRegionJobIsNotResumed(t *testing.T) {
	n, directory := regions(t)
	s := n.runRegion(root, "a", "killed-once")
	n.expectAccepted(s)
	n.expectFailure(s, compaction.WorkerLost)
	n.expectEmpty(directory)
}

func TestRegionJobThatWritesTooMuch(t *testing.T) {
	n, directory := regions(t)
	s := n.runRegion(root, "a", "far")
	n.expectAccepted(s)
	n.expectFailure(s, compaction.TooLarge)
	n.expectEmpty(directory)
}

func TestRegionElsewhere(t *testing.T) {
	n, directory := regions(t)
	n.expectFailure(n.runRegion("hdfs://other/hbase", "a", "checked"), compaction.Path)
	if _, err := os.Stat(directory); !os.IsNotExist(err) {
		t.Errorf("a directory was made for a job that is refused: %v", err)
	}
}

func TestStoreWithoutAProgram(t *testing.T) {
	n, _ := regions(t)
	s, _ := n.run("a", "result")
	n.expectFailure(s, compaction.VersionUnknown)
	other := newNode(t, nil)
	other.expectFailure(other.runRegion(root, "a", "checked"), compaction.VersionUnknown)
}
