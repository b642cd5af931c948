package process

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// The tests of several packages run at once, of which one takes some hundred megabytes at most.
const (
	memoryFolder = "/dev/shm"
	leastFree    = 2 << 30
)

// MemoryDirectory makes a folder that is gone after the test, in memory where there is room for it: what is synced there does
// not wait for a disk that others keep busy. Benchmarks have theirs on the disk, as it is part of what they measure.
func MemoryDirectory(t testing.TB) string {
	t.Helper()
	if _, isBenchmark := t.(*testing.B); isBenchmark || !hasMemory() {
		return t.TempDir()
	}
	directory, err := os.MkdirTemp(memoryFolder, "sluice-test-")
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

func hasMemory() bool {
	var status unix.Statfs_t
	err := unix.Statfs(memoryFolder, &status)
	return err == nil && status.Type == unix.TMPFS_MAGIC && status.Bavail*uint64(status.Bsize) >= leastFree &&
		unix.Access(memoryFolder, unix.W_OK) == nil
}
