// Package metadata serves the metadata of a pool, and asks for it: volumes, directories and files, where the blocks of
// each file are, and leases with fencing epochs on parts of a volume. docs/pool-metadata.md has the contract.
package metadata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/expiry"
	"sluice.dev/control/internal/pool/metadata/replica"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
)

// expiryPeriod is how often the leader looks for leases whose time is over.
const expiryPeriod = 100 * time.Millisecond

// Config is that of a server.
type Config struct {
	// Listen is where the other voters reach this one.
	Listen string
	// Replica names this node, the voters and the directory.
	Replica replica.Config
	// Peers are the agents of the voters: calls of who does not reach the leader are passed on to it there. Without them
	// none are.
	Peers []Peer
	// Now is a monotonic clock, for the time of leases.
	Now func() time.Duration
}

// MonotonicClock is the time since it was made.
func MonotonicClock() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// Server is a voter that has joined the others. Serve has it expire leases while it leads.
type Server struct {
	sluicev1.UnimplementedPoolMetadataServiceServer
	replica  *replica.Replica
	leases   *expiry.Keeper
	listener net.Listener
	logger   *slog.Logger
	changes  *prometheus.CounterVec
	voters   *voters
	passedOn prometheus.Counter
}

// Open listens for the other voters and joins them.
func Open(
	ctx context.Context, config Config, credentials *security.Credentials, registry prometheus.Registerer, logger *slog.Logger,
) (*Server, error) {
	listener, err := protocol.Listen(ctx, config.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	server := &Server{leases: expiry.New(config.Now), listener: listener, logger: logger}
	if server.voters, err = openVoters(config.Peers, config.Replica.Node, credentials); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server.replica, err = replica.Open(config.Replica, listener, credentials, server.leases.Begin, logger)
	if err != nil {
		return nil, errors.Join(err, server.voters.close())
	}
	server.registerMetrics(registry)
	return server, nil
}

// Address is where the other voters reach this one.
func (s *Server) Address() net.Addr {
	return s.listener.Addr()
}

// Serve expires leases until its context ends. An error is a log that this version does not understand.
func (s *Server) Serve(ctx context.Context) error {
	ticker := time.NewTicker(expiryPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.replica.Failed():
			return fmt.Errorf("the metadata's log has what this version does not know: upgrade this node")
		case <-ticker.C:
			s.expire(ctx)
		}
	}
}

// expire ends leases whose time is over, if this node leads. Where it fails, another leader does it.
func (s *Server) expire(ctx context.Context) {
	term := s.replica.ReadyTerm()
	if term == 0 {
		return
	}
	due := s.leases.Due(s.replica.State().AllLeases())
	if len(due) == 0 {
		return
	}
	s.logger.Info("leases of the pool's metadata have expired", "epochs", due)
	command := &sluicev1.MetadataCommand{Command: &sluicev1.MetadataCommand_Expire{
		Expire: &sluicev1.ExpireLeases{Epochs: due, Term: term},
	}}
	if _, err := s.replica.Apply(ctx, command); err != nil {
		s.logger.Warn("leases were not ended", "epochs", due, "error", err)
	}
}

// Close leaves the other voters. What was acknowledged is on the disks.
func (s *Server) Close() error {
	return errors.Join(s.voters.close(), s.replica.Close())
}
