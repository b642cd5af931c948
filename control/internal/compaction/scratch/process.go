package scratch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a process that is told apart from a later one with the same number.
type Process struct {
	PID int `json:"pid"`
	// StartedTicks is when it was started, as the kernel counts in /proc/PID/stat.
	StartedTicks uint64 `json:"started_ticks"`
	// Boot is the boot of the machine that the ticks are of.
	Boot string `json:"boot"`
}

// Identify says which process has a number now.
func Identify(pid int) (Process, error) {
	ticks, err := startedTicks(pid)
	if err != nil {
		return Process{}, err
	}
	boot, err := bootID()
	return Process{PID: pid, StartedTicks: ticks, Boot: boot}, err
}

// longestEnd is how long a process may take that was killed: one that waits for a disk may take for ever.
const longestEnd = 5 * time.Second

// End kills the process and its group if it is still there, and returns when it is gone. It gives up after
// longestEnd.
func (p Process) End() error {
	if p.PID == 0 {
		return nil
	}
	boot, err := bootID()
	if err == nil && p.Boot != boot {
		return nil
	}
	handle, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the worker %d: %w", p.PID, err)
	}
	defer func() { _ = unix.Close(handle) }()
	// The handle is of the process that has the number now, whatever comes after this comparison.
	if ticks, err := startedTicks(p.PID); err != nil || ticks != p.StartedTicks {
		return nil
	}
	// A worker has a group of its own, of what it has started; the handle finds it wherever it has gone.
	_ = unix.Kill(-p.PID, unix.SIGKILL)
	err = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("the worker %d goes on: %w", p.PID, err)
	}
	if err := waitFor(handle, longestEnd); err != nil {
		return fmt.Errorf("the worker %d: %w", p.PID, err)
	}
	return nil
}

// waitFor returns when the process of a handle is gone.
func waitFor(handle int, most time.Duration) error {
	deadline := time.Now().Add(most)
	for {
		left := max(0, time.Until(deadline))
		count, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, int(left.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case count == 0:
			return fmt.Errorf("it was killed, and is still there after %v", most)
		default:
			return nil
		}
	}
}

func startedTicks(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStartedTicks(text)
}

// parseStartedTicks reads field 22 of /proc/PID/stat. The second field, the name, is in parentheses and may
// hold anything, so that fields count from its end.
func parseStartedTicks(text []byte) (uint64, error) {
	const afterName = 22 - 3
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= afterName {
		return 0, fmt.Errorf("%.100q is not the state of a process", text)
	}
	return strconv.ParseUint(string(fields[afterName]), 10, 64)
}

func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(text)), err
}
