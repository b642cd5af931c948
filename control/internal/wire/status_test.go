package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

func TestStatusAndBack(t *testing.T) {
	want := map[store.Code]codes.Code{
		store.CodeInvalid:      codes.InvalidArgument,
		store.CodeUnsupported:  codes.Unimplemented,
		store.CodeConflict:     codes.AlreadyExists,
		store.CodeRefused:      codes.FailedPrecondition,
		store.CodeNotFound:     codes.NotFound,
		store.CodeUnavailable:  codes.Unavailable,
		store.CodeForbidden:    codes.PermissionDenied,
		store.CodeIncompatible: codes.FailedPrecondition,
	}
	for code, grpcCode := range want {
		t.Run(string(code), func(t *testing.T) {
			sent := store.Errorf(code, "message of %s", code).WithHint("hint of %s", code)
			received := wire.Error(wire.Status(sent))
			if status.Code(received) != grpcCode {
				t.Errorf("gRPC code is %s, want %s", status.Code(received), grpcCode)
			}
			var failure *store.Error
			if !errors.As(received, &failure) {
				t.Fatalf("no *store.Error: %v", received)
			}
			if failure.Code != code || failure.Message != sent.Message || failure.Hint != sent.Hint {
				t.Errorf("got %+v, want %+v", failure, sent)
			}
			if again := wire.Error(received); again != received {
				t.Errorf("turned a second time it is %v", again)
			}
		})
	}
}

// A relay passes on what the node said.
func TestStatusOfARelayedError(t *testing.T) {
	sent := store.Errorf(store.CodeConflict, "taken").WithHint("wait")
	relayed := fmt.Errorf("node n1: %w", wire.Error(wire.Status(sent)))
	received := wire.Error(wire.Status(relayed))
	if store.CodeOf(received) != store.CodeConflict || received.Error() != "node n1: taken (wait)" {
		t.Errorf("got %s: %v", store.CodeOf(received), received)
	}
}

func TestStatusOfOtherErrors(t *testing.T) {
	plain := status.Error(codes.DataLoss, "lost")
	tests := map[string]struct {
		err  error
		code codes.Code
	}{
		"nil":      {nil, codes.OK},
		"canceled": {fmt.Errorf("read: %w", context.Canceled), codes.Canceled},
		"deadline": {fmt.Errorf("read: %w", context.DeadlineExceeded), codes.DeadlineExceeded},
		"status":   {plain, codes.DataLoss},
		"other":    {errors.New("other"), codes.Unknown},
		"store's own word for a deadline": {
			store.Errorf(store.CodeUnavailable, "postgres: %w", context.DeadlineExceeded), codes.Unavailable,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := status.Code(wire.Status(test.err)); got != test.code {
				t.Errorf("got %s, want %s", got, test.code)
			}
		})
	}
}

func TestErrorOfOtherStatuses(t *testing.T) {
	tests := map[codes.Code]store.Code{
		codes.InvalidArgument:    store.CodeInvalid,
		codes.Unimplemented:      store.CodeUnsupported,
		codes.FailedPrecondition: store.CodeRefused,
		codes.ResourceExhausted:  store.CodeRefused,
		codes.Unauthenticated:    store.CodeForbidden,
		codes.Unavailable:        store.CodeUnavailable,
		codes.Internal:           store.CodeUnavailable,
		codes.DeadlineExceeded:   store.CodeUnavailable,
	}
	for code, want := range tests {
		err := wire.Error(status.Error(code, "words"))
		if store.CodeOf(err) != want || err.Error() != "words" {
			t.Errorf("%s is %s %q, want %s", code, store.CodeOf(err), err, want)
		}
	}
	if err := wire.Error(status.Error(codes.DeadlineExceeded, "late")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a deadline is not found in %v", err)
	}
	if err := wire.Error(status.Error(codes.Canceled, "gone")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancellation is not found in %v", err)
	}
	if wire.Error(nil) != nil || wire.Error(io.EOF) != io.EOF {
		t.Error("nil or the end of a stream is changed")
	}
	if err := wire.Error(errors.New("other")); store.CodeOf(err) != store.CodeUnavailable || err.Error() != "other" {
		t.Errorf("another error is %v", err)
	}
}
