package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc"

	"sluice.dev/control/internal/agent/discovery"
	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/admission"
	"sluice.dev/control/internal/compaction/dispatch"
	"sluice.dev/control/internal/compaction/host"
	compactionmetrics "sluice.dev/control/internal/compaction/metrics"
	"sluice.dev/control/internal/compaction/scratch"
	"sluice.dev/control/internal/compaction/socket"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/pool/metadata/entry"

	"github.com/prometheus/client_golang/prometheus"
)

// journalDirectory is where the agent notes below its state directory what it has to remove.
const journalDirectory = "compactions"

// compactions are the parts of an agent that have compactions run elsewhere, and run those of others. What is
// not configured is nil.
type compactions struct {
	listener   net.Listener
	dispatcher *dispatch.Dispatcher
	socket     *socket.Server

	journal *scratch.Journal
	host    *host.Host
}

// openCompactions takes hold of what has to be there before anything is served.
func (a *Agent) openCompactions(ctx context.Context) error {
	var problems []error
	if client := a.config.Compaction.Client; client != nil {
		var err error
		if a.compactions.listener, err = localprotocol.Listen(ctx, client.Socket); err != nil {
			problems = append(problems, fmt.Errorf("compaction.client.socket: %w", err))
		}
	}
	if worker := a.config.Compaction.Worker; worker != nil {
		var err error
		a.compactions.journal, err = scratch.OpenJournal(filepath.Join(worker.StateDirectory, journalDirectory))
		if err != nil {
			problems = append(problems, fmt.Errorf("compaction.worker.state_directory: %w", err))
		}
	}
	return errors.Join(problems...)
}

// assembleCompactions puts them together.
func (a *Agent) assembleCompactions(registry prometheus.Registerer) error {
	if client := a.config.Compaction.Client; client != nil {
		dispatcher, err := dispatch.Open(a.credentials, client.addresses(), client.parameters(), dispatch.Surroundings{
			Load: a.load, Metrics: compactionmetrics.NewClient(registry), Logger: a.logger,
		})
		if err != nil {
			return err
		}
		a.compactions.dispatcher = dispatcher
		a.compactions.socket = socket.NewServer(a.placeCompaction, a.logger)
	}
	if worker := a.config.Compaction.Worker; worker != nil {
		a.compactions.host = host.New(worker.host(a.config.Pool.gatewaySocket()), a.compactions.journal, host.Surroundings{
			Load: a.hostLoad,
			Metrics: func(usage func() admission.Usage) *compactionmetrics.Worker {
				return compactionmetrics.NewWorker(registry, usage)
			},
			Logger: a.logger, Stopping: a.stopping,
		})
	}
	return nil
}

func (a *Agent) registerCompactions(server *grpc.Server) {
	if a.compactions.host != nil {
		sluicev1.RegisterCompactionServiceServer(server, a.compactions.host)
	}
}

func (a *Agent) placeCompaction(ctx context.Context, job compaction.Job) (socket.Running, *compaction.Failure) {
	if job.PoolSession != "" {
		place, failure := a.placeInPool(job)
		if failure != nil {
			a.compactions.dispatcher.Keep(job, failure)
			return nil, failure
		}
		job.Pool, job.PoolSession = place, ""
	}
	placed, failure := a.compactions.dispatcher.Place(ctx, job)
	if failure != nil {
		return nil, failure
	}
	return placed, nil
}

// placeInPool is where the database of a store's session is. A store has only what is below its own lease compacted.
func (a *Agent) placeInPool(job compaction.Job) (*compaction.PoolPlace, *compaction.Failure) {
	if a.poolGateway.server == nil {
		return nil, compaction.Failuref(compaction.Path, "the database is in a pool, and this agent has no access to one: set pool.client.socket")
	}
	lease, err := a.poolGateway.server.LeaseOf(job.PoolSession)
	if err != nil {
		return nil, compaction.Failuref(compaction.Path, "the store's session with the pool: %v", err)
	}
	if !entry.Covers(lease.Path, job.DatabasePath) {
		return nil, compaction.Failuref(compaction.Path, "the database %s is not below %s, which the store has the lease on",
			job.DatabasePath, lease.Path)
	}
	return &compaction.PoolPlace{Volume: lease.Volume, OuterEpoch: lease.Epoch}, nil
}

func (a *Agent) load() (cpuUsed float64, age time.Duration) {
	signals := a.nodeSignals()
	return signals.CPUUsed, time.Since(signals.SampledAt)
}

func (a *Agent) hostLoad() host.Load {
	used, age := a.load()
	return host.Load{CPUUsed: used, CPUs: *a.cpus.Load(), Age: age}
}

// serveCompactions runs until its context ends.
func (a *Agent) serveCompactions(ctx context.Context, run func(func()), failures chan<- error) {
	if a.compactions.dispatcher != nil {
		run(func() { a.compactions.dispatcher.Watch(ctx) })
		run(func() {
			if err := a.compactions.socket.Serve(ctx, a.compactions.listener); err != nil {
				failures <- err
			}
		})
	}
	if a.compactions.host != nil {
		// Nothing waits for it: it waits for disks, and the next agent does what this one has not.
		go a.compactions.host.Tend(ctx)
	}
}

func (a *Agent) closeCompactions() error {
	var problems []error
	if a.compactions.listener != nil {
		problems = append(problems, a.compactions.listener.Close())
	}
	if a.compactions.dispatcher != nil {
		problems = append(problems, a.compactions.dispatcher.Close())
	}
	return errors.Join(problems...)
}

// withoutOwnSockets leaves out the agent's own, which are where those of stores are.
func (a *Agent) withoutOwnSockets(found []discovery.Socket) []discovery.Socket {
	own := make(map[string]bool)
	if clients := a.config.Clients; clients != nil {
		own[clients.Socket] = true
	}
	if client := a.config.Compaction.Client; client != nil {
		own[client.Socket] = true
	}
	if client := a.config.Pool.Client; client != nil {
		own[client.Socket] = true
	}
	return slices.DeleteFunc(slices.Clone(found), func(socket discovery.Socket) bool { return own[socket.Path] })
}
