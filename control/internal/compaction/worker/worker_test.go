package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/message"
	"sluice.dev/control/internal/compaction/worker"
	"sluice.dev/control/internal/compaction/workertest"
)

func TestMain(m *testing.M) {
	os.Exit(workertest.Run(m))
}

// run runs a worker to its end and checks that its process is gone.
func run(t *testing.T, ctx context.Context, change func(*worker.Spec), act string) (worker.Report, error) {
	t.Helper()
	pid := 0
	spec := worker.Spec{
		Program: workertest.Program, Nice: 7,
		Job: message.WorkerJob{
			ProtocolVersion: message.CurrentVersion(), Job: workertest.Job(t, t.TempDir(), "a-1", act),
			Libraries: []string{"/opt/filters.so"}, MemoryLimitBytes: 512 << 20, TemporaryLimitBytes: 1 << 20,
		},
		Begun:      func(number int) error { pid = number; return nil },
		Progressed: func(compaction.Progress) {},
	}
	if change != nil {
		change(&spec)
	}
	report, err := worker.Run(ctx, spec)
	if pid != 0 && !workertest.IsGone(pid) {
		t.Errorf("the process %d is still there", pid)
	}
	return report, err
}

func TestResult(t *testing.T) {
	report, err := run(t, t.Context(), nil, "result")
	if err != nil {
		t.Fatal(err)
	}
	if string(report.Result.Blob) != "result of a-1" || report.Result.BytesRead != 2 || report.Result.BytesWritten != 1 ||
		report.OpenSeconds != 0.5 || report.CPUTime <= 0 || report.ResumedBytes != 3 {
		t.Errorf("%+v", report)
	}
}

// A Java machine may take longer to start than a worker may say nothing later.
func TestWorkerOfHBaseThatStartsSlowly(t *testing.T) {
	t.Parallel()
	report, err := run(t, t.Context(), func(s *worker.Spec) {
		s.Program += "-late-hbase"
		s.Job.Job = workertest.RegionJob("hdfs://name/hbase", "a-1", "checked")
		s.Job.CheckedOutputPath = t.TempDir()
	}, "")
	if err != nil || len(report.Result.Blob) == 0 {
		t.Errorf("%s, %v", report.Result.Blob, err)
	}
}

func TestLargestResult(t *testing.T) {
	report, err := run(t, t.Context(), nil, "largest")
	if err != nil || !bytes.Equal(report.Result.Blob, bytes.Repeat([]byte("r"), compaction.MaxBlobBytes)) {
		t.Errorf("%d bytes, %v", len(report.Result.Blob), err)
	}
}

// What a worker is started with does not depend on the agent's own surroundings.
func TestSurroundings(t *testing.T) {
	t.Setenv("SECRET", "x")
	report, err := run(t, t.Context(), nil, "describe")
	if err != nil {
		t.Fatal(err)
	}
	text := string(report.Result.Blob)
	if !strings.HasPrefix(text, "memory 536870912 core 0 nice 7 in / with LANG=C.UTF-8 PATH=/usr/bin:/bin TMPDIR=/") ||
		!strings.HasSuffix(text, "libraries /opt/filters.so") || strings.Contains(text, "SECRET") {
		t.Error(text)
	}
}

// An agent that may not raise priorities does so without.
func TestAPriorityThatIsNotAllowed(t *testing.T) {
	// The system call gives 20 minus the priority.
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread ends with the goroutine, as it is not unlocked.
		runtime.LockOSThread()
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var capabilities [2]unix.CapUserData
		if err := unix.Capget(&header, &capabilities[0]); err != nil {
			t.Error(err)
			return
		}
		capabilities[0].Effective &^= 1 << unix.CAP_SYS_NICE
		if err := unix.Capset(&header, &capabilities[0]); err != nil {
			t.Error(err)
			return
		}
		report, err := run(t, t.Context(), func(s *worker.Spec) { s.Nice = -5 }, "describe")
		if err != nil || !strings.Contains(string(report.Result.Blob), fmt.Sprintf(" nice %d ", 20-own)) {
			t.Errorf("%s, %v", report.Result.Blob, err)
		}
	}()
	<-done
}

func TestWorkersThatFail(t *testing.T) {
	tests := map[string]struct {
		act    string
		change func(*worker.Spec)
		reason compaction.Reason
		detail string
	}{
		"killed":            {act: "crash", reason: compaction.WorkerLost, detail: "signal: killed"},
		"exits":             {act: "exit", reason: compaction.WorkerLost, detail: "exit status 3"},
		"fails after all":   {act: "after", reason: compaction.WorkerLost, detail: "exit status 3"},
		"does not end":      {act: "linger", reason: compaction.WorkerLost, detail: "signal: killed"},
		"leaves a process":  {act: "spawn", reason: compaction.WorkerLost, detail: "exit status 3"},
		"says nothing more": {act: "silent", reason: compaction.WorkerSilent, detail: "5s"},
		"says something":    {act: "garbage", reason: compaction.WorkerOutput, detail: "compacting..."},
		"two results":       {act: "twice", reason: compaction.WorkerOutput, detail: "out of turn"},
		"long line":         {act: "long-line", reason: compaction.TooLarge, detail: "longer than"},
		"large result":      {act: "large", reason: compaction.TooLarge, detail: "2097152"},
		"disk full":         {act: "disk-full", reason: compaction.DiskFull, detail: "no space left on device"},
		"object":            {act: "object", reason: compaction.ObjectUnknown, detail: `merge operator "x"`},
		"not there": {
			change: func(s *worker.Spec) { s.Program += "-gone" }, reason: compaction.WorkerLost, detail: "cannot be started",
		},
		"another version": {
			change: func(s *worker.Spec) { s.Program += "-10.2" }, act: "wait",
			reason: compaction.VersionUnknown, detail: "worker is of RocksDB 10.2, the store of RocksDB 11.8",
		},
		"says nothing at all": {
			change: func(s *worker.Spec) { s.Program += "-mute" }, act: "wait", reason: compaction.WorkerSilent, detail: "5s",
		},
		"cannot be noted": {
			change: func(s *worker.Spec) { s.Begun = func(int) error { return errors.New("read-only") } }, act: "wait",
			reason: compaction.Failed, detail: "read-only",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := run(t, t.Context(), test.change, test.act)
			if hasRun := test.act != ""; (report.CPUTime > 0) != hasRun {
				t.Errorf("its processor time is %v", report.CPUTime)
			}
			var failure *compaction.Failure
			if !errors.As(err, &failure) || failure.Reason != test.reason || !strings.Contains(failure.Detail, test.detail) {
				t.Errorf("%v; want %s with %q", err, test.reason, test.detail)
			}
		})
	}
}

func TestWhatAWorkerSaysLastIsKept(t *testing.T) {
	report, err := run(t, t.Context(), nil, "exit")
	if err == nil || report.Errors != "out of ideas\n" {
		t.Errorf("%q, %v", report.Errors, err)
	}
}

// A worker that does not heed SIGTERM is killed, in its group or out of it.
func TestCancel(t *testing.T) {
	for _, act := range []string{"wait", "stubborn", "away"} {
		t.Run(act, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			why := compaction.Failuref(compaction.TooLong, "for this test")
			_, err := run(t, ctx, func(s *worker.Spec) {
				s.Progressed = func(progress compaction.Progress) {
					if progress.BytesWritten == 3 {
						cancel(why)
					}
				}
			}, act)
			if !errors.Is(err, why) {
				t.Error(err)
			}
		})
	}
}

func TestCancelWithoutACause(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := run(t, ctx, nil, "wait")
	if failure := compaction.FailureOf(err); failure.Reason != compaction.Cancelled {
		t.Error(err)
	}
}

// childOf is the process that the worker has started.
func childOf(t *testing.T, database string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(database, "child.pid"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return child
}

// What has left the worker's group keeps its output open, and must not keep the job.
func TestProcessThatOutlivesItsWorker(t *testing.T) {
	database := t.TempDir()
	_, err := run(t, t.Context(), func(s *worker.Spec) { s.Job.Job = workertest.Job(t, database, "a-1", "spawn-away") }, "")
	child := childOf(t, database)
	defer func() { _ = syscall.Kill(child, syscall.SIGKILL) }()
	var failure *compaction.Failure
	if !errors.As(err, &failure) || failure.Reason != compaction.WorkerLost {
		t.Error(err)
	}
	if workertest.IsGone(child) {
		t.Error("the test shows nothing: the process is gone")
	}
}

func TestProcessesOfAWorkerEndWithIt(t *testing.T) {
	database := t.TempDir()
	_, err := run(t, t.Context(), func(s *worker.Spec) { s.Job.Job = workertest.Job(t, database, "a-1", "spawn") }, "")
	if err == nil {
		t.Error("no error")
	}
	child := childOf(t, database)
	workertest.Eventually(t, "the end of the worker's own process", func() bool { return workertest.IsGone(child) })
}
