package files_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata/entry"
)

// nested takes the lease on a directory below that of another session.
func (w *world) nested(outer *files.Session, path string) *files.Session {
	w.t.Helper()
	config := w.config("worker", time.Minute)
	config.Path, config.OuterEpoch = path, outer.Epoch()
	session, err := files.Attach(w.t.Context(), config, w.metadata, w.pool.Service, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	return session
}

func (w *world) leases() []string {
	w.t.Helper()
	leases, _, err := w.metadata.Leases(w.t.Context(), "orders", entry.Page[string]{})
	if err != nil {
		w.t.Fatal(err)
	}
	var paths []string
	for _, lease := range leases {
		paths = append(paths, lease.Path)
	}
	return paths
}

// makeDirectories makes them in their order.
func makeDirectories(t *testing.T, session *files.Session, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := session.MakeDirectory(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNextHolderEndsLeasesBelow, also of those that were given away by one that was given away itself.
func TestNextHolderEndsLeasesBelow(t *testing.T) {
	w := newWorld(t, 3, 1)
	before := w.attach("before")
	makeDirectories(t, before, "/a", "/a/b", "/a-", "/c")
	outer := w.nested(before, "/a")
	inner := w.nested(outer, "/a/b")
	beside := w.nested(before, "/a-")
	content := some(2 * blockBytes)
	writer, err := inner.Create(t.Context(), "/a/b/1")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := errors.Join(writer.Append(content), writer.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	w.detach(before)

	after := w.attach("after")
	if paths := w.leases(); len(paths) != 1 || paths[0] != "/" {
		t.Errorf("leases on %q are left", paths)
	}
	mustHave(t, after, "/a/b/1", content)
	if file, err := after.Stat(t.Context(), "/a/b/1"); err != nil || !file.Sealed {
		t.Errorf("%+v: %v", file, err)
	}
	for _, over := range []*files.Session{outer, inner, beside} {
		if err := over.MakeDirectory(t.Context(), "/c/d"); entry.ReasonOf(err) != entry.Fenced {
			t.Errorf("a worker of the holder before: %v", err)
		}
		if err := over.Detach(t.Context()); entry.ReasonOf(err) != entry.NotFound {
			t.Errorf("its lease: %v", err)
		}
	}
	if err := writer.Seal(t.Context()); err == nil {
		t.Error("it ends a file that was ended by the next holder")
	}
	w.detach(after)
}

// TestLeasesThatAreNotBelowGoOn when somebody attaches beside them, or to a directory below.
func TestLeasesThatAreNotBelowGoOn(t *testing.T) {
	w := newWorld(t, 2, 1)
	store := w.attach("store")
	makeDirectories(t, store, "/a", "/a/b", "/a-", "/b")
	first := w.nested(store, "/a")
	beside := w.nested(store, "/a-")
	last := w.nested(store, "/b")
	inner := w.nested(first, "/a/b")
	w.detach(first)
	first = w.nested(store, "/a")
	if paths := w.leases(); len(paths) != 4 {
		t.Errorf("leases on %q", paths)
	}
	for _, path := range []string{"/a", "/"} {
		if err := first.Release(t.Context(), path); entry.ReasonOf(err) != entry.Invalid {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := store.Release(t.Context(), "/a"); err != nil {
		t.Error(err)
	}
	if err := errors.Join(beside.MakeDirectory(t.Context(), "/a-/c"), last.MakeDirectory(t.Context(), "/b/c")); err != nil {
		t.Error(err)
	}
	if err := inner.MakeDirectory(t.Context(), "/a/b/c"); entry.ReasonOf(err) != entry.Fenced {
		t.Errorf("a lease below the one that was taken anew: %v", err)
	}
	w.detach(beside)
	w.detach(last)
	w.detach(store)
}
