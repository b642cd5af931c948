package metadata

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"sluice.dev/control/internal/pool/metadata/entry"
)

// silentTime is how long a voter that has not answered in time is taken for one that is not reached, whatever its
// connection looks like: longer than it takes until a connection that nothing gets through is ended.
const silentTime = 20 * time.Second

// hop is who is asked: the leader, or another voter that is to pass the call on to it.
type hop struct {
	peer       int
	isPassedOn bool
}

// route is how a client reaches the leader: directly, unless it does not and another voter may.
type route struct {
	names       []string
	connections []*grpc.ClientConn

	mutex sync.Mutex
	// leader is the peer that has answered last, or that somebody took for the leader; below 0 one that is no peer.
	leader int
	// through is the voter that passes calls on; below 0 nobody does.
	through int
	// silentUntil are the times up to which peers are taken for not reached.
	silentUntil []time.Time
}

const nobody = -1

func newRoute(names []string, connections []*grpc.ClientConn) *route {
	return &route{names: names, connections: connections, through: nobody, silentUntil: make([]time.Time, len(names))}
}

// next is who to ask now.
func (r *route) next() hop {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.through == nobody {
		return hop{peer: r.leader}
	}
	if r.leader != nobody && r.isReached(r.leader) {
		r.through = nobody
		return hop{peer: r.leader}
	}
	return hop{peer: r.through, isPassedOn: true}
}

// isReached says whether a peer that was not reached may be by now. It has the connection made anew if nobody does.
func (r *route) isReached(peer int) bool {
	if time.Now().Before(r.silentUntil[peer]) {
		return false
	}
	state := r.connections[peer].GetState()
	if state == connectivity.Idle {
		r.connections[peer].Connect()
	}
	return state == connectivity.Ready
}

// failed takes into account that who was asked has refused, or has not answered.
func (r *route) failed(asked hop, refusal *entry.Refusal, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if refusal == nil && !asked.isPassedOn && status.Code(err) == codes.DeadlineExceeded {
		r.silentUntil[asked.peer] = time.Now().Add(silentTime)
	}
	now := hop{peer: r.leader}
	if r.through != nobody {
		now = hop{peer: r.through, isPassedOn: true}
	}
	// Another call may know better already.
	if now != asked {
		return
	}
	if refusal == nil || refusal.Leader == "" {
		r.leader, r.through = r.after(asked.peer), nobody
		return
	}
	r.follow(asked, r.numberOf(refusal.Leader))
}

// follow has the leader asked that a peer has named, by way of that peer if it is not reached directly. A peer that was
// asked to pass a call on and has not done it does not reach the leader either, is older than that, or knows of no other voters.
func (r *route) follow(asked hop, leader int) {
	switch {
	case leader != nobody && r.mayBeReached(leader):
		r.leader, r.through = leader, nobody
	case asked.isPassedOn && leader == r.leader && r.after(asked.peer) == leader:
		// Nobody is left: the leader itself was late, maybe, and is not by now.
		r.silentUntil[leader], r.through = time.Time{}, nobody
	case asked.isPassedOn && leader == r.leader:
		r.through = r.after(asked.peer)
	default:
		r.leader, r.through = leader, asked.peer
	}
}

// mayBeReached says whether nothing speaks against asking a peer directly.
func (r *route) mayBeReached(peer int) bool {
	isSilent := time.Now().Before(r.silentUntil[peer])
	return !isSilent && r.connections[peer].GetState() != connectivity.TransientFailure
}

func (r *route) after(peer int) int {
	return (peer + 1) % len(r.names)
}

func (r *route) numberOf(name string) int {
	for i, each := range r.names {
		if each == name {
			return i
		}
	}
	return nobody
}

// header asks for passing on what is to be passed on.
func (h hop) header(ctx context.Context) context.Context {
	if h.isPassedOn {
		return withPassOn(ctx)
	}
	return ctx
}
