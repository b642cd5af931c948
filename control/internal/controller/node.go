package controller

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/connectivity"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

// agentConnection is the connection to one agent. It is kept, and connects again by itself when asked to.
type agentConnection interface {
	sluicev1.AgentServiceClient
	State() connectivity.State
	Close() error
}

// dialFunc makes a connection, and does not wait for it.
type dialFunc func(Agent) (agentConnection, error)

// observation is what an agent has told. It is never changed, only replaced.
type observation struct {
	report *wire.Report
	// askedAt is a moment at which the agent had not sent it yet.
	askedAt time.Time
}

// nodeState is what is known of a node. It is never changed, only replaced.
type nodeState struct {
	// latest is the last answer that could be used, nil if there was none.
	latest *observation
	// problem is why the last request failed; empty if it did not.
	problem string
	// wasNotAsked says that there was no request, for want of time.
	wasNotAsked bool
}

// node is a node of the cluster. It is safe for concurrent use.
type node struct {
	agent Agent
	// number is that of the node among all that there have been.
	number     int
	connection agentConnection
	state      atomic.Pointer[nodeState]

	mutex sync.Mutex
	// steering is the exchange with the agent, or one that is being begun; nil if there is none.
	steering *steering
	// steerAfter is when the next one may be begun.
	steerAfter time.Time
	isClosed   bool
}

func newNode(agent Agent, number int, dial dialFunc) (*node, error) {
	connection, err := dial(agent)
	if err != nil {
		return nil, err
	}
	n := &node{agent: agent, number: number, connection: connection}
	n.state.Store(&nodeState{problem: "the agent has not been asked yet"})
	return n, nil
}

var snapshotRequest = &sluicev1.GetSnapshotRequest{}

// read asks the agent for its state.
func (n *node) read(ctx context.Context, now func() time.Time) {
	if ctx.Err() != nil {
		n.skip("the time for reading was over before its turn", now())
		return
	}
	askedAt := now()
	message, err := n.connection.GetSnapshot(ctx, snapshotRequest)
	if err != nil {
		n.fail(fmt.Errorf("the agent at %s does not answer: %w", n.agent.Address, err), askedAt)
		return
	}
	report, err := wire.NewReport(n.agent.Node, message, askedAt)
	n.take(report, err, askedAt)
}

// take makes a report, or what is wrong with it, the state of the node, unless a newer one has come by another
// way. For askedAt take a moment at which the agent had not sent it yet.
func (n *node) take(report *wire.Report, err error, askedAt time.Time) {
	if err != nil {
		n.fail(fmt.Errorf("the answer of the agent at %s cannot be used: %w", n.agent.Address, err), askedAt)
		return
	}
	n.replace(askedAt, func(*observation) *nodeState {
		return &nodeState{latest: &observation{report: report, askedAt: askedAt}}
	})
}

// fail notes why a request had no answer that can be used, unless one that was asked for later has.
func (n *node) fail(err error, askedAt time.Time) {
	n.replace(askedAt, func(latest *observation) *nodeState {
		return &nodeState{latest: latest, problem: err.Error()}
	})
}

// replace makes the state anew of the latest answer, unless that was asked for later.
func (n *node) replace(askedAt time.Time, next func(latest *observation) *nodeState) {
	for {
		state := n.state.Load()
		if state.latest != nil && askedAt.Before(state.latest.askedAt) {
			return
		}
		if n.state.CompareAndSwap(state, next(state.latest)) {
			return
		}
	}
}

// skip notes that the agent was not asked when it was to be.
func (n *node) skip(reason string, at time.Time) {
	n.replace(at, func(latest *observation) *nodeState {
		return &nodeState{
			latest: latest, wasNotAsked: true,
			problem: fmt.Sprintf("the agent at %s was not asked: %s", n.agent.Address, reason),
		}
	})
}

// answers says whether the last request was answered.
func (n *node) answers() bool {
	return n.state.Load().problem == ""
}

// countAnswering is how many agents answered when they were last asked.
func (c *Controller) countAnswering() int {
	count := 0
	for _, node := range c.published.Load().nodes {
		if node.answers() {
			count++
		}
	}
	return count
}
