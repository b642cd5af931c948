package protocol_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"

	"sluice.dev/control/internal/protocol"
)

// streamTime is how long a server with these options beyond the limits lets a stream go on.
func streamTime(t *testing.T, options ...grpc.ServerOption) time.Duration {
	t.Helper()
	wait := func(_ any, stream grpc.ServerStream) error {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	server := grpc.NewServer(append(append(protocol.ServerLimits(), grpc.UnknownServiceHandler(wait)), options...)...)
	listener := bufconn.Listen(1 << 16)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	connection, err := grpc.NewClient("passthrough:///server", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	stream, err := connection.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/test/Wait")
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := stream.RecvMsg(&emptypb.Empty{}); err == nil {
		t.Error("the stream has a message")
	}
	return time.Since(begun)
}

// The library varies the age of connections, one hour, by a tenth.
func TestStreamsOfConnectionsThatHaveReachedTheirAge(t *testing.T) {
	for name, test := range map[string]struct {
		options     []grpc.ServerOption
		least, most time.Duration
	}{
		"as usual":   {nil, 54 * time.Minute, 68 * time.Minute},
		"long calls": {[]grpc.ServerOption{protocol.LongCalls(3 * time.Hour)}, 54*time.Minute + 3*time.Hour, 68*time.Minute + 3*time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if took := streamTime(t, test.options...); took < test.least || took > test.most {
					t.Errorf("it ended after %v", took)
				}
			})
		})
	}
}
