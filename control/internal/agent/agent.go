package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"sluice.dev/control/internal/agent/discovery"
	"sluice.dev/control/internal/agent/metrics"
	"sluice.dev/control/internal/agent/stores"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/nodesignals"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/renewals"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/systemd"
	"sluice.dev/control/internal/version"
)

const (
	// rescanPeriod is how often sockets are looked for even if the kernel notifies of none.
	rescanPeriod = 5 * time.Second
	// signalsPeriod is what the node's signals are defined by.
	signalsPeriod = time.Second
	// shutdownTime is how long calls that are under way may take once the agent is told to stop.
	shutdownTime = 5 * time.Second
	// metricsWriteTime ends connections of clients that do not read the metrics.
	metricsWriteTime = 10 * time.Second
	procPath         = "/proc"
)

// Agent is an agent that listens already. Serve makes it answer.
type Agent struct {
	config      Config
	logger      *slog.Logger
	credentials *security.Credentials
	registry    *stores.Registry
	signals     atomic.Pointer[policy.NodeSignals]
	// cpus is how many processors the load of the signals is a share of.
	cpus atomic.Pointer[float64]

	listener        net.Listener
	metricsListener net.Listener
	// stopping is closed when no more calls are taken.
	stopping      chan struct{}
	health        *protocol.Health
	server        *grpc.Server
	metricsServer *http.Server
	clients       clientReports
	compactions   compactions
	poolServer    poolServer
	poolGateway   poolGateway
	poolRepair    poolRepair
	// metadata is nil where the agent holds none of a pool.
	metadata *metadata.Server
}

// Run is an agent, until its context ends; it then lets calls that are under way end and returns nil.
// Leases stay in the stores. It is for a process of its own, whose runtime it sets up.
func Run(ctx context.Context, config Config, logger *slog.Logger) error {
	if config.Pool.Server == nil && !config.Pool.hasGateway() {
		beFrugal()
	}
	agent, err := Open(ctx, config, logger)
	if err != nil {
		return err
	}
	return agent.Serve(ctx)
}

// Open loads the certificate and listens. Call Serve next, which closes both.
func Open(ctx context.Context, config Config, logger *slog.Logger) (*Agent, error) {
	credentials, err := security.Open(config.TLS, config.Cluster, logger)
	if err != nil {
		return nil, err
	}
	agent := &Agent{config: config, logger: logger, credentials: credentials, stopping: make(chan struct{})}
	err = errors.Join(
		agent.checkIdentity(), agent.listen(ctx), agent.openClients(ctx), agent.openCompactions(ctx), agent.openPoolServer(), agent.openPoolGateway(ctx))
	if err != nil {
		return nil, errors.Join(err, agent.close())
	}
	if err := agent.assemble(ctx); err != nil {
		return nil, errors.Join(err, agent.close())
	}
	return agent, nil
}

// Address is where the network contract is served.
func (a *Agent) Address() net.Addr {
	return a.listener.Addr()
}

// MetricsAddress is where Prometheus finds /metrics.
func (a *Agent) MetricsAddress() net.Addr {
	return a.metricsListener.Addr()
}

func (a *Agent) checkIdentity() error {
	want := security.Identity{Cluster: a.config.Cluster, Role: security.RoleAgent, Name: a.config.Node}
	if is := a.credentials.Identity(); is != want {
		return fmt.Errorf("the certificate %s is that of %s, not of %s: correct cluster and node, or give the agent a certificate of its own",
			a.config.TLS.CertificateFile, is, want)
	}
	return nil
}

func (a *Agent) listen(ctx context.Context) error {
	var err error
	if a.listener, err = protocol.Listen(ctx, a.config.Listen); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if a.metricsListener, err = protocol.Listen(ctx, a.config.MetricsListen); err != nil {
		return fmt.Errorf("metrics_listen: %w", err)
	}
	return nil
}

// close undoes Open for an agent that does not serve.
func (a *Agent) close() error {
	a.credentials.Close()
	problems := []error{a.closeClients(), a.closeCompactions(), a.closePoolRepair(), a.closePoolGateway(), a.closePoolServer(), a.closeMetadata()}
	for _, listener := range []net.Listener{a.listener, a.metricsListener} {
		if listener != nil {
			problems = append(problems, listener.Close())
		}
	}
	return errors.Join(problems...)
}

// assemble puts together what answers: the registry of the stores, and the servers.
func (a *Agent) assemble(ctx context.Context) error {
	exposed := metrics.New(metrics.Source{
		Version: version.Number(), Now: time.Now,
		States:            func() []*stores.State { return a.registry.States() },
		NodeSignals:       a.nodeSignals,
		Clients:           a.clientUsage,
		CertificateExpiry: a.credentials.ExpiresAt,
		RefusedHandshakes: a.credentials.RefusedHandshakes,
	})
	a.registry = stores.NewRegistry(a.config.SnapshotPeriod(), time.Now, a.logger, exposed.LeaseRestored)
	a.cpus.Store(new(float64(runtime.NumCPU())))
	a.signals.Store(&policy.NodeSignals{SampledAt: time.Now(), CPUUsed: 1, CPUPressure: -1, IOPressure: -1, MemoryPressure: -1})

	if err := errors.Join(a.assembleCompactions(exposed.Registry()), a.openMetadata(ctx, exposed.Registry()),
		a.assemblePoolRepair(exposed.Registry())); err != nil {
		return err
	}
	a.assemblePoolServer(exposed.Registry())

	// The audit comes before the interceptors of the options, so that it sees whom they refuse.
	orders := audit{a.logger, exposed, &renewals.Tracker{}}
	outermost := grpc.UnaryInterceptor(orders.UnaryServerInterceptor)
	options := append(protocol.ServerOptions(a.credentials), outermost)
	if worker := a.config.Compaction.Worker; worker != nil {
		options = append(options, protocol.LongCalls(worker.longestJob()))
	}
	a.server = grpc.NewServer(append(options, a.poolServerOptions()...)...)
	a.health = protocol.NewHealth()
	grpc_health_v1.RegisterHealthServer(a.server, a.health)
	sluicev1.RegisterAgentServiceServer(a.server, &service{
		node: a.config.Node, version: version.Number(), now: time.Now,
		registry: a.registry, signals: a.nodeSignals, clients: a.clientLatencies, audit: orders, stopping: a.stopping,
	})
	a.registerCompactions(a.server)
	a.registerPoolServer(a.server)
	a.registerMetadata(a.server)
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", exposed.Handler())
	a.metricsServer = a.credentials.HTTPServer(routes, true)
	a.metricsServer.WriteTimeout = metricsWriteTime
	return nil
}

func (a *Agent) nodeSignals() policy.NodeSignals {
	return *a.signals.Load()
}

// Serve answers until its context ends. The stores are looked after until the last call has ended.
func (a *Agent) Serve(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	found := make(chan struct{})
	loops.Go(func() { a.discover(background, sync.OnceFunc(func() { close(found) })) })
	loops.Go(func() { a.sampleSignals(background) })
	<-found

	failures := make(chan error, 5)
	loops.Go(func() { failures <- a.server.Serve(a.listener) })
	loops.Go(func() { failures <- a.metricsServer.ServeTLS(a.metricsListener, "", "") })
	a.serveClients(background, loops.Go, failures)
	a.serveCompactions(background, loops.Go, failures)
	a.servePoolServer(background, loops.Go)
	a.serveMetadata(background, loops.Go)
	stopGateway := a.servePoolGateway(background, failures)
	stopRepair := a.servePoolRepair(background)
	a.health.SetServingStatus(sluicev1.AgentService_ServiceDesc.ServiceName, grpc_health_v1.HealthCheckResponse_SERVING)
	a.tell(systemd.Ready)
	a.logger.Info("the agent serves", "node", a.config.Node, "version", version.Number(),
		"address", a.Address().String(), "metrics_address", a.MetricsAddress().String())

	var failure error
	select {
	case <-ctx.Done():
	case failure = <-failures:
	}
	a.tell(systemd.Stopping)
	stopRepair()
	stopGateway()
	a.shutDown()
	stop()
	loops.Wait()
	a.registry.Wait()
	if err := a.closeCompactions(); err != nil && !errors.Is(err, net.ErrClosed) {
		a.logger.Warn("a connection for compactions was not closed", "error", err)
	}
	if err := a.closePoolRepair(); err != nil && !errors.Is(err, net.ErrClosed) {
		a.logger.Warn("a connection for repair of the pool was not closed", "error", err)
	}
	if err := a.closePoolGateway(); err != nil && !errors.Is(err, net.ErrClosed) {
		a.logger.Warn("a connection to the pool was not closed", "error", err)
	}
	if err := a.closePoolServer(); err != nil {
		a.logger.Warn("the blocks of the pool were not closed", "error", err)
	}
	if err := a.closeMetadata(); err != nil {
		a.logger.Warn("the pool's metadata was not closed", "error", err)
	}
	a.credentials.Close()
	a.logger.Info("the agent has stopped; leases stay in the stores until they end")
	return failure
}

func (a *Agent) tell(state systemd.State) {
	if err := systemd.Notify(state); err != nil {
		a.logger.Warn("systemd was not told", "state", state, "error", err)
	}
}

// shutDown takes no more calls, and waits for those that are under way, but not for ever.
func (a *Agent) shutDown() {
	a.health.Shutdown()
	close(a.stopping)
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if !stopServer(a.server, shutdownTime) {
		a.logger.Warn("calls were not over, as those that wait for a disk")
	}
	if err := a.metricsServer.Shutdown(ctx); err != nil {
		a.logger.Warn("the metrics were still being read", "error", err)
	}
}

// stopServer gives calls that are under way some time, then tells them to end, and gives them that time
// again. What waits for a disk sees nothing of that: isOver is false then.
func stopServer(server *grpc.Server, most time.Duration) (isOver bool) {
	ended := make(chan struct{})
	go func() {
		server.GracefulStop()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(most):
	}
	server.Stop()
	select {
	case <-ended:
		return true
	case <-time.After(most):
		return false
	}
}

// discover keeps the registry at what there is, and calls first once it has looked for the first time.
func (a *Agent) discover(ctx context.Context, first func()) {
	discovery.Watch(ctx, a.config.SocketDirectory, rescanPeriod, a.logger, func(sockets []discovery.Socket) {
		a.registry.Update(ctx, sourcesOf(a.config.Postgres, a.withoutOwnSockets(sockets)))
		first()
	})
}

func (a *Agent) sampler() *nodesignals.Sampler {
	if groups := a.config.CPUGroupDirectories; len(groups) > 0 {
		return nodesignals.NewInGroup(procPath, groups, time.Now)
	}
	return nodesignals.New(procPath, time.Now)
}

func (a *Agent) sampleSignals(ctx context.Context) {
	sampler := a.sampler()
	a.cpus.Store(new(sampler.CPUs()))
	ticker := time.NewTicker(signalsPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			a.signals.Store(new(sampler.Sample()))
			a.cpus.Store(new(sampler.CPUs()))
		}
	}
}
