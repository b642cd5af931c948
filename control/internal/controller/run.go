package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"sluice.dev/control/internal/election"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/page"
	"sluice.dev/control/internal/promql"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/renewals"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/systemd"
	"sluice.dev/control/internal/version"
)

const (
	// shutdownTime is how long calls that are under way may take once the controller is told to stop.
	shutdownTime = 3 * time.Second
	// activeHealth is the name in the health service that says whether this controller is the active one.
	activeHealth = "active"
)

// process is a controller with its servers.
type process struct {
	config      Config
	log         *slog.Logger
	hangups     <-chan os.Signal
	credentials *security.Credentials
	elector     election.Elector
	agents      *agentChannel
	controller  *Controller
	levels      *serviceLevels
	page        *page.Page
	health      *protocol.Health
	server      *grpc.Server
	pageServer  *http.Server
	garbage     *collector
	// stopping is closed when the servers shut down.
	stopping chan struct{}
}

// Run is a controller, until its context ends; it then gives up being the active one and returns nil.
// Leases stay in the stores until they run out or a standby renews them. It reads its configuration again at
// each of the hangups.
func Run(ctx context.Context, config Config, log *slog.Logger, hangups <-chan os.Signal) error {
	credentials, err := security.Open(security.Files(config.TLS), config.Cluster, log)
	if err != nil {
		return err
	}
	defer credentials.Close()
	p := &process{
		config: config, log: log, hangups: hangups, credentials: credentials, garbage: newCollector(),
		stopping: make(chan struct{}),
	}
	if err := p.assemble(); err != nil {
		return errors.Join(err, p.agents.close())
	}
	defer p.agents.close()
	defer p.controller.close()
	defer p.levels.close()
	return p.serve(ctx)
}

// assemble puts together what a controller consists of, and starts nothing.
func (p *process) assemble() error {
	want := security.Identity{Cluster: p.config.Cluster, Role: security.RoleController, Name: p.config.Name}
	if is := p.credentials.Identity(); is != want {
		return fmt.Errorf("the certificate %s is that of %s, not of %s: correct cluster and name, or give the controller a certificate of its own",
			p.config.TLS.CertificateFile, is, want)
	}
	var err error
	if p.agents, err = openAgentChannel(p.credentials); err != nil {
		return err
	}
	if p.elector, err = newElector(p.config, p.log); err != nil {
		return err
	}
	if p.levels, err = newServiceLevels(p.config, p.log); err != nil {
		return err
	}
	needs := dependencies{
		log: p.log, now: time.Now, dial: p.agents.dial, elector: p.elector, metrics: newMetrics(), levels: p.levels,
		limit: context.WithTimeout,
	}
	if needs.signals, err = newSignals(p.config); err != nil {
		return err
	}
	if p.controller, err = newController(p.config, needs); err != nil {
		return err
	}
	p.controller.metrics.observe(p.controller, p.credentials)
	p.assembleServers()
	return nil
}

func (p *process) assembleServers() {
	answers := &service{controller: p.controller, stopping: p.stopping}
	// The audit comes before the interceptors of the options, so that it sees whom they refuse.
	outermost := grpc.UnaryInterceptor(audit{p.log, &renewals.Tracker{}}.UnaryServerInterceptor)
	p.server = grpc.NewServer(append(protocol.ServerOptions(p.credentials), outermost)...)
	p.health = protocol.NewHealth()
	p.health.SetServingStatus(activeHealth, grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	grpc_health_v1.RegisterHealthServer(p.server, p.health)
	sluicev1.RegisterControllerServiceServer(p.server, answers)

	p.page = page.New(answers, time.Now)
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", promhttp.HandlerFor(p.controller.metrics.registry, promhttp.HandlerOpts{}))
	routes.Handle("/", p.page)
	p.pageServer = p.credentials.HTTPServer(routes, p.config.Page.RequireClientCertificate)
	p.pageServer.WriteTimeout = page.WriteTimeout
	p.pageServer.RegisterOnShutdown(p.page.Close)
}

func newElector(config Config, log *slog.Logger) (election.Elector, error) {
	if config.Coordination == nil {
		return election.NewSingle(config.Name), nil
	}
	etcd := config.Coordination.Etcd
	tlsConfig, err := clientTLS(etcd.TLS)
	if err != nil {
		return nil, fmt.Errorf("coordination.etcd.tls: %w", err)
	}
	return election.NewEtcd(election.EtcdConfig{
		Endpoints: etcd.Endpoints, TLS: tlsConfig, KeyPrefix: etcd.KeyPrefix + "/" + config.Cluster + "/active",
		Name: config.Name, SessionTimeToLive: etcd.SessionTimeToLive(), Now: time.Now, Log: log,
	}), nil
}

func newSignals(config Config) (signalSource, error) {
	if config.Prometheus == nil {
		return nil, nil
	}
	tlsConfig, err := clientTLS(config.Prometheus.TLS)
	if err != nil {
		return nil, fmt.Errorf("prometheus.tls: %w", err)
	}
	return promql.New(config.Prometheus.URL, tlsConfig)
}

// serve runs everything until ctx ends or a part fails. The loop ends first, and then the election: a
// standby takes over when this controller writes no more.
func (p *process) serve(ctx context.Context) error {
	listener, pageListener, err := p.listen(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	electionCtx, resign := context.WithCancel(context.WithoutCancel(ctx))
	defer resign()

	var servers, electing sync.WaitGroup
	failures := make(chan error, 3)
	servers.Go(func() { failures <- p.server.Serve(listener) })
	servers.Go(func() { failures <- p.pageServer.ServeTLS(pageListener, "", "") })
	electing.Go(func() { p.elector.Run(electionCtx) })
	servers.Go(func() { p.levels.follow(ctx) })
	watcher := newConfigWatcher(p.config, p.log)
	servers.Go(func() {
		if err := watcher.run(ctx, p.hangups); err != nil {
			failures <- err
		}
	})
	var failure error
	servers.Go(func() {
		select {
		case <-ctx.Done():
		case failure = <-failures:
			cancel()
		}
	})
	p.log.Info("the controller serves", "name", p.config.Name, "version", version.Number(),
		"address", listener.Addr().String(), "page", pageListener.Addr().String())

	p.tell(systemd.Ready)

	p.controller.loop(ctx, systemTicks, watcher.results, p.afterPeriod)
	p.tell(systemd.Stopping)
	resign()
	electing.Wait()
	p.shutDown()
	servers.Wait()
	p.log.Info("the controller has stopped; leases stay in the stores until they run out")
	return failure
}

func (p *process) tell(state systemd.State) {
	if err := systemd.Notify(state); err != nil {
		p.log.Warn("systemd was not told", "state", state, "error", err)
	}
}

func (p *process) listen(ctx context.Context) (net.Listener, net.Listener, error) {
	listener, err := protocol.Listen(ctx, p.config.Listen)
	if err != nil {
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	pageListener, err := protocol.Listen(ctx, p.config.Page.Listen)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("page.listen: %w", err), listener.Close())
	}
	return listener, pageListener, nil
}

func (p *process) afterPeriod() {
	status := grpc_health_v1.HealthCheckResponse_NOT_SERVING
	if p.elector.State().Active {
		status = grpc_health_v1.HealthCheckResponse_SERVING
	}
	p.health.SetServingStatus(activeHealth, status)
	p.page.Record()
	p.garbage.afterPeriod()
}

// shutDown takes no more calls, and waits for those that are under way, but not for ever. Whoever watches
// decisions does not keep it waiting: a controller that is started again must renew its leases in time.
func (p *process) shutDown() {
	p.health.Shutdown()
	close(p.stopping)
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	force := context.AfterFunc(ctx, p.server.Stop)
	p.server.GracefulStop()
	force()
	if err := p.pageServer.Shutdown(ctx); err != nil {
		p.log.Warn("the page was still being read", "error", err)
	}
}
