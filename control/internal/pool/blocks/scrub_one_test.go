package blocks

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/control/internal/pool/segment"
)

func newScrubbed(t *testing.T) (*Server, *segment.Store) {
	t.Helper()
	segments, err := segment.OpenStore(t.TempDir(), segment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = segments.Close() })
	return NewServer(segments, NewMetrics(prometheus.NewRegistry(), segments.Space)), segments
}

// TestScrubbingOfASegmentThatIsMadeAnew: it was listed, removed, and has less by now; its writer may be gone.
func TestScrubbingOfASegmentThatIsMadeAnew(t *testing.T) {
	server, segments := newScrubbed(t)
	listed := segment.State{Length: 3 * segment.PageBytes, Sealed: true, Epoch: 1}
	if _, err := segments.Append(listed.ID, 2, 0, make([]byte, segment.PageBytes)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	damaged := server.scrubOne(ctx, listed, Scrubbing{BytesPerSecond: 1 << 40}, slog.New(slog.DiscardHandler))
	if damaged != 0 || ctx.Err() != nil {
		t.Errorf("%d are damaged: %v", damaged, ctx.Err())
	}
}

// TestScrubbingOfASegmentThatHasLostAll of its bytes, as after a repair of the file system: there is nothing to read in it.
func TestScrubbingOfASegmentThatHasLostAll(t *testing.T) {
	server, _ := newScrubbed(t)
	listed := segment.State{Sealed: true, Epoch: 1, Damaged: true}
	if damaged := server.scrubOne(t.Context(), listed, Scrubbing{BytesPerSecond: 1 << 40}, slog.New(slog.DiscardHandler)); damaged != 1 {
		t.Errorf("%d are damaged", damaged)
	}
	if !server.damaged.has(listed) {
		t.Error("who repairs is not told")
	}
}
