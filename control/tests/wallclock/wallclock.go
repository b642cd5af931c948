// Package wallclock makes the wall clock of a process jump, as when somebody sets the clock of its machine. Other
// processes, and clocks that only go forward, are left alone.
//
// Programs read the time from the vDSO, code of the kernel that is mapped into each process. Set overwrites two of its
// functions in the process's own copy: they ask the kernel, and add to what it says.
package wallclock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// deadline is how long a process may take to stop on a loaded machine.
const deadline = 2 * time.Minute

// errBusy says that a thread runs what is to be overwritten.
var errBusy = errors.New("a thread is reading the time")

// Jump does what Set does, and ends the test if that fails.
func Jump(t testing.TB, pid int, by time.Duration) {
	t.Helper()
	if err := Set(pid, by); err != nil {
		t.Fatal(err)
	}
}

// Set puts the wall clock of a process ahead of the machine's, or behind it if by is negative; processes that it forks
// have its clock, programs that those execute do not. The process stops for a moment, and goes on if it was stopped. The
// caller must be allowed to trace it: root, or its parent.
func Set(pid int, by time.Duration) error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("the wall clock of a process can be set on amd64 alone: write the code for %s", runtime.GOARCH)
	}
	if by%time.Second != 0 {
		return fmt.Errorf("the wall clock can jump by whole seconds, not by %v", by)
	}
	end := time.Now().Add(deadline)
	for {
		err := jumpOnce(pid, int64(by/time.Second))
		if err == nil {
			return nil
		}
		if !errors.Is(err, errBusy) || time.Now().After(end) {
			return fmt.Errorf("set the clock of process %d: %w", pid, err)
		}
	}
}

func jumpOnce(pid int, seconds int64) error {
	if err := stop(pid); err != nil {
		return err
	}
	defer syscall.Kill(pid, syscall.SIGCONT)
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	image, err := readImage(pid, memory)
	if err != nil {
		return err
	}
	if err := image.checkUnused(pid); err != nil {
		return err
	}
	for name, code := range replacements(seconds) {
		if err := image.overwrite(memory, name, code); err != nil {
			return err
		}
	}
	return nil
}

// stop returns when no thread of the process runs.
func stop(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	end := time.Now().Add(deadline)
	for {
		stopped, err := isStopped(pid)
		if stopped || err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("it has not stopped after %v", deadline)
		}
		time.Sleep(time.Millisecond)
	}
}

func isStopped(pid int) (bool, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false, err
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		// The state comes after the name, which may hold anything, in parentheses.
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
		if !strings.HasPrefix(rest, "T") {
			return false, nil
		}
	}
	return len(threads) > 0, nil
}

// programCounters are those of the threads of a process that is stopped.
func programCounters(pid int) ([]uint64, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	if err != nil {
		return nil, err
	}
	var counters []uint64
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		fields := strings.Fields(string(text))
		if len(fields) < 3 {
			return nil, errBusy
		}
		counter, err := strconv.ParseUint(strings.TrimPrefix(fields[len(fields)-1], "0x"), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("%s holds %q: %w", path, text, err)
		}
		counters = append(counters, counter)
	}
	return counters, nil
}
