package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/host"
)

// A directory that could not be noted is in no journal, by which it would be removed later.
func TestDirectoryOfAJobThatCannotBeNoted(t *testing.T) {
	n, directory := pools(t)
	if err := os.Remove(n.state); err != nil {
		t.Fatal(err)
	}
	n.expectFailure(n.runInPool("orders", "a", "result"), compaction.Failed)
	n.expectEmpty(directory)
}

// An agent that is killed between the two has made a directory, and noted nothing.
func TestDirectoryThatAnAgentBeforeHasNotNoted(t *testing.T) {
	directory := t.TempDir()
	left, other := filepath.Join(directory, compaction.OutputPrefix+"a"), filepath.Join(directory, "other")
	for _, path := range []string{left, other} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	newNode(t, func(c *host.Config) { c.ScratchDirectory = directory })
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 1 || entries[0].Name() != "other" {
		t.Errorf("left are %v: %v", entries, err)
	}
}
