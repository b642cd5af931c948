package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/bench/authority"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
)

const (
	period           = time.Second
	periodsPerScrape = 15
	leaseTime        = 5 * time.Second
	startTime        = 30 * time.Second
)

// measure starts everything, waits until it has settled, and measures.
func measure(ctx context.Context, o options) (measured result, err error) {
	directory, err := os.MkdirTemp("", "agent-overhead-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	sluice, err := build(ctx, o.sluice, directory, "sluice")
	if err != nil {
		return result{}, err
	}
	referenceStore, err := build(ctx, o.referenceStore, directory, "sluice-reference-store")
	if err != nil {
		return result{}, err
	}
	issuer, err := authority.New(clusterName)
	if err != nil {
		return result{}, err
	}
	files, err := issuer.Write(directory, security.RoleAgent, nodeName)
	if err != nil {
		return result{}, err
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sockets := filepath.Join(directory, "sockets")
	if err := os.Mkdir(sockets, 0o700); err != nil {
		return result{}, err
	}
	if err := startStores(ctx, referenceStore, sockets, o.stores); err != nil {
		return result{}, err
	}
	agent, err := startAgent(ctx, sluice, directory, sockets, files)
	if err != nil {
		return result{}, err
	}
	cluster, err := connect(issuer, directory, agent)
	if err != nil {
		return result{}, err
	}
	defer cluster.close()
	if err := cluster.awaitStores(ctx, o.stores); err != nil {
		return result{}, err
	}
	if _, err := cluster.work(ctx, o.settle); err != nil {
		return result{}, err
	}
	return cluster.measure(ctx, agent.pid, o)
}

// cluster does to the agent what a controller and Prometheus do.
type cluster struct {
	credentials *security.Credentials
	connection  *grpc.ClientConn
	agent       sluicev1.AgentServiceClient
	web         *http.Client
	metricsURL  string
}

func connect(issuer *authority.Authority, directory string, agent runningAgent) (*cluster, error) {
	files, err := issuer.Write(directory, security.RoleController, "controller")
	if err != nil {
		return nil, err
	}
	credentials, err := security.Open(files, clusterName, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient(agent.address, protocol.DialOptions(credentials, security.RoleAgent, nodeName)...)
	if err != nil {
		credentials.Close()
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: credentials.ClientConfig(security.RoleAgent, nodeName)}
	return &cluster{
		credentials: credentials, connection: connection,
		agent:      sluicev1.NewAgentServiceClient(connection),
		web:        &http.Client{Transport: transport, Timeout: period},
		metricsURL: "https://" + agent.metricsAddress + "/metrics",
	}, nil
}

func (c *cluster) close() {
	_ = c.connection.Close()
	c.web.CloseIdleConnections()
	c.credentials.Close()
}

func (c *cluster) awaitStores(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		answer, err := c.agent.Describe(ctx, &sluicev1.DescribeRequest{})
		if err != nil {
			return err
		}
		if len(answer.GetStores()) == want {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d stores answer after %v", len(answer.GetStores()), want, startTime)
		}
	}
}

// work goes on for a time, and returns what it did.
func (c *cluster) work(ctx context.Context, duration time.Duration) (result, error) {
	var done result
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for end := time.Now().Add(duration); time.Now().Before(end); {
		if err := c.onePeriod(ctx, &done); err != nil {
			return result{}, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return result{}, ctx.Err()
		}
	}
	return done, nil
}

func (c *cluster) onePeriod(ctx context.Context, done *result) error {
	answer, err := c.agent.GetSnapshot(ctx, &sluicev1.GetSnapshotRequest{})
	if err != nil {
		return fmt.Errorf("read the snapshots: %w", err)
	}
	done.Snapshots++
	for _, snapshot := range answer.GetSnapshots() {
		_, err := c.agent.SetLease(ctx, &sluicev1.SetLeaseRequest{
			Ref: snapshot.GetRef(), Kind: sluicev1.Kind_KIND_COMPACTION,
			Setting: &sluicev1.Setting{
				Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: 20e6},
			},
			Owner: "policy/bench", TimeToLive: durationpb.New(leaseTime),
		})
		if err != nil {
			return fmt.Errorf("give a lease: %w", err)
		}
		done.Orders++
	}
	if done.Snapshots%periodsPerScrape == 0 {
		return c.scrape(ctx, done)
	}
	return nil
}

func (c *cluster) scrape(ctx context.Context, done *result) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.metricsURL, nil)
	if err != nil {
		return err
	}
	answer, err := c.web.Do(request)
	if err != nil {
		return fmt.Errorf("read the metrics: %w", err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return fmt.Errorf("read the metrics: %w", err)
	}
	done.Scrapes++
	return nil
}

// measure reads the counters of the agent's process before and after some work.
func (c *cluster) measure(ctx context.Context, pid int, o options) (result, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return result{}, err
	}
	before, err := process.Stat()
	if err != nil {
		return result{}, err
	}
	begun := time.Now()
	measured, err := c.work(ctx, o.measure)
	if err != nil {
		return result{}, err
	}
	after, err := process.Stat()
	if err != nil {
		return result{}, err
	}
	status, err := process.NewStatus()
	if err != nil {
		return result{}, err
	}
	measured.Stores = o.stores
	measured.Seconds = time.Since(begun).Seconds()
	measured.CoreShare = (after.CPUTime() - before.CPUTime()) / measured.Seconds
	measured.ResidentBytes, measured.HighestResidentBytes = status.VmRSS, status.VmHWM
	return measured, nil
}
