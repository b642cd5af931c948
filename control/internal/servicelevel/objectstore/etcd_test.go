package objectstore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sluice.dev/control/internal/store"
)

// Of a change that had no answer nobody knows whether it was made; what only reads has changed nothing.
func TestHintsOfAnEtcdThatDoesNotAnswer(t *testing.T) {
	kept, err := NewEtcd([]string{"127.0.0.1:1"}, nil, "/service-levels")
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, readErr := kept.Load(ctx)
	_, writeErr := kept.Swap(ctx, Set{}, nil)
	for want, err := range map[string]error{"Nothing has changed": readErr, "may have been done": writeErr} {
		var failure *store.Error
		if !errors.As(err, &failure) || failure.Code != store.CodeUnavailable || !strings.Contains(failure.Hint, want) {
			t.Errorf("%v, of which the hint is not %q", err, want)
		}
	}
}
