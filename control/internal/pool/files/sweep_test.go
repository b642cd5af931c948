package files_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/files"
)

// TestServersAreSweptBesideOneThatIsGone: what was removed must not fill the others up until it is back.
func TestServersAreSweptBesideOneThatIsGone(t *testing.T) {
	const removed = 8
	w := newWorld(t, 3, 1)
	session := w.attach("store")
	for i := range removed {
		put(t, session, fmt.Sprintf("/%d", i), some(7*blockBytes))
	}
	gone := w.pool.Servers["pool2"]
	gone.Stop()
	left := w.segmentsOn(gone)
	if left == 0 {
		t.Fatal("the server has nothing")
	}
	for i := range removed {
		if err := session.Remove(t.Context(), fmt.Sprintf("/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	w.detach(session)
	session = w.attach("store")
	eventually(t, "the others are swept", func() bool { return w.segments() == left })
	gone.Start()
	w.waitFor("pool2")
	w.detach(session)
	session = w.attach("store")
	eventually(t, "the one that is back is swept", func() bool { return w.segments() == 0 })
	w.detach(session)
}

// waitFor returns once a server that was started again is reached.
func (w *world) waitFor(name string) {
	w.t.Helper()
	service, err := w.pool.Service(name)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := service.GetBlockSpace(w.t.Context(), &sluicev1.GetBlockSpaceRequest{}, grpc.WaitForReady(true)); err != nil {
		w.t.Fatal(err)
	}
}

// countingRemovals counts how often a server is told to remove a file.
type countingRemovals struct {
	sluicev1.BlockServiceClient
	count *atomic.Int64
}

func (c countingRemovals) RemoveFile(
	ctx context.Context, request *sluicev1.RemoveFileRequest, options ...grpc.CallOption,
) (*sluicev1.RemoveFileResponse, error) {
	c.count.Add(1)
	return c.BlockServiceClient.RemoveFile(ctx, request, options...)
}

// TestRemovalsThatWaitForAServer are not all tried again with each further one, of which a store makes many.
func TestRemovalsThatWaitForAServer(t *testing.T) {
	const removed, servers = 30, 3
	w := newWorld(t, servers, 1)
	var told atomic.Int64
	services := func(node string) (sluicev1.BlockServiceClient, error) {
		service, err := w.pool.Service(node)
		return countingRemovals{service, &told}, err
	}
	session, err := files.Attach(t.Context(), w.config("store", time.Minute), w.metadata, services, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for i := range removed {
		put(t, session, fmt.Sprintf("/%d", i), some(7*blockBytes))
	}
	w.pool.Servers["pool2"].Stop()
	for i := range removed {
		if err := session.Remove(t.Context(), fmt.Sprintf("/%d", i)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if count := told.Load(); count > removed*servers {
		t.Errorf("servers are told %d times to remove %d files", count, removed)
	}
	w.detach(session)
}
