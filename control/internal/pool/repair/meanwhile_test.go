package repair_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/stripe"
)

// TestFileOfALaterLeaseThatIsMadeMeanwhile: while a pass looks at all segments, a worker is given a lease, with a later
// epoch than the pass has. What it makes is of this pool.
func TestFileOfALaterLeaseThatIsMadeMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	session := w.attach("pool1", "pool2")
	// More than a page of the list has.
	w.putSome(session, 20)
	if err := session.MakeDirectory(t.Context(), "/job"); err != nil {
		t.Fatal(err)
	}
	var lists atomic.Int64
	repairer := w.repairer(watch(w.pool.Service, func(node, call string) {
		if node == "pool1" && call == "list" && lists.Add(1) == 2 {
			w.makeAsAWorker(session.Epoch())
		}
	}), "pool1", "pool2")
	if isDone, err := repairer.Pass(t.Context()); err != nil || !isDone {
		t.Errorf("it is done: %v: %v", isDone, err)
	}
	if lists.Load() < 2 {
		t.Fatalf("only %d pages are listed", lists.Load())
	}
	w.mustBeWhole("pool1", "pool2")
	if err := repairer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// makeAsAWorker makes a file that comes last in all lists.
func (w *world) makeAsAWorker(outerEpoch uint64) {
	ctx, content := context.Background(), some(7, blockBytes)
	lease, _, err := w.metadata.AcquireLease(ctx, metadata.NewLease{
		Volume: "orders", Path: "/job", Holder: "worker", TimeToLive: time.Minute, OuterEpoch: outerEpoch,
	})
	if err != nil {
		w.t.Error(err)
		return
	}
	file := entry.File{Layout: entry.Layout{BlockBytes: blockBytes, Servers: [][]string{{"pool1", "pool2"}, {"pool2", "pool1"}}}}
	copy(file.ID[:], bytes.Repeat([]byte{0xff}, len(file.ID)))
	w.contents[file.ID] = content
	_, err = w.metadata.CreateFile(ctx, metadata.NewFile{
		At: metadata.At{Volume: "orders", Path: "/job/1.sst", Epoch: lease.Epoch}, ID: file.ID, Layout: file.Layout,
	})
	if err != nil {
		w.t.Error(err)
		return
	}
	writer, err := stripe.NewWriter(ctx, files.StripesOf(file), lease.Epoch, w.pool.Service, w.options(), nil)
	if err != nil {
		w.t.Error(err)
		return
	}
	defer writer.Close()
	appendErr := writer.Append(content)
	length, sealErr := writer.Seal()
	if err := errors.Join(appendErr, sealErr, w.metadata.SealFile(ctx, file.ID, lease.Epoch, uint64(length))); err != nil {
		w.t.Error(err)
	}
}
