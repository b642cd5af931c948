package protocol

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"sluice.dev/control/internal/wire"
)

// UnaryServerInterceptor sends the version of the server, refuses callers of another major version,
// bounds the time of the call, and gives errors their gRPC status. It goes before any other.
func UnaryServerInterceptor(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler,
) (any, error) {
	if err := grpc.SetHeader(ctx, metadata.Pairs(MetadataKey, Version)); err != nil {
		return nil, wire.Status(fmt.Errorf("send the protocol version: %w", err))
	}
	if err := checkCaller(ctx, info.FullMethod); err != nil {
		return nil, wire.Status(err)
	}
	ctx, cancel := context.WithTimeout(ctx, maxCallTime)
	defer cancel()
	response, err := handle(ctx, request)
	return response, wire.Status(err)
}

// StreamServerInterceptor does for streams what UnaryServerInterceptor does for calls, but bounds no
// time: a stream goes on for as long as its client listens.
func StreamServerInterceptor(
	server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler,
) error {
	if err := stream.SetHeader(metadata.Pairs(MetadataKey, Version)); err != nil {
		return wire.Status(fmt.Errorf("send the protocol version: %w", err))
	}
	if err := checkCaller(stream.Context(), info.FullMethod); err != nil {
		return wire.Status(err)
	}
	return wire.Status(handle(server, stream))
}

// healthService begins the names of the calls of gRPC's health service.
const healthService = "/grpc.health.v1.Health/"

// checkCaller takes any version, or none, for calls about health: their contract is gRPC's, and the
// probes that make them know nothing of Sluice's.
func checkCaller(ctx context.Context, method string) error {
	if strings.HasPrefix(method, healthService) {
		return nil
	}
	header, _ := metadata.FromIncomingContext(ctx)
	return checkPeer(header, "this server", "the caller")
}
