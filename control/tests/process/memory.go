package process

import (
	"fmt"
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
	directory, err := os.MkdirTemp(memoryFolder, memoryName(t))
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

// memoryName says whose a folder is, and in which namespace that number is: tests/left_in_memory.py removes those of killed tests.
func memoryName(t testing.TB) string {
	var namespace unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &namespace); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("sluice-test-%d-%d-", namespace.Ino, os.Getpid())
}

func hasMemory() bool {
	var status unix.Statfs_t
	err := unix.Statfs(memoryFolder, &status)
	return err == nil && status.Type == unix.TMPFS_MAGIC && status.Bavail*uint64(status.Bsize) >= leastFree &&
		unix.Access(memoryFolder, unix.W_OK) == nil
}
