package controller

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

// agentLink is the connection to one agent. It is made when a call needs it. When it fails it is tried again,
// after pauses that grow, and calls fail until it succeeds. It is safe for concurrent use.
type agentLink struct {
	sluicev1.AgentServiceClient
	channel    *agentChannel
	connection balancer.SubConn

	mutex sync.Mutex
	state connectivity.State
	// failure is why the last attempt failed, in the state TransientFailure.
	failure error
	// changed is closed when the state changes, nil if nobody waits for that.
	changed chan struct{}
}

func (c *agentChannel) connect(agent Agent) (*agentLink, error) {
	link := &agentLink{channel: c}
	link.AgentServiceClient = sluicev1.NewAgentServiceClient(link)
	// The name of the server is what the credentials check.
	address := resolver.Address{Addr: agent.Address, ServerName: agent.Node}
	var err error
	//lint:ignore SA1019 What is to end is several addresses for a connection: this one has one.
	link.connection, err = c.connections.NewSubConn([]resolver.Address{address},
		balancer.NewSubConnOptions{StateListener: link.note})
	if err != nil {
		return nil, fmt.Errorf("agent of node %s at %s: %w", agent.Node, agent.Address, err)
	}
	return link, nil
}

// note takes over what has become of the connection. One call comes at a time.
func (l *agentLink) note(next balancer.SubConnState) {
	before := l.take(next)
	switch {
	case before == connectivity.Ready:
		l.channel.pickAgain()
	case before == connectivity.TransientFailure && next.ConnectivityState == connectivity.Idle:
		// The pause is over.
		l.connection.Connect()
	}
}

// take gives the state before. What has failed counts as that until it succeeds: an agent that is gone without
// a word would else keep each call waiting for as long as it may.
func (l *agentLink) take(next balancer.SubConnState) connectivity.State {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	before := l.state
	isAttempt := next.ConnectivityState == connectivity.Idle || next.ConnectivityState == connectivity.Connecting
	if before == connectivity.TransientFailure && isAttempt {
		return before
	}
	l.state, l.failure = next.ConnectivityState, next.ConnectionError
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	return before
}

// State is that of the connection.
func (l *agentLink) State() connectivity.State {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.state
}

// Close ends the connection when the calls over it have ended.
func (l *agentLink) Close() error {
	l.connection.Shutdown()
	return nil
}

// ready waits for the connection, if one is being made, and makes one if there was no attempt yet.
func (l *agentLink) ready(ctx context.Context) error {
	for {
		state, changed, failure := l.watch()
		switch state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure:
			return wire.Error(status.Error(codes.Unavailable, fmt.Sprint(failure)))
		case connectivity.Shutdown:
			return wire.Error(status.Error(codes.Unavailable, "the connection was closed"))
		case connectivity.Idle:
			l.connection.Connect()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return wire.Error(status.FromContextError(ctx.Err()).Err())
		}
	}
}

// watch gives the state, and a channel that is closed when it changes, if it is one to wait in.
func (l *agentLink) watch() (state connectivity.State, changed <-chan struct{}, failure error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	isToPass := l.state == connectivity.Idle || l.state == connectivity.Connecting
	if isToPass && l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.state, l.changed, l.failure
}

// Invoke makes a call; with NewStream it is what a client of AgentService needs.
func (l *agentLink) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	if err := l.ready(ctx); err != nil {
		return err
	}
	return l.channel.channel.Invoke(l.with(ctx), method, request, reply, options...)
}

// NewStream begins a call of many messages.
func (l *agentLink) NewStream(
	ctx context.Context, description *grpc.StreamDesc, method string, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	if err := l.ready(ctx); err != nil {
		return nil, err
	}
	return l.channel.channel.NewStream(l.with(ctx), description, method, options...)
}
