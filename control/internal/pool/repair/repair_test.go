package repair_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sluice.dev/control/internal/pool/files"
)

// TestServerLostUnderLoad for good, while a store writes and somebody repairs: all copies are whole again on the others.
func TestServerLostUnderLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	all := []string{"pool1", "pool2", "pool3", "pool4"}
	session := w.attachImpatient(all...)
	repairer := w.repairer(w.pool.Service, all...)
	ctx, stop := context.WithCancel(t.Context())
	written, failed := make(chan int), make(chan error, 1)
	go func() {
		defer close(written)
		for i := 0; ctx.Err() == nil; i++ {
			if err := w.put(session, fmt.Sprintf("/%06d.sst", i), some(i, 9*blockBytes+i)); err != nil {
				failed <- err
				return
			}
			written <- i
		}
	}()
	after := func(files int) {
		t.Helper()
		for range files {
			if _, isWritten := <-written; !isWritten {
				t.Fatal(<-failed)
			}
		}
	}
	pass := func() {
		t.Helper()
		if _, err := repairer.Pass(t.Context()); err != nil {
			t.Logf("a pass has failed, as it may while a server goes: %v", err)
		}
	}
	after(5)
	w.pool.Servers["pool1"].Stop()
	after(2)
	pass()
	after(5)
	pass()
	stop()
	for range written {
		continue
	}
	w.settle(repairer)
	w.mustBeWhole("pool2", "pool3", "pool4")
	w.mustRead(session)
}

// TestServerThatComesBack after its copies were made anew elsewhere keeps none of them, nor of files that were removed.
func TestServerThatComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	session := w.attach("pool1", "pool2", "pool3")
	w.putSome(session, 6)
	w.pool.Servers["pool1"].Stop()
	w.settle(w.repairer(w.pool.Service, "pool1", "pool2", "pool3", "pool4"))
	w.mustBeWhole("pool2", "pool3", "pool4")
	if err := session.Remove(t.Context(), "/000003.sst"); err != nil {
		t.Fatal(err)
	}
	w.pool.Servers["pool1"].Start()
	if len(w.held("pool1")) == 0 {
		t.Fatal("the server has lost what it had")
	}
	w.settle(w.repairer(w.pool.Service, "pool1", "pool2", "pool3", "pool4"))
	eventually(t, "the removed file is swept", func() bool { return !w.hasRemovals() })
	w.mustBeWhole("pool1", "pool2", "pool3", "pool4")
	if held := w.held("pool1"); len(held) > 0 {
		t.Errorf("it still has %v", held)
	}
}

// TestFileWithoutACopyLeft is told of, and does not keep others from being repaired.
func TestFileWithoutACopyLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	lost := w.attach("pool1", "pool2")
	if err := w.put(lost, "/lost", some(1, 3*blockBytes)); err != nil {
		t.Fatal(err)
	}
	if err := lost.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	session := w.attach("pool2", "pool3", "pool4")
	w.putSome(session, 4)
	w.pool.Servers["pool1"].Stop()
	w.pool.Servers["pool2"].Stop()
	repairer := w.repairer(w.pool.Service, "pool1", "pool2", "pool3", "pool4")
	if _, err := repairer.Pass(t.Context()); err == nil {
		t.Error("a file of which there is no copy was repaired")
	}
	if err := errors.Join(repairer.Close(t.Context()), session.Remove(t.Context(), "/lost")); err != nil {
		t.Fatal(err)
	}
	w.mustBeWhole("pool3", "pool4")
}

// TestOpenFilesAreLeft until they are sealed, whatever is missing of them.
func TestOpenFilesAreLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	all := []string{"pool1", "pool2", "pool3"}
	session := w.attachImpatient(all...)
	writer, err := session.Create(t.Context(), "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	content := some(7, 20*blockBytes)
	w.contents[writer.ID()] = content
	if err := errors.Join(writer.Append(content[:9*blockBytes]), writer.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	w.pool.Servers["pool2"].Stop()
	if err := errors.Join(writer.Append(content[9*blockBytes:]), writer.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	w.pool.Servers["pool2"].Start()
	if len(w.held("pool2")) == 0 {
		t.Fatal("the server has lost what it had")
	}
	before := w.allFiles()
	if len(before) != 1 || len(before[0].Missing) == 0 {
		t.Fatalf("nothing is missing: %+v", before)
	}
	repairer := w.repairer(w.pool.Service, all...)
	w.settle(repairer)
	if after := w.allFiles(); len(after[0].Missing) != len(before[0].Missing) {
		t.Errorf("an open file was changed: %+v", after)
	}
	if err := writer.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.settle(repairer)
	w.mustBeWhole(all...)
}

// TestOneRepairsAtATime: another one leaves all as it is, and goes on once the first is gone.
func TestOneRepairsAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	session := w.attach("pool1", "pool2")
	first, second := w.repairer(w.pool.Service, "pool2", "pool3"), w.repairer(w.pool.Service, "pool2", "pool3")
	if _, err := first.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.putSome(session, 3)
	if isDone, err := second.Pass(t.Context()); err != nil || !isDone {
		t.Errorf("the second one was told: %v: %v", isDone, err)
	}
	for id := range w.held("pool3") {
		t.Errorf("the second one has made %s", id)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.settle(second)
	w.settle(w.repairer(w.pool.Service, "pool1", "pool2", "pool3"))
	w.mustBeWhole("pool1", "pool2", "pool3")
}

// TestReadersFollow: who has opened a file before all of its segments were moved reads it to its end.
func TestReadersFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	session := w.attach("pool1", "pool2")
	w.putSome(session, 4)
	var readers []*files.Reader
	for i := range 4 {
		reader, err := session.Open(t.Context(), fmt.Sprintf("/%06d.sst", i))
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, reader)
	}
	// Each server is taken out in turn, and then they are back, with nothing.
	for _, servers := range [][]string{{"pool2", "pool3", "pool4"}, {"pool3", "pool4"}, {"pool1", "pool2", "pool3", "pool4"}} {
		w.settle(w.repairer(w.pool.Service, servers...))
	}
	if left := len(w.held("pool1")) + len(w.held("pool2")); left > 0 {
		t.Fatalf("%d segments are where they were", left)
	}
	for _, reader := range readers {
		w.mustReadAll(reader)
	}
	w.mustBeWhole("pool3", "pool4")
}

// TestRemovalWithAnUnknownServer ends without it.
func TestRemovalWithAnUnknownServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	session := w.attach("pool1", "pool2", "pool3")
	w.putSome(session, 3)
	w.pool.Servers["pool1"].Stop()
	for i := range 3 {
		if err := session.Remove(t.Context(), fmt.Sprintf("/%06d.sst", i)); err != nil {
			t.Fatal(err)
		}
	}
	w.settle(w.repairer(w.pool.Service, "pool2", "pool3"))
	if w.hasRemovals() {
		t.Error("removals wait for a server that is not known")
	}
	w.pool.Servers["pool1"].Start()
	if len(w.held("pool1")) == 0 {
		t.Fatal("the server has lost what it had")
	}
	w.settle(w.repairer(w.pool.Service, "pool1", "pool2", "pool3"))
	w.mustBeWhole("pool1", "pool2", "pool3")
}
