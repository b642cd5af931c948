package payload

import "google.golang.org/grpc"

const (
	// windowBytes is as protocol's, for several of the largest requests at once: while one waits for the processor, the
	// next is on its way.
	windowBytes = 2 << 20
	// bufferBytes is how much goes to the network with one call of the system.
	bufferBytes = 128 << 10
)

// ServerOptions are those of a server of segments, to come after protocol's.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(newCodec()),
		grpc.StaticConnWindowSize(windowBytes), grpc.StaticStreamWindowSize(windowBytes),
		grpc.WriteBufferSize(bufferBytes),
	}
}

// DialOptions are those of a client of segments, to come after protocol's.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newCodec())),
		grpc.WithStaticConnWindowSize(windowBytes), grpc.WithStaticStreamWindowSize(windowBytes),
		grpc.WithWriteBufferSize(bufferBytes),
	}
}
