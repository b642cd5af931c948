// Command program keeps the contract of sluice-compact with its agent, or breaks it as the input of its job
// says. It compacts nothing: it is there for tests of how an agent handles the process, and for nothing else.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/message"
)

const (
	progressPeriod = 100 * time.Millisecond
	// grownBytes is above what a job without input may write.
	grownBytes = 100 << 20
)

// acts are what a job's input can ask for, by its first word.
var acts = map[string]func(*worker){
	"result":   func(w *worker) { w.write("000001.sst"); w.finish([]byte("result of " + w.job.Job.ID)) },
	"wait":     func(w *worker) { w.write("000001.sst"); w.progressOn() },
	"released": func(w *worker) { w.write("000001.sst"); w.progressUntilReleased(); w.finish([]byte("released")) },
	"stubborn": func(w *worker) { signal.Ignore(syscall.SIGTERM); w.write("000001.sst"); w.progressOn() },
	"silent":   func(w *worker) { signal.Ignore(syscall.SIGTERM); w.write("000001.sst"); waitForTheEnd() },
	"crash":    func(w *worker) { w.write("000001.sst"); _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) },
	"exit":     func(w *worker) { w.write("000001.sst"); fmt.Fprintln(os.Stderr, "out of ideas"); os.Exit(3) },
	// Is killed the first time, and goes on the second time.
	"killed-once": func(w *worker) {
		if !w.has("000001.sst") {
			w.write("000001.sst")
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		w.finish(fmt.Appendf(nil, "resumable %t", w.job.Resumable))
	},
	"garbage": func(w *worker) { fmt.Println("compacting..."); w.progressOn() },
	"twice":   func(w *worker) { w.finishOpen([]byte("1")); w.finishOpen([]byte("2")) },
	"after":   func(w *worker) { w.finishOpen([]byte("1")); os.Exit(3) },
	"linger": func(w *worker) {
		signal.Ignore(syscall.SIGTERM)
		w.finishOpen([]byte("1"))
		os.Stdout.Close()
		waitForTheEnd()
	},
	"long-line": func(w *worker) {
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("x"), message.MaxLineBytes+2))
		w.progressOn()
	},
	"large":   func(w *worker) { w.finish(make([]byte, compaction.MaxBlobBytes+1)) },
	"largest": func(w *worker) { w.finish(bytes.Repeat([]byte("r"), compaction.MaxBlobBytes)) },
	// Says that it has written what this node does not see.
	"far":       func(w *worker) { w.writeFar() },
	"grow":      func(w *worker) { w.grow(); w.progressOn() },
	"disk-full": func(w *worker) { w.fail(compaction.DiskFull, "no space left on device") },
	"object":    func(w *worker) { w.fail(compaction.ObjectUnknown, "there is no merge operator \"x\"") },
	"spawn":     func(w *worker) { w.spawn(&syscall.SysProcAttr{}); os.Exit(3) },
	// Leaves a process that no signal to the group reaches.
	"spawn-away": func(w *worker) { w.spawn(&syscall.SysProcAttr{Setsid: true}); os.Exit(3) },
	// Goes where no signal to its group reaches it.
	"away":     func(w *worker) { w.leaveGroup(); signal.Ignore(syscall.SIGTERM); w.progressOn() },
	"describe": func(w *worker) { w.finish(w.surroundings()) },
	"checked":  func(w *worker) { w.finish([]byte(w.job.CheckedDatabasePath + "\n" + w.job.CheckedOutputPath)) },
	"pooled":   func(w *worker) { w.finish(w.place()) },
}

type worker struct {
	job     message.WorkerJob
	writing sync.Mutex
}

// waitForTheEnd waits in the kernel: Go ends a program whose goroutines all wait for each other.
func waitForTheEnd() {
	for {
		_ = syscall.Pause()
	}
}

func main() {
	w := &worker{}
	if strings.HasSuffix(os.Args[0], "-mute") {
		waitForTheEnd()
	}
	if strings.HasSuffix(os.Args[0], "-late-hbase") {
		time.Sleep(compaction.Expiry + time.Second) // As a Java machine on a node that is busy.
	}
	rocksdb := compaction.Version{Major: 11, Minor: 8, Patch: 1}
	if strings.HasSuffix(os.Args[0], "-10.2") {
		rocksdb = compaction.Version{Major: 10, Minor: 2, Patch: 1}
	}
	started := &message.Started{ProtocolVersion: message.CurrentVersion(), RocksDB: rocksdb}
	if strings.HasSuffix(os.Args[0], "-hbase") {
		started = &message.Started{ProtocolVersion: message.CurrentVersion(), HBase: compaction.Version{Major: 2, Minor: 6}}
	}
	w.say(message.WorkerLine{Started: started})
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	if err != nil {
		os.Exit(1)
	}
	if w.job, err = message.ParseWorkerJob(line); err != nil {
		w.fail(compaction.Failed, err.Error())
	}
	go func() {
		_, _ = io.Copy(io.Discard, input)
		os.Exit(1) // The agent is gone.
	}()
	act, known := acts[string(w.job.Job.Input)]
	if !known {
		w.fail(compaction.Failed, fmt.Sprintf("there is no act %q", w.job.Job.Input))
	}
	act(w)
}

func (w *worker) say(line message.WorkerLine) {
	w.writing.Lock()
	defer w.writing.Unlock()
	text, err := json.Marshal(line)
	if err == nil {
		_, err = os.Stdout.Write(append(text, '\n'))
	}
	if err != nil {
		os.Exit(1)
	}
}

func (w *worker) fail(reason compaction.Reason, text string) {
	w.say(message.WorkerLine{Failure: &message.WorkerFailure{Reason: reason, Message: text}})
	os.Exit(1)
}

func (w *worker) finish(result []byte) {
	w.finishOpen(result)
	os.Exit(0)
}

func (w *worker) finishOpen(result []byte) {
	w.say(message.WorkerLine{Result: &message.WorkerResult{
		Result: result, Progress: compaction.Progress{BytesRead: 2, BytesWritten: 1}, OpenSeconds: 0.5, CPUSeconds: 0.25,
		ResumedBytes: 3,
	}})
}

func (w *worker) progressOn() {
	w.progressWhile(func() bool { return true })
}

// progressUntilReleased goes on until the test makes a file beside the output.
func (w *worker) progressUntilReleased() {
	w.progressWhile(func() bool {
		_, err := os.Stat(filepath.Join(w.job.Job.DatabasePath, "release"))
		return err != nil
	})
}

func (w *worker) progressWhile(isOn func() bool) {
	for count := uint64(1); isOn(); count++ {
		w.say(message.WorkerLine{Progress: &compaction.Progress{BytesRead: 2 * count, BytesWritten: count}})
		time.Sleep(progressPeriod)
	}
}

func (w *worker) writeFar() {
	w.say(message.WorkerLine{Progress: &compaction.Progress{BytesWritten: grownBytes}})
	w.progressOn()
}

func (w *worker) write(name string) {
	if err := os.WriteFile(filepath.Join(cmp.Or(w.job.CheckedOutputPath, w.job.Job.OutputPath), name), []byte("data"), 0o640); err != nil {
		w.fail(compaction.Path, err.Error())
	}
}

func (w *worker) has(name string) bool {
	_, err := os.Stat(filepath.Join(w.job.Job.OutputPath, name))
	return err == nil
}

func (w *worker) grow() {
	w.write("000001.sst")
	if err := os.Truncate(filepath.Join(w.job.Job.OutputPath, "000001.sst"), grownBytes); err != nil {
		w.fail(compaction.DiskFull, err.Error())
	}
}

// spawn leaves a process behind that has the output open.
func (w *worker) spawn(attributes *syscall.SysProcAttr) {
	child := exec.Command("sleep", "3600")
	child.SysProcAttr = attributes
	child.Stdout = os.Stdout
	if err := child.Start(); err != nil {
		w.fail(compaction.Failed, err.Error())
	}
	w.writeText("child.pid", fmt.Sprint(child.Process.Pid))
}

func (w *worker) leaveGroup() {
	group, err := syscall.Getpgid(os.Getppid())
	if err == nil {
		err = syscall.Setpgid(0, group)
	}
	if err != nil {
		w.fail(compaction.Failed, err.Error())
	}
}

func (w *worker) writeText(name, text string) {
	parent := filepath.Dir(w.job.Job.OutputPath)
	if err := os.WriteFile(filepath.Join(parent, name), []byte(text), 0o640); err != nil {
		w.fail(compaction.Path, err.Error())
	}
}

// place is what the worker is told of where its files are.
func (w *worker) place() []byte {
	pool := cmp.Or(w.job.Job.Pool, &compaction.PoolPlace{})
	return fmt.Appendf(nil, "%s\n%d\n%s\n%s\n%s\n%s", pool.Volume, pool.OuterEpoch, w.job.PoolSocket,
		w.job.CheckedDatabasePath, w.job.CheckedOutputPath, w.job.Job.OutputPath)
}

// surroundings are what the process was started with.
func (w *worker) surroundings() []byte {
	var memory, core unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_DATA, &memory)
	_ = unix.Getrlimit(unix.RLIMIT_CORE, &core)
	// The system call gives 20 minus the priority.
	priority, _ := unix.Getpriority(unix.PRIO_PROCESS, 0)
	directory, _ := os.Getwd()
	return fmt.Appendf(nil, "memory %d core %d nice %d in %s with %s libraries %s", memory.Cur, core.Cur, 20-priority,
		directory, strings.Join(os.Environ(), " "), strings.Join(w.job.Libraries, " "))
}
