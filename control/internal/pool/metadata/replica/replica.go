// Package replica has the metadata of a pool replicated: each change is an entry of a log that a majority of the
// voters has on its disks before it is answered (Raft; Ongaro and Ousterhout, USENIX ATC 2014).
package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/state"
	"sluice.dev/control/internal/security"
)

const (
	logFile = "log.db"
	// lockTime is waited for another process to let go of the log.
	lockTime = time.Second
	// connectionsKept and callTime are of connections between voters.
	connectionsKept = 3
	callTime        = 5 * time.Second
	// barrierTime bounds how long a new leader waits to begin; it tries again.
	barrierTime = 10 * time.Second

	snapshotsKept = 2

	directoryMode = 0o700
)

// Config is that of a replica.
type Config struct {
	Node           string
	StateDirectory string
	// Bootstrap lets an empty directory begin a new log.
	Bootstrap bool
	Voters    []Voter
	Tuning    Tuning
}

// Voter is a node with a replica, and where it listens for the others.
type Voter struct {
	Node, Address string
}

// Tuning are the times and sizes of Raft.
type Tuning struct {
	// Election is how long nothing may be heard of a leader, and Lease how long a leader goes on without a majority, at most
	// as long. No answer rests on the lease: a majority is asked for each. After elections that came to nothing the former is
	// longer for a while.
	Election, Lease time.Duration
	// SnapshotEntries is after how many entries a snapshot is taken, looked at every SnapshotPeriod; TrailingEntries
	// stay in the log for voters that were away.
	SnapshotEntries, TrailingEntries uint64
	SnapshotPeriod                   time.Duration
}

// DefaultTuning is for a network within a room. A leader with a shorter lease would give up whenever the others have too much
// to do to answer in time, and so would each that comes after it.
func DefaultTuning() Tuning {
	return Tuning{
		Election: time.Second, Lease: time.Second,
		SnapshotEntries: 16384, TrailingEntries: 16384, SnapshotPeriod: 30 * time.Second,
	}
}

func (t Tuning) apply(config *raft.Config) {
	config.HeartbeatTimeout, config.ElectionTimeout, config.LeaderLeaseTimeout = t.Election, t.Election, t.Lease
	config.SnapshotThreshold, config.TrailingLogs, config.SnapshotInterval = t.SnapshotEntries, t.TrailingEntries, t.SnapshotPeriod
}

// Replica is one of the voters.
type Replica struct {
	config    Config
	logger    *slog.Logger
	machine   *machine
	raft      *raft.Raft
	log       *raftboltdb.BoltStore
	transport *raft.NetworkTransport
	// leaderships has whether this node leads, at each change.
	leaderships chan bool
	// readyTerm is the last in which this node, as leader, had applied all that was there when it began.
	readyTerm atomic.Uint64
	// isReady is called each time that this happens.
	isReady func()
	loops   sync.WaitGroup
	closed  chan struct{}
}

// Open starts a replica, which listens already. isReady is called each time that this node leads and knows all that was
// acknowledged before; it must not wait for anything.
func Open(
	config Config, listener net.Listener, credentials *security.Credentials, isReady func(), logger *slog.Logger,
) (*Replica, error) {
	r := &Replica{
		config: config, logger: logger, machine: newMachine(), isReady: isReady,
		leaderships: make(chan bool, 1), closed: make(chan struct{}),
	}
	if err := os.MkdirAll(config.StateDirectory, directoryMode); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	var err error
	r.log, err = raftboltdb.New(raftboltdb.Options{
		Path:        filepath.Join(config.StateDirectory, logFile),
		BoltOptions: &bbolt.Options{Timeout: lockTime, FreelistType: bbolt.FreelistMapType, NoFreelistSync: true},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the metadata's log (does another process have it?): %w", err), listener.Close())
	}
	r.transport = raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: newStream(config, listener, credentials, logger), MaxPool: connectionsKept, Timeout: callTime, Logger: newLogger(logger),
	})
	if err := r.start(); err != nil {
		return nil, errors.Join(err, r.transport.Close(), r.log.Close())
	}
	r.loops.Go(r.follow)
	r.loops.Go(r.adaptElections)
	return r, nil
}

func (r *Replica) start() error {
	config := raft.DefaultConfig()
	config.LocalID = raft.ServerID(r.config.Node)
	config.Logger = newLogger(r.logger)
	config.NotifyCh = r.leaderships
	r.config.Tuning.apply(config)
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(r.config.StateDirectory, snapshotsKept, config.Logger)
	if err != nil {
		return err
	}
	if err := r.bootstrap(config, snapshots); err != nil {
		return err
	}
	r.raft, err = raft.NewRaft(config, r.machine, r.log, r.log, snapshots, r.transport)
	if err != nil {
		return fmt.Errorf("start from the metadata's log in %s: %w", r.config.StateDirectory, err)
	}
	if err := r.checkVoters(); err != nil {
		return errors.Join(err, r.raft.Shutdown().Error())
	}
	return nil
}

// bootstrap begins a new log where there is none, if that is meant. A voter that has lost its log would, with a new one,
// vote without knowing what it has acknowledged.
func (r *Replica) bootstrap(config *raft.Config, snapshots raft.SnapshotStore) error {
	hasState, err := raft.HasExistingState(r.log, r.log, snapshots)
	if err != nil || hasState {
		return err
	}
	if !r.config.Bootstrap {
		return fmt.Errorf("there is no log in %s: set bootstrap for the first start of a new pool; if this voter has lost its log, "+
			"copy the directory of the leader here, while the leader's agent is stopped", r.config.StateDirectory)
	}
	return raft.BootstrapCluster(config, r.log, r.log, snapshots, r.transport, r.voters())
}

func (r *Replica) voters() raft.Configuration {
	var voters raft.Configuration
	for _, voter := range r.config.Voters {
		voters.Servers = append(voters.Servers, raft.Server{
			Suffrage: raft.Voter, ID: raft.ServerID(voter.Node), Address: raft.ServerAddress(voter.Node),
		})
	}
	return voters
}

// checkVoters refuses a list of voters that is not the one that the log was begun with: both might have a majority.
func (r *Replica) checkVoters() error {
	begun := r.raft.GetConfiguration()
	if err := begun.Error(); err != nil {
		return err
	}
	is, want := names(begun.Configuration()), names(r.voters())
	if slices.Equal(is, want) {
		return nil
	}
	return fmt.Errorf("the log in %s was begun with the voters %v, and the configuration has %v: put the former there", r.config.StateDirectory, is, want)
}

func names(configuration raft.Configuration) []string {
	var names []string
	for _, server := range configuration.Servers {
		names = append(names, string(server.ID))
	}
	slices.Sort(names)
	return names
}

// follow takes note of leadership, and ends the replica if it cannot go on.
func (r *Replica) follow() {
	for {
		select {
		case isLeader := <-r.leaderships:
			if isLeader {
				r.becomeReady()
			}
		case <-r.machine.failed:
			r.logger.Error("this replica of the metadata stops", "error", r.machine.failureOf())
			r.raft.Shutdown()
			<-r.closed
			return
		case <-r.closed:
			return
		}
	}
}

// becomeReady waits until all is applied that was acknowledged by leaders before, in the term that it began in.
func (r *Replica) becomeReady() {
	for {
		term := r.raft.CurrentTerm()
		err := r.raft.Barrier(barrierTime).Error()
		if err == nil && r.raft.CurrentTerm() == term {
			r.isReady()
			r.readyTerm.Store(term)
			return
		}
		if !errors.Is(err, raft.ErrEnqueueTimeout) {
			return
		}
	}
}

// Failed is closed when the replica has stopped, for its log has what it does not understand.
func (r *Replica) Failed() <-chan struct{} {
	return r.machine.failed
}

// Close ends it. What was acknowledged is on the disks.
func (r *Replica) Close() error {
	err := r.raft.Shutdown().Error()
	close(r.closed)
	r.loops.Wait()
	return errors.Join(err, r.transport.Close(), r.log.Close())
}

// State is what this replica has applied. It may be behind unless Verify was asked before.
func (r *Replica) State() *state.State {
	return r.machine.state
}

// Verify asks a majority whether this node leads: if it does, State has every change that was acknowledged before.
func (r *Replica) Verify(ctx context.Context) error {
	term := r.raft.CurrentTerm()
	if r.readyTerm.Load() != term {
		return r.notLeader()
	}
	if err := wait(ctx, r.raft.VerifyLeader()); err != nil {
		return r.refusal(err)
	}
	if r.raft.CurrentTerm() != term {
		return r.notLeader()
	}
	return nil
}

// Apply has a command in the log of a majority, and applies it. After an error it may be done, or may still be.
func (r *Replica) Apply(ctx context.Context, command *sluicev1.MetadataCommand) (state.Outcome, error) {
	encoded, err := proto.Marshal(command)
	if err != nil {
		return state.Outcome{}, err
	}
	enqueueTime := callTime
	if deadline, has := ctx.Deadline(); has {
		enqueueTime = max(time.Until(deadline), time.Millisecond)
	}
	future := r.raft.Apply(encoded, enqueueTime)
	if err := wait(ctx, future); err != nil {
		return state.Outcome{}, r.refusal(err)
	}
	result, isApplied := future.Response().(applied)
	if !isApplied {
		return state.Outcome{}, fmt.Errorf("an entry of the log was applied with the result %v", future.Response())
	}
	if result.err != nil {
		return state.Outcome{}, entry.Refusef(entry.Unavailable, "the metadata on %s has stopped: %v", r.config.Node, result.err).WithHint("Ask another voter.")
	}
	return result.outcome, nil
}

// wait waits for what raft does, but not beyond the context.
func wait(ctx context.Context, future raft.Future) error {
	done := make(chan error, 1)
	go func() { done <- future.Error() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Replica) refusal(err error) error {
	switch {
	case errors.Is(err, raft.ErrRaftShutdown):
		return entry.Refusef(entry.Unavailable, "the metadata on %s stops, or has stopped", r.config.Node).WithHint("Ask another voter.")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return r.notLeader()
}

func (r *Replica) notLeader() *entry.Refusal {
	leader := r.Leader()
	if leader == r.config.Node {
		leader = ""
	}
	refusal := entry.Refusef(entry.NotLeader, "%s is not the leader of the metadata, or no longer, or not yet ready", r.config.Node).
		WithHint("Ask the leader, with the same request id: a majority of the voters must be up for there to be one.")
	refusal.Leader = leader
	return refusal
}

// Leader is the node name of the leader, as far as this one knows; else empty.
func (r *Replica) Leader() string {
	_, leader := r.raft.LeaderWithID()
	return string(leader)
}

// IsLeader says whether this node takes itself for the leader.
func (r *Replica) IsLeader() bool {
	return r.raft.State() == raft.Leader
}

// ReadyTerm is the term in which this node leads, and knows all that was acknowledged before; 0 if it does not.
func (r *Replica) ReadyTerm() uint64 {
	term := r.readyTerm.Load()
	if !r.IsLeader() || r.raft.CurrentTerm() != term {
		return 0
	}
	return term
}

// Status says how this node stands.
func (r *Replica) Status() entry.Status {
	return entry.Status{
		Leader: r.Leader(), Term: r.raft.CurrentTerm(), AppliedIndex: r.raft.AppliedIndex(), Voters: names(r.voters()),
	}
}

// LogEntries is how many entries the log has on this node; snapshots take those before their place.
func (r *Replica) LogEntries() (uint64, error) {
	first, err := r.log.FirstIndex()
	if err != nil || first == 0 {
		return 0, err
	}
	last, err := r.log.LastIndex()
	return last - first + 1, err
}
