package scratch

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process that cannot be killed, as one that waits for a disk, does not hold up who waits for its end.
func TestWaitForAProcessThatStays(t *testing.T) {
	handle, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(handle)
	if err := waitFor(handle, time.Millisecond); err == nil {
		t.Error("a process that is there passes for gone")
	}
}

func TestFreeBytesOfFileSystems(t *testing.T) {
	for name, test := range map[string]struct {
		status unix.Statfs_t
		want   uint64
	}{
		"one size":       {unix.Statfs_t{Bavail: 3, Bsize: 4096, Frsize: 4096}, 12288},
		"large blocks":   {unix.Statfs_t{Bavail: 3, Bsize: 1 << 20, Frsize: 4096}, 12288},
		"no fragments":   {unix.Statfs_t{Bavail: 3, Bsize: 512}, 1536},
		"nothing at all": {unix.Statfs_t{Bsize: 4096, Frsize: 4096}, 0},
	} {
		if got := freeBytesOf(test.status); got != test.want {
			t.Errorf("%s: %d bytes, want %d", name, got, test.want)
		}
	}
}
