package agent

import (
	"context"
	"log/slog"
	"path"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/internal/agent/metrics"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/renewals"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
)

// maxLoggedBytes bounds a text of a caller in the log, which may be one that was refused for its length.
const maxLoggedBytes = 256

// audit logs and counts every order with its caller and its result, also those that are refused before
// anybody has looked at them. It must see the error that the caller gets. Renewals are for debugging only.
type audit struct {
	logger  *slog.Logger
	metrics *metrics.Metrics
	leases  *renewals.Tracker
}

// orderRequest is what the requests of all orders have in common.
type orderRequest interface {
	GetRef() *sluicev1.StoreRef
	GetKind() sluicev1.Kind
	GetOwner() string
}

// scopedRequest is what those have in common that are for a part of a store.
type scopedRequest interface {
	GetScope() string
}

// leaseRequest is what those have in common that can give a lease.
type leaseRequest interface {
	GetSetting() *sluicev1.Setting
	GetTimeToLive() *durationpb.Duration
	GetReplace() bool
}

// UnaryServerInterceptor is a grpc.UnaryServerInterceptor.
func (a audit) UnaryServerInterceptor(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	order, isOrder := request.(orderRequest)
	if !isOrder {
		return handler(ctx, request)
	}
	var answer any
	err := a.observe(ctx, path.Base(info.FullMethod), order, func() (err error) {
		answer, err = handler(ctx, request)
		return err
	})
	return answer, err
}

// observe has an order obeyed, and returns the error that the caller gets.
func (a audit) observe(ctx context.Context, method string, order orderRequest, obey func() error) error {
	begun := time.Now()
	err := obey()
	code, caller := status.Code(err).String(), callerOf(ctx)
	a.metrics.OrderAnswered(method, code)
	level := a.level(renewals.Order{Caller: caller, Request: order, Received: begun, Failed: err != nil})
	if !a.logger.Enabled(ctx, level) {
		return err
	}
	attributes := append(orderAttributes(order),
		slog.String("method", method), slog.String("caller", caller), slog.String("code", code),
		slog.Float64("duration_seconds", time.Since(begun).Seconds()))
	if err != nil {
		attributes = append(attributes, slog.String("error", bounded(status.Convert(err).Message())))
	}
	a.logger.LogAttrs(ctx, level, "order", attributes...)
	return err
}

func (a audit) level(order renewals.Order) slog.Level {
	switch {
	case a.leases.IsRenewal(order):
		return slog.LevelDebug
	case order.Failed:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}

func callerOf(ctx context.Context) string {
	caller, err := security.FromContext(ctx)
	if err != nil {
		return "unknown: " + err.Error()
	}
	return caller.String()
}

func orderAttributes(order orderRequest) []slog.Attr {
	attributes := []slog.Attr{
		slog.String("store", bounded(order.GetRef().GetStore())),
		slog.String("instance", bounded(order.GetRef().GetInstance())),
		slog.String("kind", order.GetKind().String()),
		slog.String("owner", bounded(order.GetOwner())),
	}
	if scoped, isScoped := order.(scopedRequest); isScoped {
		attributes = append(attributes, slog.String("scope", bounded(scoped.GetScope())))
	}
	switch request := order.(type) {
	case *sluicev1.StartTaskRequest:
		attributes = append(attributes, slog.String("variant", bounded(request.GetVariant())))
	case *sluicev1.AbortTaskRequest:
		attributes = append(attributes, slog.String("task", bounded(request.GetTaskId())))
	}
	lease, givesLease := order.(leaseRequest)
	if !givesLease {
		return attributes
	}
	setting := store.Setting{
		Name:   store.SettingName(lease.GetSetting().GetName()),
		Number: lease.GetSetting().GetNumber(),
		Text:   lease.GetSetting().GetText(),
	}
	return append(attributes,
		slog.String("setting", bounded(setting.String())),
		slog.Float64("time_to_live_seconds", lease.GetTimeToLive().AsDuration().Seconds()),
		slog.Bool("replace", lease.GetReplace()))
}

func bounded(text string) string {
	if len(text) <= maxLoggedBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxLoggedBytes], "") + "..."
}
