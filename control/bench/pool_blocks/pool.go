package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"

	"sluice.dev/control/bench/authority"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/payload"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
)

const (
	clusterName    = "bench"
	poolBlockBytes = 1 << 20
)

// pool is an agent for each device, and a client of each.
type pool struct {
	directory   string
	stop        context.CancelFunc
	agents      []runningAgent
	names       []string
	connections []*grpc.ClientConn
	services    map[string]sluicev1.BlockServiceClient
	credentials *security.Credentials
	metadata    *metadata.Client
}

func startPool(ctx context.Context, o options) (*pool, error) {
	directory, err := os.MkdirTemp("", "pool-blocks")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	p := &pool{directory: directory, stop: stop, services: make(map[string]sluicev1.BlockServiceClient)}
	if err := p.start(ctx, o); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pool) start(ctx context.Context, o options) error {
	program, err := build(ctx, o.sluice, p.directory)
	if err != nil {
		return err
	}
	signer, err := authority.New(clusterName)
	if err != nil {
		return err
	}
	files, err := signer.Write(p.directory, security.RoleAgent, "client")
	if err != nil {
		return err
	}
	if p.credentials, err = security.Open(files, clusterName, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	voters, err := metadataConfigs(o.devices)
	if err != nil {
		return err
	}
	for i, device := range o.devices {
		part := map[string]any{"server": map[string]any{"directory": filepath.Join(device, "blocks"), "free_bytes": 1 << 20}}
		if i < len(voters) {
			part["metadata"] = voters[i]
		}
		if err := p.add(ctx, signer, program, nodeName(i), part); err != nil {
			return err
		}
	}
	return p.openMetadata(ctx, len(voters))
}

func (p *pool) add(ctx context.Context, signer *authority.Authority, program, name string, part map[string]any) error {
	files, err := signer.Write(p.directory, security.RoleAgent, name)
	if err != nil {
		return err
	}
	agent, err := startAgent(ctx, program, p.directory, name, part, files)
	if err != nil {
		return err
	}
	p.agents = append(p.agents, agent)
	options := append(protocol.DialOptions(p.credentials, security.RoleAgent, name), payload.DialOptions()...)
	connection, err := grpc.NewClient(agent.address, options...)
	if err != nil {
		return err
	}
	p.connections = append(p.connections, connection)
	p.names = append(p.names, name)
	p.services[name] = sluicev1.NewBlockServiceClient(connection)
	return nil
}

func (p *pool) close() {
	if p.metadata != nil {
		_ = p.metadata.Close()
	}
	for _, connection := range p.connections {
		_ = connection.Close()
	}
	p.stop()
	for _, agent := range p.agents {
		<-agent.ended
	}
	if p.credentials != nil {
		p.credentials.Close()
	}
	_ = os.RemoveAll(p.directory)
}

func (p *pool) service(name string) (sluicev1.BlockServiceClient, error) {
	return p.services[name], nil
}

// pooled is a file in the pool.
type pooled struct {
	pool   *pool
	file   stripe.File
	writer *stripe.Writer
	reader *stripe.Reader
}

func (p *pool) create(ctx context.Context, copies int, random *rand.Rand) (kept, error) {
	var id layout.FileID
	for i := range id {
		id[i] = byte(random.Uint32())
	}
	servers, err := layout.Place(id, p.names, copies)
	if err != nil {
		return nil, err
	}
	file := stripe.File{ID: id, Stripes: layout.Stripes{BlockBytes: poolBlockBytes, Slots: len(p.names)}, Servers: servers}
	lost := func(_ context.Context, place stripe.Place, cause error) error {
		return fmt.Errorf("%v was lost: %w", place, cause)
	}
	writer, err := stripe.NewWriter(ctx, file, 1, p.service, stripe.DefaultOptions(), lost)
	if err != nil {
		return nil, err
	}
	return &pooled{pool: p, file: file, writer: writer}, nil
}

func (f *pooled) Write(data []byte) (int, error) {
	if err := f.writer.Append(data); err != nil {
		return 0, err
	}
	return len(data), nil
}

func (f *pooled) finish() error {
	length, err := f.writer.Seal()
	if err != nil {
		return err
	}
	f.writer.Close()
	damaged := func(place stripe.Place, cause error) { fmt.Fprintln(os.Stderr, place, "is damaged:", cause) }
	f.reader, err = stripe.NewReader(f.file, length, f.pool.service, stripe.DefaultOptions(), stripe.NewSuspects(time.Now), damaged)
	return err
}

type scan struct {
	*stripe.Scanner
}

// Close ends the scan.
func (s scan) Close() error {
	s.Scanner.Close()
	return nil
}

func (f *pooled) scan(ctx context.Context) (io.ReadCloser, error) {
	return scan{stripe.NewScanner(ctx, f.reader, 0)}, nil
}

func (f *pooled) readAt(ctx context.Context, buffer []byte, offset int64) error {
	_, err := f.reader.ReadAt(ctx, buffer, offset)
	return err
}

func (f *pooled) remove(ctx context.Context) error {
	f.writer.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var problems []error
	for _, service := range f.pool.services {
		_, err := service.RemoveFile(ctx, &sluicev1.RemoveFileRequest{FileId: f.file.ID[:]})
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
