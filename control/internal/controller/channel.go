package controller

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/attributes"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"

	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
)

const (
	// writeBufferBytes is above an order; the library shares the buffers, so that a connection has one while it
	// writes: all of them may at once. For reads there is none: TLS has one already. The library's own, 32 kB for
	// each, would be most of what ten thousand connections take.
	writeBufferBytes = 1 << 10
	// streamWindowBytes is what an agent may send before it has to wait for the network: far above a snapshot.
	streamWindowBytes = 1 << 20

	channelScheme  = "sluice-agents"
	channelService = `{"loadBalancingConfig": [{"` + agentBalancerName + `": {}}]}`
)

// agentChannel is the gRPC channel to all agents, which has a connection to each. A channel for each agent would
// come with a resolver, a load balancer and their goroutines for its one connection: ten thousand of them are
// more than a hundred megabytes.
type agentChannel struct {
	channel *grpc.ClientConn
	// connections makes them, once attached is closed.
	connections balancer.ClientConn
	attached    chan struct{}
}

// openAgentChannel makes a channel with the identity of this controller.
func openAgentChannel(credentials *security.Credentials) (*agentChannel, error) {
	c := &agentChannel{attached: make(chan struct{})}
	resolved := manual.NewBuilderWithScheme(channelScheme)
	// There is nothing to resolve: by this the balancer finds its channel.
	resolved.InitialState(resolver.State{Attributes: attributes.New(channelKey{}, c)})
	options := append(protocol.DialOptionsOver(credentials.NamedClientTransport(security.RoleAgent)),
		grpc.WithResolvers(resolved),
		grpc.WithDefaultServiceConfig(channelService),
		grpc.WithReadBufferSize(0),
		grpc.WithWriteBufferSize(writeBufferBytes),
		// A window that is given is not adapted: the library would send a ping with every answer.
		grpc.WithInitialWindowSize(streamWindowBytes),
		grpc.WithInitialConnWindowSize(streamWindowBytes),
		// An idle connection would be closed, and cost a handshake when an order is due.
		grpc.WithIdleTimeout(0),
	)
	var err error
	if c.channel, err = grpc.NewClient(channelScheme+":///agents", options...); err != nil {
		return nil, fmt.Errorf("the channel to the agents: %w", err)
	}
	c.channel.Connect()
	<-c.attached
	return c, nil
}

// dial makes a connection, and does not wait for it. The address is dialled as it is: looking names up is left
// to the dialler, at each attempt.
func (c *agentChannel) dial(agent Agent) (agentConnection, error) {
	return c.connect(agent)
}

// close ends all connections. A channel that was never opened is closed.
func (c *agentChannel) close() error {
	if c == nil {
		return nil
	}
	return c.channel.Close()
}

const agentBalancerName = "sluice_agents"

func init() {
	balancer.Register(agentBalancers{})
}

type channelKey struct{}

// agentBalancers makes the balancer of an agentChannel, which only hands out connections.
type agentBalancers struct{}

func (agentBalancers) Name() string { return agentBalancerName }

func (agentBalancers) Build(connections balancer.ClientConn, _ balancer.BuildOptions) balancer.Balancer {
	return &agentBalancer{connections: connections}
}

type agentBalancer struct {
	connections balancer.ClientConn
	isAttached  bool
}

// UpdateClientConnState comes with the one state that the resolver has.
func (b *agentBalancer) UpdateClientConnState(state balancer.ClientConnState) error {
	channel, isThere := state.ResolverState.Attributes.Value(channelKey{}).(*agentChannel)
	if !isThere {
		return errors.New("this balancer is for the channel to the agents alone")
	}
	if b.isAttached {
		return nil
	}
	b.isAttached = true
	channel.connections = b.connections
	channel.pickAgain()
	close(channel.attached)
	return nil
}

func (b *agentBalancer) ResolverError(error) {}

func (b *agentBalancer) UpdateSubConnState(balancer.SubConn, balancer.SubConnState) {}

func (b *agentBalancer) ExitIdle() {}

func (b *agentBalancer) Close() {}

// pickAgain has calls look again at connections that they took for ready.
func (c *agentChannel) pickAgain() {
	c.connections.UpdateState(balancer.State{ConnectivityState: connectivity.Ready, Picker: agentPicker{}})
}

// agentPicker gives a call the connection that its context names.
type agentPicker struct{}

func (agentPicker) Pick(info balancer.PickInfo) (balancer.PickResult, error) {
	link, isThere := info.Ctx.Value(linkKey{}).(*agentLink)
	switch {
	case !isThere:
		return balancer.PickResult{}, status.Error(codes.Internal, "the call names no agent")
	case link.State() != connectivity.Ready:
		return balancer.PickResult{}, status.Error(codes.Unavailable, "the connection was lost just now")
	}
	return balancer.PickResult{SubConn: link.connection}, nil
}

type linkKey struct{}

// with is for calls over a connection.
func (l *agentLink) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, linkKey{}, l)
}
