package scratch_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/scratch"
	"sluice.dev/control/internal/compaction/workertest"
)

// database makes a directory of a database with one for the output of a job.
func database(t *testing.T, root string) compaction.Job {
	t.Helper()
	job := compaction.Job{ID: "a", DatabasePath: filepath.Join(root, "db")}
	job.OutputPath = filepath.Join(job.DatabasePath, compaction.OutputPrefix+"a")
	mkdir(t, job.OutputPath)
	return job
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o750); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestPaths(t *testing.T) {
	tests := map[string]struct {
		// change makes something of a job that is good, below one of the allowed paths.
		change func(t *testing.T, root string, job *compaction.Job)
		want   string
	}{
		"good": {func(*testing.T, string, *compaction.Job) {}, ""},
		"further path": {func(t *testing.T, root string, job *compaction.Job) {
			job.DataPaths = []string{filepath.Join(root, "db", "cold")}
			mkdir(t, job.DataPaths[0])
		}, ""},
		"database elsewhere":     {func(t *testing.T, _ string, job *compaction.Job) { job.DatabasePath = t.TempDir() }, "below none of the paths"},
		"further path elsewhere": {func(_ *testing.T, _ string, job *compaction.Job) { job.DataPaths = []string{"/etc"} }, "/etc is below none"},
		"root with the same beginning": {func(t *testing.T, root string, job *compaction.Job) {
			job.DatabasePath = root + "-other"
			mkdir(t, job.DatabasePath)
		}, "below none of the paths"},
		"not shared": {func(_ *testing.T, _ string, job *compaction.Job) { job.DatabasePath += "-gone" }, "does this node share the store's file system?"},
		"link out of the root": {func(t *testing.T, root string, job *compaction.Job) {
			link(t, "/etc", filepath.Join(root, "link"))
			job.DatabasePath = filepath.Join(root, "link")
		}, "below none of the paths"},
		"output is a link": {func(t *testing.T, root string, job *compaction.Job) {
			mkdir(t, filepath.Join(root, "victim"))
			job.OutputPath = filepath.Join(job.DatabasePath, compaction.OutputPrefix+"b")
			link(t, filepath.Join(root, "victim"), job.OutputPath)
		}, "is not a directory"},
		"output is a file": {func(t *testing.T, _ string, job *compaction.Job) {
			job.OutputPath = filepath.Join(job.DatabasePath, compaction.OutputPrefix+"b")
			write(t, job.OutputPath, "")
		}, "is not a directory"},
		"output of another database": {func(t *testing.T, root string, job *compaction.Job) {
			job.OutputPath = filepath.Join(root, "other", compaction.OutputPrefix+"a")
			mkdir(t, job.OutputPath)
		}, "is not in the database's directory"},
		"output below the database": {func(t *testing.T, _ string, job *compaction.Job) {
			job.OutputPath = filepath.Join(job.DatabasePath, "deep", compaction.OutputPrefix+"a")
			mkdir(t, job.OutputPath)
		}, "is not in the database's directory"},
		"output not empty": {func(t *testing.T, _ string, job *compaction.Job) {
			write(t, filepath.Join(job.OutputPath, "000001.sst"), "x")
		}, "is not empty"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			job := database(t, root)
			test.change(t, root, &job)
			_, failure := scratch.Allowed{"/nowhere", root}.Check(job)
			switch {
			case test.want == "" && failure != nil:
				t.Error(failure)
			case test.want != "" && (failure == nil || failure.Reason != compaction.Path || !strings.Contains(failure.Detail, test.want)):
				t.Errorf("%v does not say %q", failure, test.want)
			}
		})
	}
}

func TestCheckedPathsHaveNoLinks(t *testing.T) {
	root := t.TempDir()
	job := database(t, filepath.Join(root, "real"))
	want := scratch.Checked{DatabasePath: job.DatabasePath, OutputPath: job.OutputPath}
	link(t, filepath.Join(root, "real"), filepath.Join(root, "srv"))
	job.DatabasePath = filepath.Join(root, "srv", "db")
	job.OutputPath = filepath.Join(job.DatabasePath, compaction.OutputPrefix+"a")
	for _, allowed := range []string{"real", "srv"} {
		got, failure := scratch.Allowed{filepath.Join(root, allowed)}.Check(job)
		if failure != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", allowed, got, failure, want)
		}
	}
}

func TestSize(t *testing.T) {
	job := database(t, t.TempDir())
	write(t, filepath.Join(job.OutputPath, "1"), "abc")
	mkdir(t, filepath.Join(job.OutputPath, "d"))
	write(t, filepath.Join(job.OutputPath, "d", "2"), "de")
	if size := scratch.Size(job.OutputPath); size != 5 {
		t.Errorf("%d bytes, want 5", size)
	}
	if size := scratch.Size(job.OutputPath + "-gone"); size != 0 {
		t.Errorf("%d bytes of nothing", size)
	}
}

func TestRemoveFollowsNoLink(t *testing.T) {
	root := t.TempDir()
	job := database(t, root)
	write(t, filepath.Join(root, "victim"), "x")
	mkdir(t, filepath.Join(job.OutputPath, "deep"))
	link(t, root, filepath.Join(job.OutputPath, "deep", "up"))
	if err := scratch.Remove(job.OutputPath); err != nil {
		t.Error(err)
	}
	if isThere(job.OutputPath) || !isThere(filepath.Join(root, "victim")) {
		t.Error("the wrong things are gone")
	}
	if err := scratch.Remove(job.OutputPath); err != nil {
		t.Errorf("a directory that is gone: %v", err)
	}
}

func TestRemoveNothingElse(t *testing.T) {
	job := database(t, t.TempDir())
	if err := scratch.Remove(job.DatabasePath); err == nil || !isThere(job.DatabasePath) {
		t.Errorf("a database was removed: %v", err)
	}
}

func TestJournal(t *testing.T) {
	root := t.TempDir()
	journal, err := scratch.OpenJournal(filepath.Join(root, "state", "compactions"))
	if err != nil {
		t.Fatal(err)
	}
	job := database(t, root)
	if err := journal.Write(scratch.Entry{OutputPath: job.OutputPath}); err != nil {
		t.Fatal(err)
	}
	process, err := scratch.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	noted := scratch.Entry{OutputPath: job.OutputPath, Worker: process}
	if err := journal.Write(noted); err != nil {
		t.Fatal(err)
	}
	// One that was being written when the agent was killed.
	write(t, filepath.Join(root, "state", "compactions", "1.json.new"), "{")
	entries, err := journal.Entries()
	if err != nil || !slices.Equal(entries, []scratch.Entry{noted}) {
		t.Errorf("%v, %v", entries, err)
	}
	if isThere(filepath.Join(root, "state", "compactions", "1.json.new")) {
		t.Error("what was not written to its end is still there")
	}
	if err := journal.Sweep(job.OutputPath); err != nil || isThere(job.OutputPath) {
		t.Errorf("sweep: %v", err)
	}
	if entries, err := journal.Entries(); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := journal.Forget(job.OutputPath); err != nil {
		t.Errorf("forget again: %v", err)
	}
}

// An entry that cannot be written, as on a full disk, leaves nothing behind.
func TestEntryThatCannotBeWritten(t *testing.T) {
	directory := t.TempDir()
	journal, err := scratch.OpenJournal(directory)
	if err != nil {
		t.Fatal(err)
	}
	job := database(t, t.TempDir())
	name := fmt.Sprintf("%x.json", sha256.Sum256([]byte(job.OutputPath)))
	mkdir(t, filepath.Join(directory, name))
	if err := journal.Write(scratch.Entry{OutputPath: job.OutputPath}); err == nil {
		t.Error("no error")
	}
	files, err := os.ReadDir(directory)
	if err != nil || len(files) != 1 || files[0].Name() != name {
		t.Errorf("%v is there, %v", files, err)
	}
}

func TestEntriesThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":       "{",
		"a database":    `{"output_path":"/srv/db","worker":{}}`,
		"upwards":       `{"output_path":"/srv/../.sluice-compaction-a","worker":{}}`,
		"a group":       `{"output_path":"/srv/.sluice-compaction-a","worker":{"pid":-1}}`,
		"something new": `{"output_path":"/srv/.sluice-compaction-a","keep":true}`,
		"large":         `{"output_path":"` + strings.Repeat("x", 65<<10) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			journal, err := scratch.OpenJournal(directory)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(directory, "1.json"), text)
			if entries, err := journal.Entries(); err == nil || len(entries) != 0 || !strings.Contains(err.Error(), "1.json") {
				t.Errorf("%v, %v", entries, err)
			}
		})
	}
}

// What a worker has started is in its group, and writes to the same directory.
func TestEndOfAGroup(t *testing.T) {
	shell := exec.Command("sh", "-c", "sleep 3600 & echo $!; wait")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(output, &child); err != nil {
		t.Fatal(err)
	}
	process, err := scratch.Identify(shell.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- shell.Wait() }()
	if err := process.End(); err != nil {
		t.Error(err)
	}
	<-ended
	workertest.Eventually(t, "the end of the child", func() bool { return workertest.IsGone(child) })
}

func TestEndOfAProcess(t *testing.T) {
	sleeper := exec.Command("sleep", "3600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := scratch.Identify(sleeper.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	later, rebooted := process, process
	later.StartedTicks++
	rebooted.Boot = "another"
	for name, other := range map[string]scratch.Process{"a later one": later, "another boot": rebooted, "none": {}} {
		if err := other.End(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now, err := scratch.Identify(sleeper.Process.Pid); err != nil || now != process {
		t.Fatalf("the process was ended in place of another: %v, %v", now, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- sleeper.Wait() }()
	if err := process.End(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil || err.Error() != "signal: killed" {
		t.Errorf("the process has ended with %v", err)
	}
	if err := process.End(); err != nil {
		t.Errorf("again: %v", err)
	}
}
