package worker

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a worker's process, in a group of its own.
type process struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *os.File
	errors  *tail

	// exited is closed when the process is gone, and exit then says how.
	exited chan struct{}
	exit   error
	stop   sync.Once

	// signals keeps signals from a process that has the number later.
	signals  sync.Mutex
	isReaped bool
}

// start starts a worker that waits for its job. The kernel kills it when this process is gone.
func start(spec Spec) (*process, error) {
	p := &process{errors: &tail{}, exited: make(chan struct{})}
	p.command = exec.Command(spec.Program)
	p.command.Dir = "/"
	p.command.Env = []string{"LANG=C.UTF-8", "PATH=/usr/bin:/bin", "TMPDIR=" + cmp.Or(spec.Job.CheckedOutputPath, spec.Job.Job.OutputPath)}
	p.command.Stderr = p.errors
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.command.WaitDelay = goodbye
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.command.Stdout, p.output = writer, reader
	if p.input, err = p.command.StdinPipe(); err != nil {
		return nil, errors.Join(err, reader.Close(), writer.Close())
	}
	started := make(chan error, 1)
	go p.attend(started)
	err = <-started
	_ = writer.Close()
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	if err := p.limit(spec); err != nil {
		p.kill()
		_ = p.wait()
		return nil, err
	}
	return p, nil
}

// attend starts the process and waits for its end, on a thread that stays: the kernel kills a child when
// the thread is gone that has started it.
func (p *process) attend(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.command.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	p.reap()
	// What has left the group may keep the output open; what is in the pipe by now takes no longer to read.
	_ = p.output.SetReadDeadline(time.Now().Add(goodbye))
	close(p.exited)
}

// reap waits for the end of the process, and has that of its group come before its number is free again.
func (p *process) reap() {
	for unix.Waitid(unix.P_PID, p.pid(), nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.kill()
	p.signals.Lock()
	defer p.signals.Unlock()
	p.exit = p.command.Wait()
	p.isReaped = true
}

// limit bounds what the process may take, while it waits for its job.
func (p *process) limit(spec Spec) error {
	memory := &unix.Rlimit{Cur: spec.Job.MemoryLimitBytes, Max: spec.Job.MemoryLimitBytes}
	if err := unix.Prlimit(p.pid(), unix.RLIMIT_DATA, memory, nil); err != nil {
		return err
	}
	if err := unix.Prlimit(p.pid(), unix.RLIMIT_CORE, &unix.Rlimit{}, nil); err != nil {
		return err
	}
	// Of the group, which has no other process yet: of a process it would be that of its first thread alone.
	err := unix.Setpriority(unix.PRIO_PGRP, p.pid(), spec.Nice)
	// An agent that was started with a lower priority, and may not raise it, has workers of its own.
	if errors.Is(err, unix.EACCES) {
		return nil
	}
	return err
}

func (p *process) pid() int {
	return p.command.Process.Pid
}

// terminate asks the process to end, and kills it if it has not after goodbye.
func (p *process) terminate() {
	p.stop.Do(func() {
		p.signal(syscall.SIGTERM)
		go func() {
			select {
			case <-p.exited:
			case <-time.After(goodbye):
				p.kill()
			}
		}()
	})
}

// kill ends the process, and those that it has started.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
}

// signal goes to the whole group, and to the process wherever it has gone.
func (p *process) signal(signal syscall.Signal) {
	p.signals.Lock()
	defer p.signals.Unlock()
	if p.isReaped {
		return
	}
	_ = syscall.Kill(-p.pid(), signal)
	_ = p.command.Process.Signal(signal)
}

// cpuTime is that of a process that is gone.
func (p *process) cpuTime() time.Duration {
	state := p.command.ProcessState
	if state == nil {
		return 0
	}
	return state.UserTime() + state.SystemTime()
}

// wait returns how the process has ended. One whose output is at its end must exit soon.
func (p *process) wait() error {
	select {
	case <-p.exited:
	case <-time.After(goodbye):
		p.terminate()
		<-p.exited
	}
	_ = p.input.Close()
	_ = p.output.Close()
	return p.exit
}
