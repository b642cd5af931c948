// Package dispatch has compactions of this node's stores run by peers: it knows how loaded they are, asks
// them in the order of policy offload, and follows a job to its end.
package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/metrics"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policies/offload"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/wire"
)

// placementTime bounds how long a store waits for an answer, however many peers are asked.
const placementTime = 2 * time.Second

// Address is where a peer is found.
type Address struct {
	Node    string
	Address string
}

// Dispatcher places the jobs of this node's stores.
type Dispatcher struct {
	parameters offload.Parameters
	// load is that of this node, with the age of its sample.
	load    func() (cpuUsed float64, age time.Duration)
	metrics *metrics.Client
	logger  *slog.Logger
	started time.Time
	peers   []*peer

	mutex    sync.Mutex
	inFlight map[*Job]offload.Placement
}

// Surroundings are what a dispatcher needs of its agent.
type Surroundings struct {
	Load    func() (cpuUsed float64, age time.Duration)
	Metrics *metrics.Client
	Logger  *slog.Logger
}

// Open makes a dispatcher with a connection to each peer, which is made when it is first needed.
func Open(
	credentials *security.Credentials, peers []Address, parameters offload.Parameters, surroundings Surroundings,
) (*Dispatcher, error) {
	d := &Dispatcher{
		parameters: parameters, load: surroundings.Load, metrics: surroundings.Metrics, logger: surroundings.Logger,
		started: time.Now(), inFlight: make(map[*Job]offload.Placement),
	}
	for _, address := range peers {
		connection, err := grpc.NewClient(address.Address,
			protocol.DialOptions(credentials, security.RoleAgent, address.Node)...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the peer %s: %w", address.Node, err), d.Close())
		}
		d.peers = append(d.peers, &peer{
			name: address.Node, connection: connection, client: sluicev1.NewCompactionServiceClient(connection),
		})
		d.metrics.PeerIsUp(address.Node, false)
	}
	return d, nil
}

// Close ends the connections, and with them the jobs that run.
func (d *Dispatcher) Close() error {
	var problems []error
	for _, peer := range d.peers {
		problems = append(problems, peer.connection.Close())
	}
	return errors.Join(problems...)
}

// Watch asks the peers how loaded they are, until its context ends.
func (d *Dispatcher) Watch(ctx context.Context) {
	var watches sync.WaitGroup
	for _, peer := range d.peers {
		watches.Go(func() { d.watch(ctx, peer) })
	}
	watches.Wait()
}

// now is since the start, by the monotonic clock.
func (d *Dispatcher) now() time.Duration {
	return time.Since(d.started)
}

// Place has a peer begin a job, or says why none does. It takes no longer than placementTime. The job goes
// on until its context ends, or Cancel is called.
func (d *Dispatcher) Place(ctx context.Context, job compaction.Job) (*Job, *compaction.Failure) {
	begun := time.Now()
	placed, failure := d.place(ctx, job)
	if failure != nil {
		d.Keep(job, failure)
		return nil, failure
	}
	go d.follow(placed, job, begun)
	return placed, nil
}

// Keep notes a job that no peer has begun.
func (d *Dispatcher) Keep(job compaction.Job, failure *compaction.Failure) {
	d.metrics.Ended(job, failure, 0)
	d.logger.Debug("a compaction stays here", "job", job.ID, "reason", failure.Reason, "detail", failure.Detail)
}

func (d *Dispatcher) place(ctx context.Context, job compaction.Job) (*Job, *compaction.Failure) {
	expired := time.After(placementTime)
	asked := make(map[*peer]bool)
	var refusal *compaction.Failure
	for {
		placed, failure := d.begin(ctx, job, asked)
		if failure != nil {
			return nil, cmp.Or(refusal, failure)
		}
		var isFree bool
		if refusal, isFree = await(placed, expired); refusal == nil {
			return placed, nil
		}
		d.forget(placed)
		d.judge(placed.peer, refusal)
		if !isFree || ctx.Err() != nil {
			return nil, refusal
		}
		// The next one may have room, or the path that this one has not.
		asked[placed.peer] = true
	}
}

// await gives no refusal when the peer has begun, or begun and ended. Where it has not, isFree says whether
// another one may have the job.
func await(placed *Job, expired <-chan time.Time) (refusal *compaction.Failure, isFree bool) {
	select {
	case <-placed.accepted:
		return nil, false
	case <-placed.done:
		if isClosed(placed.accepted) {
			return nil, false
		}
		return placed.failure, placed.isFree()
	case <-expired:
		placed.cancel()
		return compaction.Failuref(compaction.PeerLost, "%s has not answered within %v", placed.Node(), placementTime), false
	}
}

// judge leaves a peer out for a while that was lost, does not keep to the contract, or fails jobs for what is
// its own matter.
func (d *Dispatcher) judge(peer *peer, failure *compaction.Failure) {
	switch {
	case failure == nil:
		peer.trust()
	case isOfPeer(failure.Reason):
		peer.leaveOut(d.now())
	}
}

// isOfPeer says whether another job would most likely fail there for the same reason.
func isOfPeer(reason compaction.Reason) bool {
	switch reason {
	case compaction.PeerLost, compaction.PeerRefused, compaction.WorkerLost, compaction.WorkerSilent,
		compaction.WorkerOutput, compaction.DiskFull:
		return true
	default:
		return false
	}
}

// begin sends the job to the best of the peers that were not asked. It reserves what the job takes at the
// moment at which it looks, so that of two jobs that come together the second sees the first.
func (d *Dispatcher) begin(ctx context.Context, job compaction.Job, asked map[*peer]bool) (*Job, *compaction.Failure) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	candidates, failure := offload.Decide(d.parameters, d.view(asked), job)
	if failure != nil {
		return nil, failure
	}
	ctx, cancel := context.WithCancel(ctx)
	peer := d.peerOf(candidates[0].Name)
	placed := &Job{peer: peer, cancel: cancel, accepted: make(chan struct{}), done: make(chan struct{})}
	d.inFlight[placed] = offload.Placement{Peer: peer.name, At: d.now()}
	go placed.run(ctx, peer.client, wire.EncodeJob(job))
	return placed, nil
}

func (d *Dispatcher) forget(placed *Job) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.inFlight, placed)
}

// follow gives back what the job has reserved when it has ended.
func (d *Dispatcher) follow(placed *Job, job compaction.Job, begun time.Time) {
	d.metrics.Placed(1)
	<-placed.done
	d.metrics.Placed(-1)
	d.forget(placed)
	d.judge(placed.peer, placed.failure)
	d.metrics.Ended(job, placed.failure, time.Since(begun))
	if placed.failure != nil && placed.failure.Reason != compaction.Cancelled {
		d.logger.Warn("a compaction has no result from its peer, and is left to the store",
			"job", job.ID, "peer", placed.Node(), "reason", placed.failure.Reason, "detail", placed.failure.Detail)
	}
}

// view needs the mutex.
func (d *Dispatcher) view(asked map[*peer]bool) offload.View {
	used, age := d.load()
	now := d.now()
	view := offload.View{Now: now, Own: offload.Node{CPUUsed: used, SampledAt: now - age}}
	for _, peer := range d.peers {
		if known, isKnown := peer.known(now); isKnown && !asked[peer] {
			view.Peers = append(view.Peers, known)
		}
	}
	for _, placement := range d.inFlight {
		view.InFlight = append(view.InFlight, placement)
	}
	return view
}

func (d *Dispatcher) peerOf(name string) *peer {
	for _, peer := range d.peers {
		if peer.name == name {
			return peer
		}
	}
	return nil
}
