package protocol

import (
	"context"
	"net"
	"time"

	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"sluice.dev/control/internal/security"
)

// MaxMessageBytes is the size of the largest message, sent or received.
const MaxMessageBytes = 4 << 20

// windowBytes is how much a peer may send before it must wait for the other to have read it, on a
// connection and on each of its streams. It is fixed, because finding the best size out, as the library
// else does, costs each call a ping and its answer.
const windowBytes = 256 << 10

// Limits of a server, which is open to whoever reaches the node.
const (
	// maxConnections has room for the largest pool, of 256 servers: to each of them every node's agent has up to 5
	// connections, for stores and for repair, each to blocks and to metadata, and for compactions; others have few.
	// It bounds the memory that peers without a certificate can take: some 20 kB each, for at most handshakeTime.
	maxConnections = 2048
	handshakeTime  = 10 * time.Second
	maxStreams     = 64
	maxHeaderBytes = 16 << 10
	// maxCallTime ends calls of clients that set no deadline.
	maxCallTime = 30 * time.Second
	// maxConnectionAge bounds how long an authority is trusted after it was taken out of the CA file.
	// Streams end with it, after the grace, which LongCalls makes longer, and their clients open them again.
	maxConnectionAge      = time.Hour
	maxConnectionAgeGrace = time.Minute
	maxConnectionIdle     = 10 * time.Minute
)

// A peer that is gone without a word is noticed after keepaliveTime + keepaliveTimeout, by both sides.
const (
	keepaliveTime    = 10 * time.Second
	keepaliveTimeout = 5 * time.Second
	// minKeepaliveTime is what clients may not go below; half of theirs, for timers are not exact.
	minKeepaliveTime = keepaliveTime / 2
)

// A client tries to connect again soon, since leases last only seconds; the library's own limit is two
// minutes.
const (
	minReconnectTime  = 100 * time.Millisecond
	maxReconnectTime  = 2 * time.Second
	reconnectFactor   = 1.6
	reconnectJitter   = 0.2
	minConnectTimeout = 5 * time.Second
)

// Listen opens a TCP port with a bound on open connections; those beyond it wait to be accepted.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return netutil.LimitListener(listener, maxConnections), nil
}

// ServerOptions are those of every gRPC server of Sluice: certificates, versions, permissions, limits.
func ServerOptions(credentials *security.Credentials) []grpc.ServerOption {
	permissions := Permissions()
	return append(ServerLimits(),
		grpc.Creds(credentials.ServerTransport()),
		grpc.ChainUnaryInterceptor(UnaryServerInterceptor, permissions.UnaryServerInterceptor),
		grpc.ChainStreamInterceptor(StreamServerInterceptor, permissions.StreamServerInterceptor),
	)
}

// ServerLimits are the limits of every gRPC server of Sluice, of size, number and time.
func ServerLimits() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(MaxMessageBytes),
		grpc.MaxSendMsgSize(MaxMessageBytes),
		grpc.StaticConnWindowSize(windowBytes),
		grpc.StaticStreamWindowSize(windowBytes),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime: minKeepaliveTime, PermitWithoutStream: true,
		}),
		keepaliveOf(maxConnectionAgeGrace),
	}
}

// LongCalls is for a server with streams that cannot be opened again, and may last that long: it lets them
// end on a connection that has reached its age. To come after ServerOptions.
func LongCalls(longest time.Duration) grpc.ServerOption {
	return keepaliveOf(max(longest, 0) + maxConnectionAgeGrace)
}

func keepaliveOf(grace time.Duration) grpc.ServerOption {
	return grpc.KeepaliveParams(keepalive.ServerParameters{
		MaxConnectionIdle:     maxConnectionIdle,
		MaxConnectionAge:      maxConnectionAge,
		MaxConnectionAgeGrace: grace,
		Time:                  keepaliveTime,
		Timeout:               keepaliveTimeout,
	})
}

// DialOptions are those of every gRPC client of Sluice, for a server of the role, and of the name unless
// that is empty. Nothing but the address decides where a connection goes: no proxy of the environment,
// no configuration from DNS.
func DialOptions(credentials *security.Credentials, server security.Role, name string) []grpc.DialOption {
	return DialOptionsOver(credentials.ClientTransport(server, name))
}

// DialOptionsOver are DialOptions of a client that says by itself which server it means.
func DialOptionsOver(transport credentials.TransportCredentials) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithChainUnaryInterceptor(UnaryClientInterceptor),
		grpc.WithChainStreamInterceptor(StreamClientInterceptor),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(MaxMessageBytes), grpc.MaxCallSendMsgSize(MaxMessageBytes),
		),
		grpc.WithStaticConnWindowSize(windowBytes),
		grpc.WithStaticStreamWindowSize(windowBytes),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: minReconnectTime, MaxDelay: maxReconnectTime,
				Multiplier: reconnectFactor, Jitter: reconnectJitter,
			},
			MinConnectTimeout: minConnectTimeout,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: keepaliveTime, Timeout: keepaliveTimeout, PermitWithoutStream: true,
		}),
	}
}
