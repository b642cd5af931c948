package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/procfs"

	"sluice.dev/control/internal/security"
)

const servesLine = "the agent serves"

// build compiles the agent, unless it is given already.
func build(ctx context.Context, given, directory string) (string, error) {
	if given != "" {
		return given, nil
	}
	program := filepath.Join(directory, "sluice")
	command := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-trimpath", "-o", program, "./cmd/sluice")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile sluice: %w\n%s", err, output)
	}
	return program, nil
}

// runningAgent is an agent that serves.
type runningAgent struct {
	process procfs.Proc
	address string
	// ended is closed when its process is gone.
	ended chan struct{}
}

// startAgent runs an agent with a part of a pool until the context ends, and waits until it serves.
func startAgent(ctx context.Context, program, directory, name string, part map[string]any, files security.Files) (runningAgent, error) {
	sockets := filepath.Join(directory, name+".sockets")
	if err := os.Mkdir(sockets, 0o700); err != nil {
		return runningAgent{}, err
	}
	text, err := yaml.Marshal(map[string]any{
		"cluster": clusterName, "node": name, "tls": files,
		"listen": "127.0.0.1:0", "metrics_listen": "127.0.0.1:0", "socket_directory": sockets,
		"pool": part,
	})
	if err != nil {
		return runningAgent{}, err
	}
	path := filepath.Join(directory, name+".yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return runningAgent{}, err
	}
	command := exec.CommandContext(ctx, program, "agent", "--config", path)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	log, err := command.StderrPipe()
	if err != nil {
		return runningAgent{}, err
	}
	if err := command.Start(); err != nil {
		return runningAgent{}, fmt.Errorf("start the agent: %w", err)
	}
	address, err := awaitAddress(log)
	if err != nil {
		return runningAgent{}, fmt.Errorf("the agent has ended: %w", errors.Join(err, command.Wait()))
	}
	process, err := procfs.NewProc(command.Process.Pid)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, log)
		_ = command.Wait()
	}()
	return runningAgent{process, address, ended}, err
}

// awaitAddress reads the log up to the line that says where the agent serves.
func awaitAddress(log io.Reader) (string, error) {
	lines := bufio.NewScanner(log)
	var last string
	for lines.Scan() {
		last = lines.Text()
		var record struct {
			Message string `json:"msg"`
			Address string `json:"address"`
		}
		if json.Unmarshal(lines.Bytes(), &record) == nil && record.Message == servesLine {
			return record.Address, nil
		}
	}
	return "", fmt.Errorf("its last words: %s", last)
}

// cpuSeconds is the processor time of this program and the agents so far.
func (p *pool) cpuSeconds() (float64, error) {
	self, err := procfs.Self()
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, process := range append([]procfs.Proc{self}, processesOf(p.agents)...) {
		stat, err := process.Stat()
		if err != nil {
			return 0, err
		}
		total += stat.CPUTime()
	}
	return total, nil
}

func processesOf(agents []runningAgent) []procfs.Proc {
	processes := make([]procfs.Proc, len(agents))
	for i, agent := range agents {
		processes[i] = agent.process
	}
	return processes
}
