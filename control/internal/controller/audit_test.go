package controller

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/renewals"
)

// An operator's `sluice set --keep` renews a lease for as long as it runs.
func TestRenewalsAreLoggedForDebuggingOnly(t *testing.T) {
	var log bytes.Buffer
	observed := audit{slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), &renewals.Tracker{}}
	ref := &sluicev1.StoreRef{Store: "postgres", Instance: "main"}
	set := &sluicev1.RelaySetLeaseRequest{Node: "n1", Request: &sluicev1.SetLeaseRequest{
		Ref: ref, Kind: sluicev1.Kind_KIND_CHECKPOINT, Setting: &sluicev1.Setting{Name: "hold"},
		Owner: "operator/ann", TimeToLive: durationpb.New(time.Minute),
	}}
	end := &sluicev1.RelayClearLeasesRequest{Node: "n1", Request: &sluicev1.ClearLeasesRequest{Ref: ref, Owner: "operator/ann"}}
	start := &sluicev1.RelayStartTaskRequest{Node: "n1", Request: &sluicev1.StartTaskRequest{
		Ref: ref, Kind: sluicev1.Kind_KIND_CHECKPOINT, Owner: "operator/ann", TimeToLive: durationpb.New(time.Minute),
	}}
	failure := errors.New("the agent does not answer")
	for _, order := range []struct {
		request any
		result  error
	}{
		{set, nil}, {set, nil}, {set, failure}, {set, nil}, {set, nil}, {end, nil}, {set, nil}, {start, nil},
		{&sluicev1.PausePolicyRequest{Name: "p"}, nil}, {&sluicev1.GetClusterRequest{}, nil},
	} {
		handler := func(context.Context, any) (any, error) { return nil, order.result }
		info := &grpc.UnaryServerInfo{FullMethod: "/sluice.v1.ControllerService/Call"}
		if _, err := observed.UnaryServerInterceptor(t.Context(), order.request, info, handler); !errors.Is(err, order.result) {
			t.Fatal(err)
		}
	}
	var levels []string
	for line := range strings.Lines(log.String()) {
		levels = append(levels, strings.TrimPrefix(strings.Fields(line)[1], "level="))
	}
	want := []string{"INFO", "DEBUG", "WARN", "INFO", "DEBUG", "INFO", "INFO", "INFO", "INFO"}
	if !slices.Equal(levels, want) {
		t.Errorf("levels are %v, want %v:\n%s", levels, want, &log)
	}
}
