package protocol

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"sluice.dev/control/internal/wire"
)

// UnaryClientInterceptor sends the version with a call, refuses the answer of a server of another major
// version, and turns errors into those of package store.
//
// A server that names no version is told apart by whether the call succeeded: an answer without one is
// refused, for it is of something that is older than 1.0 or not Sluice; an error without one is that of
// the network or of the gRPC library, and is given as it is.
func UnaryClientInterceptor(
	ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	var header metadata.MD
	err := invoke(withVersion(ctx), method, request, reply, connection, append(options, grpc.Header(&header))...)
	return checkAnswer(connection.Target(), header, err)
}

// StreamClientInterceptor does for streams what UnaryClientInterceptor does for calls, with the first
// message that is received.
func StreamClientInterceptor(
	ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	ctx, cancel := context.WithCancel(withVersion(ctx))
	stream, err := open(ctx, description, connection, method, options...)
	if err != nil {
		cancel()
		return nil, wire.Error(err)
	}
	return &clientStream{ClientStream: stream, target: connection.Target(), cancel: cancel}, nil
}

type clientStream struct {
	grpc.ClientStream
	target  string
	cancel  context.CancelFunc
	checked sync.Once
	problem error
}

// RecvMsg gives the problem with the server's version in place of a message. Any error ends the stream,
// whose resources would else be kept until the caller's context ends.
func (s *clientStream) RecvMsg(message any) error {
	err := s.receive(message)
	if err != nil {
		s.cancel()
	}
	return err
}

func (s *clientStream) receive(message any) error {
	received := s.ClientStream.RecvMsg(message)
	s.checked.Do(func() {
		header, err := s.Header()
		if err == nil {
			err = received
		}
		s.problem = checkAnswer(s.target, header, err)
	})
	if s.problem != nil {
		return s.problem
	}
	return wire.Error(received)
}

func withVersion(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, MetadataKey, Version)
}

// checkAnswer takes the server's version into account, and else gives the error of the call.
func checkAnswer(target string, header metadata.MD, err error) error {
	if err != nil && len(header.Get(MetadataKey)) == 0 {
		return wire.Error(err)
	}
	if problem := checkPeer(header, "this client", "the server at "+target); problem != nil {
		return problem
	}
	return wire.Error(err)
}
