package dispatch

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"

	"sluice.dev/control/internal/compaction"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policies/offload"
	"sluice.dev/control/internal/wire"
)

const (
	// watchAgainAfter is the pause before a peer is asked again that does not answer.
	watchAgainAfter = time.Second
	// leftOutFor is how long a peer gets no job that has failed one: each costs its store the time until it
	// is given up. It doubles with each that follows, up to leftOutAtMost: a peer that cannot do its jobs has
	// idle processors, so that all of them would go there.
	leftOutFor    = 10 * time.Second
	leftOutAtMost = 5 * time.Minute
)

// peer is a node that may run jobs.
type peer struct {
	name       string
	connection *grpc.ClientConn
	client     sluicev1.CompactionServiceClient

	mutex   sync.Mutex
	last    offload.Peer
	isKnown bool
	// leftOutUntil is when the peer may have jobs again, since the start.
	leftOutUntil time.Duration
	// leftOutNext is how long it is left out for the next job that it fails.
	leftOutNext time.Duration
}

// known is what the peer has said last; the policy looks at its age. One that is left out has no slots.
func (p *peer) known(now time.Duration) (offload.Peer, bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	known := p.last
	if now < p.leftOutUntil {
		known.FreeSlots = 0
	}
	return known, p.isKnown
}

// leaveOut gives the peer no jobs for a while. Those that fail meanwhile were there already, and say nothing new.
func (p *peer) leaveOut(now time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if now < p.leftOutUntil {
		return
	}
	pause := max(p.leftOutNext, leftOutFor)
	p.leftOutUntil = now + pause
	p.leftOutNext = min(2*pause, leftOutAtMost)
}

// trust says that the peer has done a job.
func (p *peer) trust() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.leftOutNext = 0
}

func (p *peer) learn(capacity compaction.Capacity, now time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.isKnown = true
	p.last = offload.Peer{
		Name: p.name, Node: offload.Node{CPUUsed: capacity.CPUUsed, SampledAt: now - capacity.CPUAge},
		CPUs: capacity.CPUs, FreeSlots: capacity.FreeSlots, HeardAt: now, Series: capacity.Series,
	}
}

func (p *peer) forget() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.isKnown = false
}

// watch keeps what is known of a peer new.
func (d *Dispatcher) watch(ctx context.Context, p *peer) {
	for ctx.Err() == nil {
		err := d.listen(ctx, p)
		p.forget()
		d.metrics.PeerIsUp(p.name, false)
		d.logger.Debug("a peer does not tell its load", "peer", p.name, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(watchAgainAfter):
		}
	}
}

// listen takes what a peer says until it says nothing for compaction.Expiry.
func (d *Dispatcher) listen(ctx context.Context, p *peer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(compaction.Expiry, cancel)
	defer silent.Stop()
	stream, err := p.client.WatchCapacity(ctx, &sluicev1.WatchCapacityRequest{})
	if err != nil {
		return err
	}
	for {
		message, err := stream.Recv()
		if err != nil {
			return err
		}
		capacity, err := wire.DecodeCapacity(message)
		if err != nil {
			return err
		}
		silent.Reset(compaction.Expiry)
		p.learn(capacity, d.now())
		d.metrics.PeerIsUp(p.name, true)
	}
}
