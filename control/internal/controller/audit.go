package controller

import (
	"context"
	"log/slog"
	"path"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/renewals"
	"sluice.dev/control/internal/security"
)

// audit logs every order with its caller and its result, also those that are refused before anybody has
// looked at them. Renewals are for debugging only.
type audit struct {
	log    *slog.Logger
	leases *renewals.Tracker
}

// maxLoggedRequestBytes bounds a request in the log, which may be one that was refused for its length.
const maxLoggedRequestBytes = 1024

// UnaryServerInterceptor is a grpc.UnaryServerInterceptor.
func (a audit) UnaryServerInterceptor(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	received := time.Now()
	response, err := handler(ctx, request)
	if !isOrder(request) {
		return response, err
	}
	caller := "unknown"
	if identity, unknown := security.FromContext(ctx); unknown == nil {
		caller = identity.String()
	}
	level := a.level(caller, request, received, err)
	if !a.log.Enabled(ctx, level) {
		return response, err
	}
	attributes := []slog.Attr{
		slog.String("method", path.Base(info.FullMethod)), slog.String("caller", caller),
		slog.String("code", status.Code(err).String()), slog.String("request", shown(request)),
	}
	if err != nil {
		attributes = append(attributes, slog.String("error", err.Error()))
	}
	a.log.LogAttrs(ctx, level, "order", attributes...)
	return response, err
}

func (a audit) level(caller string, request any, received time.Time, err error) slog.Level {
	order := renewals.Order{Caller: caller, Received: received, Failed: err != nil}
	order.Node, order.Request = relayed(request)
	switch {
	case a.leases.IsRenewal(order):
		return slog.LevelDebug
	case err != nil:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}

// relayed is the order for an agent, and the node that it is for, in one that is passed on.
func relayed(request any) (node string, order any) {
	switch request := request.(type) {
	case *sluicev1.RelaySetLeaseRequest:
		return request.GetNode(), request.GetRequest()
	case *sluicev1.RelayClearLeasesRequest:
		return request.GetNode(), request.GetRequest()
	case *sluicev1.RelayStartTaskRequest:
		return request.GetNode(), request.GetRequest()
	case *sluicev1.RelayAbortTaskRequest:
		return request.GetNode(), request.GetRequest()
	}
	return "", nil
}

func isOrder(request any) bool {
	switch request.(type) {
	case *sluicev1.PausePolicyRequest, *sluicev1.ResumePolicyRequest, *sluicev1.RelaySetLeaseRequest,
		*sluicev1.RelayClearLeasesRequest, *sluicev1.RelayStartTaskRequest, *sluicev1.RelayAbortTaskRequest,
		*sluicev1.ApplyServiceLevelsRequest, *sluicev1.DeleteServiceLevelRequest:
		return true
	}
	return false
}

// shown is a request in protobuf's text form, which quotes what no log should have to show.
func shown(request any) string {
	message, isMessage := request.(interface{ String() string })
	if !isMessage {
		return ""
	}
	text := message.String()
	return text[:min(len(text), maxLoggedRequestBytes)]
}
