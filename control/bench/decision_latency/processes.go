package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// parts are the processes of one measurement.
type parts struct {
	options options
	// cancel ends the measurement.
	cancel  context.CancelCauseFunc
	running sync.WaitGroup
}

// stop ends all parts, and returns when they have ended.
func (p *parts) stop() {
	p.cancel(nil)
	p.running.Wait()
}

// start starts a part in a process of its own, which ends with the context, as the context does with it.
func (p *parts) start(ctx context.Context, name, argument string) (*os.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	arguments := append(p.pinned(name), self, "-part", name, "-argument", argument,
		"-tasks", strconv.Itoa(p.options.tasks), "-profiles", p.options.profiles)
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = endDeadline
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	command.Env = append(os.Environ(), p.environment(name)...)
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the part %s: %w", name, err)
	}
	p.running.Go(func() {
		p.cancel(fmt.Errorf("the part %s has ended: %w", name, command.Wait()))
	})
	return command.Process, nil
}

// pinned gives the controller its cores and the agents the others, so that neither takes time from the other;
// nothing where there are too few.
func (p *parts) pinned(name string) []string {
	cores := p.options.procs
	if runtime.NumCPU() <= cores {
		return nil
	}
	list := fmt.Sprintf("0-%d", cores-1)
	if name == "agents" {
		list = fmt.Sprintf("%d-%d", cores, runtime.NumCPU()-1)
	}
	return []string{"taskset", "--cpu-list", list}
}

// environment leaves the controller as it comes, and has the agents seldom look through their memory: they are
// many in one process here.
func (p *parts) environment(name string) []string {
	if name == "agents" {
		return []string{"GOGC=400"}
	}
	return []string{"GOMAXPROCS=" + strconv.Itoa(p.options.procs)}
}

// peakResidentBytes is the most memory that a process has had resident since it started.
func peakResidentBytes(process *os.Process) (float64, error) {
	statusFile := fmt.Sprintf("/proc/%d/status", process.Pid)
	text, err := os.ReadFile(statusFile)
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nVmHWM:")
	var kibibytes float64
	if _, err := fmt.Sscanf(rest, "%f kB", &kibibytes); err != nil {
		return 0, fmt.Errorf("VmHWM in %s: %w", statusFile, err)
	}
	return 1024 * kibibytes, nil
}
