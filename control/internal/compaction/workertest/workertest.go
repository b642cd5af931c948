// Package workertest has a program in the place of sluice-compact for tests of how its process is handled.
package workertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/compaction"
)

// patience is how long anything that a test waits for may take on a loaded machine.
const patience = 2 * time.Minute

// Run builds the program, runs the tests of a package, and gives their exit status. Program is its path then.
func Run(m *testing.M) int {
	directory, err := os.MkdirTemp("", "sluice")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(directory)
	Program = filepath.Join(directory, "sluice-compact")
	output, err := exec.Command("go", "build", "-o", Program,
		"sluice.dev/control/internal/compaction/workertest/program").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "the program cannot be built: %v\n%s", err, output)
		return 1
	}
	// Other names make it say other versions, or nothing.
	for _, suffix := range []string{"-10.2", "-mute", "-hbase", "-late-hbase"} {
		if err := os.Symlink(Program, Program+suffix); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// Program is the path of the program, once Run has built it.
var Program string

// Job is a job in a database of the test, whose program does what act says.
func Job(t testing.TB, database, id, act string) compaction.Job {
	t.Helper()
	output := filepath.Join(database, compaction.OutputPrefix+id)
	if err := os.MkdirAll(output, 0o770); err != nil {
		t.Fatal(err)
	}
	return compaction.Job{
		ID: id, DatabasePath: database, OutputPath: output,
		RocksDB: compaction.Version{Major: 11, Minor: 8, Patch: 1}, PluginVersion: "1.0.0", ColumnFamily: "default",
		OutputLevel: 1, InputFiles: 2, Input: []byte(act),
	}
}

// RegionJob is a job of HBase, whose program does what act says.
func RegionJob(root, id, act string) compaction.Job {
	region := root + "/data/default/t/0123456789abcdef0123456789abcdef"
	return compaction.Job{
		ID: id, DatabasePath: region, OutputPath: region + "/" + compaction.TemporaryFolder + "/" + compaction.OutputPrefix + id,
		HBase: compaction.Version{Major: 2, Minor: 6, Patch: 4}, PluginVersion: "0.1.0", ColumnFamily: "f",
		InputFiles: 2, Input: []byte(act),
	}
}

// PoolJob is a job of a database in a pool, whose program does what act says.
func PoolJob(volume, id, act string) compaction.Job {
	return compaction.Job{
		ID: id, Pool: &compaction.PoolPlace{Volume: volume, OuterEpoch: 7},
		DatabasePath: "/db", OutputPath: "/db/" + compaction.OutputPrefix + id,
		RocksDB: compaction.Version{Major: 11, Minor: 8, Patch: 1}, PluginVersion: "1.0.0", ColumnFamily: "default",
		OutputLevel: 1, InputFiles: 2, Input: []byte(act),
	}
}

// Eventually waits until something is so.
func Eventually(t testing.TB, what string, isSo func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !isSo() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// IsGone says whether a process is there no more; one that is dead and not waited for counts as gone.
func IsGone(pid int) bool {
	if unix.Kill(pid, 0) != nil {
		return true
	}
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	var number int
	var name, letter string
	count, _ := fmt.Sscanf(string(state), "%d %s %s", &number, &name, &letter)
	return count == 3 && letter == "Z"
}
