package wire_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

func TestSteeringRoundTrip(t *testing.T) {
	want := wire.Steering{Interval: time.Second, Delay: 300 * time.Millisecond}
	if got, err := wire.DecodeSteering(wire.EncodeSteering(want)); err != nil || got != want {
		t.Errorf("%+v became %+v, %v", want, got, err)
	}
}

func TestSteeringsThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		interval, delay *durationpb.Duration
		says            string
	}{
		"no interval":    {nil, durationpb.New(0), "interval is missing"},
		"no delay":       {durationpb.New(time.Second), nil, "delay is missing"},
		"too often":      {durationpb.New(99 * time.Millisecond), durationpb.New(0), "must be 100ms to 1m0s"},
		"too seldom":     {durationpb.New(time.Hour), durationpb.New(0), "must be 100ms to 1m0s"},
		"negative":       {durationpb.New(time.Second), durationpb.New(-1), "must not be negative"},
		"delay too long": {durationpb.New(time.Second), durationpb.New(2 * time.Second), "must be at most the interval"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := wire.DecodeSteering(&sluicev1.SteerRequest{Interval: test.interval, Delay: test.delay})
			if store.CodeOf(err) != store.CodeInvalid || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one that says %q", err, test.says)
			}
		})
	}
}

func TestOrderNeedsATimeout(t *testing.T) {
	for _, timeout := range []*durationpb.Duration{nil, durationpb.New(0), durationpb.New(-time.Second)} {
		if _, err := wire.DecodeOrderTimeout(&sluicev1.SteerRequest{Timeout: timeout}); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("the timeout %v: %v", timeout, err)
		}
	}
	got, err := wire.DecodeOrderTimeout(&sluicev1.SteerRequest{Timeout: durationpb.New(time.Second)})
	if err != nil || got != time.Second {
		t.Errorf("the timeout is %v, %v", got, err)
	}
}

// A message without it would pass for one that was sent just now.
func TestTimeSinceTheRequestIsNeeded(t *testing.T) {
	if _, err := wire.DecodeSinceRequest(&sluicev1.SteerResponse{}); store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("error %v", err)
	}
}

func TestOutcomeRoundTrip(t *testing.T) {
	if err := wire.DecodeOutcome(wire.EncodeOutcome(nil)); err != nil {
		t.Errorf("an order that was obeyed: %v", err)
	}
	refused := store.Errorf(store.CodeConflict, "taken by policy/p").WithHint("Wait for it.")
	var failure *store.Error
	if err := wire.DecodeOutcome(wire.EncodeOutcome(refused)); !errors.As(err, &failure) ||
		failure.Code != refused.Code || failure.Message != refused.Message || failure.Hint != refused.Hint {
		t.Errorf("%v became %v", refused, failure)
	}
	late := fmt.Errorf("the store: %w", context.DeadlineExceeded)
	if err := wire.DecodeOutcome(wire.EncodeOutcome(late)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v became %v", late, err)
	}
}

// Nothing but an empty one says that an order was obeyed.
func TestOutcomesThatCannotBeRead(t *testing.T) {
	for name, encoded := range map[string][]byte{
		"nonsense": []byte("nonsense"), "code OK": {0x08, 0x00}, "no code": {0x12, 0x01, 'x'},
	} {
		if err := wire.DecodeOutcome(encoded); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
