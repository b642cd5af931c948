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

	"github.com/goccy/go-yaml"

	"sluice.dev/control/internal/security"
)

const (
	clusterName = "bench"
	nodeName    = "node"
	servesLine  = "the agent serves"
	// farLimit is a debt that no store reaches, so that none refuses a lease.
	farLimit = "1000000000000000"
)

// build compiles a command of this module, unless a program is given already.
func build(ctx context.Context, given, directory, name string) (string, error) {
	if given != "" {
		return given, nil
	}
	program := filepath.Join(directory, name)
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./cmd/"+name)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile %s: %w\n%s", name, err, output)
	}
	return program, nil
}

// startStores runs the stores until the context ends.
func startStores(ctx context.Context, program, sockets string, count int) error {
	for i := range count {
		command := exec.CommandContext(ctx, program,
			"--socket-directory", sockets, "--instance", fmt.Sprint(i), "--seed", fmt.Sprint(i),
			"--limit-bytes", farLimit)
		output, err := command.StdoutPipe()
		if err != nil {
			return err
		}
		if err := command.Start(); err != nil {
			return fmt.Errorf("start a store: %w", err)
		}
		// Its first line says that it takes connections.
		if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
			return fmt.Errorf("store %d has ended: %w", i, errors.Join(err, command.Wait()))
		}
		go func() { _ = command.Wait() }()
	}
	return nil
}

// runningAgent is an agent that serves.
type runningAgent struct {
	pid            int
	address        string
	metricsAddress string
}

// startAgent runs an agent until the context ends, and waits until it serves.
func startAgent(ctx context.Context, program, directory, sockets string, files security.Files) (runningAgent, error) {
	text, err := yaml.Marshal(map[string]any{
		"cluster": clusterName, "node": nodeName, "tls": files,
		"listen": "127.0.0.1:0", "metrics_listen": "127.0.0.1:0", "socket_directory": sockets,
	})
	if err != nil {
		return runningAgent{}, err
	}
	path := filepath.Join(directory, "agent.yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return runningAgent{}, err
	}
	command := exec.CommandContext(ctx, program, "agent", "--config", path)
	log, err := command.StderrPipe()
	if err != nil {
		return runningAgent{}, err
	}
	if err := command.Start(); err != nil {
		return runningAgent{}, fmt.Errorf("start the agent: %w", err)
	}
	agent, err := awaitAddresses(log)
	if err != nil {
		return runningAgent{}, fmt.Errorf("the agent has ended: %w", errors.Join(err, command.Wait()))
	}
	agent.pid = command.Process.Pid
	go func() {
		_, _ = io.Copy(io.Discard, log)
		_ = command.Wait()
	}()
	return agent, nil
}

// awaitAddresses reads the log up to the line that says where the agent serves.
func awaitAddresses(log io.Reader) (runningAgent, error) {
	lines := bufio.NewScanner(log)
	var last string
	for lines.Scan() {
		last = lines.Text()
		var record struct {
			Message        string `json:"msg"`
			Address        string `json:"address"`
			MetricsAddress string `json:"metrics_address"`
		}
		if json.Unmarshal(lines.Bytes(), &record) == nil && record.Message == servesLine {
			return runningAgent{address: record.Address, metricsAddress: record.MetricsAddress}, nil
		}
	}
	return runningAgent{}, fmt.Errorf("its last words: %s", last)
}
