package repair_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSegmentsThatAreOpenAgain: the disk of a server is as it was before its segments were sealed, which nobody was told, as
// one that has lost what it had said to have. They are made anew: on another server, or in place where there is none.
func TestSegmentsThatAreOpenAgain(t *testing.T) {
	t.Parallel()
	for _, servers := range [][]string{{"pool1", "pool2"}, {"pool1", "pool2", "pool3"}} {
		for name, lostBytes := range map[string]int64{"with all bytes": 0, "with fewer bytes": 100} {
			t.Run(fmt.Sprintf("%s, %d servers", name, len(servers)), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, len(servers))
				session := w.attach(servers...)
				w.putSome(session, 5)
				server := w.pool.Servers["pool2"]
				server.Stop()
				openAgain(t, server.Directory, lostBytes)
				server.Start()
				w.settle(w.repairer(w.pool.Service, servers...))
				w.mustBeWhole(servers...)
				w.mustRead(session)
			})
		}
	}
}

// openAgain has all sealed segments of a server be open, and some bytes shorter.
func openAgain(t *testing.T, directory string, lostBytes int64) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(directory, "*", "*", "*.sealed"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		open := strings.TrimSuffix(path, "sealed") + "open"
		err = errors.Join(os.Remove(path+".sums"), os.Rename(path, open), os.Truncate(open, max(info.Size()-lostBytes, 0)))
		if err != nil {
			t.Fatal(err)
		}
	}
}
