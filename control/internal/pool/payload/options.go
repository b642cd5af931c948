package payload

import "google.golang.org/grpc"

const (
	// windowBytes is as protocol's, for several of the largest requests at once: while one waits for the processor, the
	// next is on its way.
	windowBytes = 2 << 20
	// bufferBytes is how much goes to the network with one call of the system.
	bufferBytes = 128 << 10
	// mostStreams is how many calls of a client a server does at once, instead of protocol's: each file that is written is one.
	mostStreams = 4096
	// MostWritten is how many files a node may write at once, so that it can read as well.
	MostWritten = mostStreams * 3 / 4
)

// ServerOptions are those of a server of segments, to come after protocol's.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(newCodec()),
		grpc.StaticConnWindowSize(windowBytes), grpc.StaticStreamWindowSize(windowBytes),
		grpc.WriteBufferSize(bufferBytes),
		grpc.MaxConcurrentStreams(mostStreams),
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
