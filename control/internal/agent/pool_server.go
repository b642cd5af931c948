package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/blocks"
	"sluice.dev/control/internal/pool/payload"
	"sluice.dev/control/internal/pool/segment"
)

// Pool is the part of a configuration that is about pooled storage. What is left out is not done.
type Pool struct {
	Server   *PoolServer   `yaml:"server"`
	Metadata *PoolMetadata `yaml:"metadata"`
	Client   *PoolClient   `yaml:"client"`
}

// PoolServer has the node hold blocks of a pool.
type PoolServer struct {
	// Directory is where the blocks are, on the disk that is pooled.
	Directory string `yaml:"directory"`
	// FreeBytes of its file system are left to others.
	FreeBytes uint64 `yaml:"free_bytes"`
	// ScrubPeriodSeconds is how often all blocks are read and compared with their checksums.
	ScrubPeriodSeconds float64 `yaml:"scrub_period_seconds"`
	// ScrubBytesPerSecond bounds how much of the disk that takes.
	ScrubBytesPerSecond uint64 `yaml:"scrub_bytes_per_second"`
}

const (
	defaultPoolFreeBytes = 1 << 30
	defaultScrubPeriod   = 14 * 86400
	defaultScrubRate     = 10 << 20
	leastScrubPeriod     = 60
	longestScrubPeriod   = 366 * 86400
	leastScrubRate       = 4096
	mostPoolBytes        = 1 << 62
	poolDirectory        = "pool"
)

// UnmarshalYAML sets the defaults of what is left out.
func (p *PoolServer) UnmarshalYAML(unmarshal func(any) error) error {
	*p = PoolServer{
		Directory: filepath.Join(defaultStateDirectory, poolDirectory), FreeBytes: defaultPoolFreeBytes,
		ScrubPeriodSeconds: defaultScrubPeriod, ScrubBytesPerSecond: defaultScrubRate,
	}
	type plain PoolServer
	return unmarshal((*plain)(p))
}

func (p *PoolServer) check(key string) error {
	return errors.Join(
		checkPath(key+".directory", p.Directory),
		checkRange(key+".free_bytes", float64(p.FreeBytes), 0, mostPoolBytes),
		checkRange(key+".scrub_period_seconds", p.ScrubPeriodSeconds, leastScrubPeriod, longestScrubPeriod),
		checkRange(key+".scrub_bytes_per_second", float64(p.ScrubBytesPerSecond), leastScrubRate, mostPoolBytes),
	)
}

func (p *PoolServer) scrubbing() blocks.Scrubbing {
	return blocks.Scrubbing{
		Period: time.Duration(p.ScrubPeriodSeconds * float64(time.Second)), BytesPerSecond: int64(p.ScrubBytesPerSecond),
	}
}

// poolServer holds blocks; its parts are nil where none is configured.
type poolServer struct {
	segments *segment.Store
	server   *blocks.Server
}

func (a *Agent) openPoolServer() error {
	config := a.config.Pool.Server
	if config == nil {
		return nil
	}
	var err error
	a.poolServer.segments, err = segment.OpenStore(config.Directory, segment.Options{FreeBytes: int64(config.FreeBytes)})
	if err != nil {
		return fmt.Errorf("pool.server.directory: %w", err)
	}
	return nil
}

func (a *Agent) assemblePoolServer(registry prometheus.Registerer) {
	segments := a.poolServer.segments
	if segments == nil {
		return
	}
	a.poolServer.server = blocks.NewServer(segments, blocks.NewMetrics(registry, segments.Space))
}

// poolServerOptions come after those of every agent.
func (a *Agent) poolServerOptions() []grpc.ServerOption {
	if a.poolServer.server == nil {
		return nil
	}
	return payload.ServerOptions()
}

func (a *Agent) registerPoolServer(server *grpc.Server) {
	if a.poolServer.server != nil {
		sluicev1.RegisterBlockServiceServer(server, a.poolServer.server)
	}
}

// servePoolServer runs until its context ends.
func (a *Agent) servePoolServer(ctx context.Context, run func(func())) {
	if a.poolServer.server == nil {
		return
	}
	run(func() { a.poolServer.server.Scrub(ctx, a.config.Pool.Server.scrubbing(), a.logger) })
}

func (a *Agent) closePoolServer() error {
	if a.poolServer.segments == nil {
		return nil
	}
	return a.poolServer.segments.Close()
}
