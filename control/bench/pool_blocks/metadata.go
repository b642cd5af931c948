package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/tests/ports"
)

const (
	// mostVoters of the agents hold the metadata, as in a pool of that size.
	mostVoters = 3
	volume     = "bench"
	leaseTime  = 10 * time.Second
	// electionTime is how long the voters may take to have a leader.
	electionTime = time.Minute
)

// metadataConfigs are the configurations of the voters, by the number of the agent.
func metadataConfigs(devices []string) ([]map[string]any, error) {
	count := mostVoters
	if len(devices) < count {
		count = 1
	}
	voters := make([]map[string]any, count)
	for i := range voters {
		// Voters must know all addresses before they start.
		port, err := ports.Free()
		if err != nil {
			return nil, err
		}
		voters[i] = map[string]any{"node": nodeName(i), "address": fmt.Sprintf("127.0.0.1:%d", port)}
	}
	configs := make([]map[string]any, count)
	for i := range configs {
		configs[i] = map[string]any{
			"listen": voters[i]["address"], "state_directory": filepath.Join(devices[i], "metadata"), "bootstrap": true, "voters": voters,
		}
	}
	return configs, nil
}

func nodeName(number int) string {
	return fmt.Sprintf("pool%d", number+1)
}

// openMetadata makes the volume, once there is a leader.
func (p *pool) openMetadata(ctx context.Context, voters int) error {
	var peers []metadata.Peer
	for i := range voters {
		peers = append(peers, metadata.Peer{Node: p.names[i], Address: p.agents[i].address})
	}
	var err error
	if p.metadata, err = metadata.NewClient(peers, p.credentials); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, electionTime)
	defer cancel()
	return p.metadata.CreateVolume(ctx, volume)
}

// commit measures commits of files with so many copies.
func (p *pool) commit(ctx context.Context, o options, copies int, found *measured) error {
	session, err := files.Attach(ctx, files.Config{
		Volume: volume, Path: "/", Holder: "pool_blocks", TimeToLive: leaseTime, Servers: p.names, Copies: copies,
		BlockBytes: poolBlockBytes, Options: stripe.DefaultOptions(), Suspects: stripe.NewSuspects(time.Now),
	}, p.metadata, p.service, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	err = measureCommits(ctx, poolFolder{session}, o.commits, found)
	return errors.Join(err, session.Detach(context.WithoutCancel(ctx)))
}
