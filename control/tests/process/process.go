// Package process starts, stops and kills the processes that a test needs, and waits for what they do.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice.dev/control/tests/ports"
)

// deadline is how long anything that a test waits for may take on a loaded machine.
const deadline = 2 * time.Minute

// Process is a process that ends with its test.
type Process struct {
	command *exec.Cmd
	output  *output
	exited  chan struct{}
}

// Start starts a program. If the test fails, it shows what the program wrote.
func Start(t testing.TB, program string, arguments ...string) *Process {
	t.Helper()
	p := &Process{command: exec.Command(program, arguments...), output: &output{}, exited: make(chan struct{})}
	p.command.Stdout = p.output
	p.command.Stderr = p.output
	// A test that is killed leaves nothing behind.
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.command.Start(); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	go func() {
		// How it ended is of no interest: tests kill it.
		_ = p.command.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("output of %s %v:\n%s", program, arguments, p.Output())
		}
	})
	return p
}

// Require is the path of a program of a Debian package; without it the test fails.
func Require(t testing.TB, program, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("this test needs %s: run apt-get install -y %s (%v)", program, debianPackage, err)
	}
	return path
}

// PID is the number of the process.
func (p *Process) PID() int { return p.command.Process.Pid }

// Kill ends the process as a power cut would, and returns when it is gone.
func (p *Process) Kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// Terminate asks the process to end, and returns when it is gone.
func (p *Process) Terminate(t testing.TB) {
	t.Helper()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(deadline):
		t.Fatalf("%s has not ended %v after SIGTERM", p.command.Path, deadline)
	}
}

// Pause stops the process without ending it, and returns when none of its threads runs; Continue lets it
// go on.
func (p *Process) Pause() {
	p.signal(syscall.SIGSTOP)
	if err := unix.Waitid(unix.P_PID, p.command.Process.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		fmt.Fprintf(p.output, "wait for the pause: %v\n", err)
	}
}

// Continue lets a process go on that Pause has stopped.
func (p *Process) Continue() { p.signal(syscall.SIGCONT) }

// Hangup asks the process to read its configuration again.
func (p *Process) Hangup() { p.signal(syscall.SIGHUP) }

// Output is what the process has written so far.
func (p *Process) Output() string { return p.output.String() }

// ExitCode waits for the end of the process. It is -1 if a signal ended it.
func (p *Process) ExitCode() int {
	<-p.exited
	return p.command.ProcessState.ExitCode()
}

// Exited says whether the process has ended.
func (p *Process) Exited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *Process) signal(signal syscall.Signal) {
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		fmt.Fprintf(p.output, "signal %v: %v\n", signal, err)
	}
}

// Eventually waits until a condition holds, that is, until it returns nil.
func Eventually(t testing.TB, condition func() error) {
	t.Helper()
	end := time.Now().Add(deadline)
	for {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %v: %v", deadline, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// FreeAddress is an address on this machine that nothing listens on, another one each time, also for the tests of other
// packages that run at the same time.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := ports.Free()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", port)
}

type output struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.buffer.Write(text)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.buffer.String()
}
