package repair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/stripe"
)

// Volume has no files. Who has the lease on it repairs the pool.
const Volume = "sluice-repair"

// closeTime is how long the metadata may take to have the lease back. Else it runs out.
const closeTime = 5 * time.Second

// Config says how a pool is repaired.
type Config struct {
	// Holder is who is told to others that want to repair.
	Holder string
	// TimeToLive of the lease: so long after this process is gone another one goes on.
	TimeToLive time.Duration
	// Servers are those that are known. Any other is gone.
	Servers []string
	// RepairAfter is how long a server may not answer until it is gone.
	RepairAfter time.Duration
	// BytesPerSecond bounds what is moved.
	BytesPerSecond int64
	// BalanceTolerance is how far from the mean the share of a server that is held may be; 1 balances nothing.
	BalanceTolerance float64
	// Period is the time from the end of a pass to the next one, ListPeriod that from one look at all segments of a
	// server to the next one, and PassTime the time after which a pass ends with the segment that it is at.
	Period, ListPeriod, PassTime time.Duration
	Options                      stripe.Options
}

// Repairer repairs a pool whenever nobody else does. Its methods are called one after the other.
type Repairer struct {
	config   Config
	metadata *metadata.Client
	services stripe.Services
	metrics  *Metrics
	logger   *slog.Logger

	session *files.Session
	probes  *probes
	suspect *stripe.Suspects
	pace    pace
	// listed is when all segments of a server were last looked at.
	listed map[string]time.Time
	// damaged are those that the servers have told of then.
	damaged map[segmentAt]bool
}

// New has nothing repaired yet.
func New(config Config, client *metadata.Client, services stripe.Services, metrics *Metrics, logger *slog.Logger) *Repairer {
	return &Repairer{
		config: config, metadata: client, services: services, metrics: metrics, logger: logger,
		probes:  newProbes(config.Servers, services, config.Options.Patience, config.RepairAfter),
		suspect: stripe.NewSuspects(time.Now), pace: pace{bytesPerSecond: config.BytesPerSecond},
		listed: make(map[string]time.Time), damaged: make(map[segmentAt]bool),
	}
}

// Run repairs until its context ends.
func (r *Repairer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		isDone, err := r.Pass(ctx)
		if err != nil && ctx.Err() == nil {
			r.metrics.failures.Inc()
			r.logger.Warn("the pool is not repaired for now", "error", err)
		}
		if isDone || err != nil {
			_ = sleep(ctx, r.config.Period)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		r.logger.Warn("the lease for repair could not be given back, and runs out", "error", err)
	}
}

// Pass repairs what there is to repair, if nobody else does. It is not done if it has ended for its time alone.
func (r *Repairer) Pass(ctx context.Context) (isDone bool, err error) {
	servers := r.probes.ask(ctx)
	if isHeld, err := r.attach(ctx); isHeld || err != nil {
		r.metrics.notMine()
		return true, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer r.endWithLease(cancel)()
	pass := &pass{
		Repairer: r, epoch: r.session.Epoch(), servers: servers, survey: newSurvey(servers, r.damaged), ends: time.Now().Add(r.config.PassTime),
	}
	return pass.run(ctx)
}

// endWithLease cancels what is under way when the lease is lost, until what it returns is called.
func (r *Repairer) endWithLease(cancel context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	lost := r.session.Lost()
	go func() {
		select {
		case <-lost:
			cancel(errors.New("the lease for repair is lost"))
		case <-done:
		}
	}()
	return func() { close(done) }
}

// attach takes the lease anew, so that each pass has an epoch of its own, higher than all that segments were written
// with before. It may be somebody else's.
func (r *Repairer) attach(ctx context.Context) (isHeld bool, err error) {
	// One that cannot be given back is told of by taking it.
	_ = r.Close(ctx)
	r.session, err = r.take(ctx)
	if entry.ReasonOf(err) == entry.NotFound {
		err = r.metadata.CreateVolume(ctx, Volume)
		if err == nil || entry.ReasonOf(err) == entry.Exists {
			r.session, err = r.take(ctx)
		}
	}
	switch {
	case err == nil:
		return false, nil
	case entry.ReasonOf(err) == entry.LeaseHeld:
		return true, nil
	}
	return false, fmt.Errorf("take the lease for repair: %w", err)
}

func (r *Repairer) take(ctx context.Context) (*files.Session, error) {
	config := files.Config{
		Volume: Volume, Path: entry.Root, Holder: r.config.Holder, TimeToLive: r.config.TimeToLive,
		Options: r.config.Options, Suspects: r.suspect,
	}
	return files.Attach(ctx, config, r.metadata, r.services, r.logger)
}

// Close gives the lease back, if it has it.
func (r *Repairer) Close(ctx context.Context) error {
	if r.session == nil {
		return nil
	}
	session := r.session
	r.session = nil
	return session.Detach(ctx)
}
