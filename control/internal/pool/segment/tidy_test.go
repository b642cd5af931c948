package segment_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
)

// crashed is what a process has left that had made a sealed segment of each of two files and an open one, and was killed
// while it removed the first and sealed the third: in the directory of each file are the names that are given.
func crashed(t *testing.T) (directory string, removed, sealed, writing segment.ID) {
	t.Helper()
	directory = t.TempDir()
	store := open(t, directory)
	removed, sealed, writing = anyID(0, 0), segment.ID{File: layout.FileID{0xab, 2}}, segment.ID{File: layout.FileID{0xab, 3}}
	for _, id := range []segment.ID{removed, sealed, writing} {
		length, err := store.Append(id, 1, 0, []byte("mine"))
		must(t, 4, length, err)
	}
	for _, id := range []segment.ID{removed, sealed} {
		length, err := store.Seal(id, 1, 4)
		must(t, 4, length, err)
	}
	sums, err := os.ReadFile(filepath.Join(directoryOf(directory, sealed), "0.0.1.sealed.sums"))
	if err = errors.Join(err, store.Close(), os.Remove(filepath.Join(directoryOf(directory, removed), "0.0.1.sealed")),
		os.WriteFile(filepath.Join(directoryOf(directory, writing), "0.0.1.sealed.sums"), sums, 0o600)); err != nil {
		t.Fatal(err)
	}
	return directory, removed, sealed, writing
}

// TestChecksumsWithoutSegmentAreRemoved with the next start, and no others: neither those of a segment that is sealed, nor
// anything of an open one, which can be sealed as before.
func TestChecksumsWithoutSegmentAreRemoved(t *testing.T) {
	directory, removed, sealed, writing := crashed(t)
	store := open(t, directory)
	defer store.Close()
	for id, want := range map[segment.ID][]string{
		removed: nil, sealed: {"0.0.1.sealed", "0.0.1.sealed.sums"}, writing: {"0.0.1.open"},
	} {
		var names []string
		entries, err := os.ReadDir(directoryOf(directory, id))
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		if isThere := !errors.Is(err, os.ErrNotExist); isThere != (want != nil) || !slices.Equal(names, want) {
			t.Errorf("of %s there are %q, want %q: %v", id, names, want, err)
		}
	}
	mustRead(t, store, sealed, 0, []byte("mine"))
	length, err := store.Append(removed, 2, 0, []byte("anew"))
	must(t, 4, length, err)
	length, err = store.Seal(writing, 1, 3)
	must(t, 3, length, err)
	mustRead(t, store, writing, 0, []byte("min"))
}

// TestNothingElseIsTidiedAway: what the store has not made stays where it is.
func TestNothingElseIsTidiedAway(t *testing.T) {
	directory := t.TempDir()
	folder := filepath.Join(directory, "ab", layout.FileID{0xab}.String())
	other := filepath.Join(directory, "ab", "lost+found")
	paths := []string{
		filepath.Join(folder, "1.0.1.sealed"), filepath.Join(folder, "1.0.1.sealed.sums"), filepath.Join(folder, "01.0.1.sealed.sums"),
		filepath.Join(folder, "1.0.1.open.sums"), filepath.Join(folder, "notes.sums"), filepath.Join(other, "1.0.1.sealed.sums"),
	}
	for _, path := range paths {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	defer open(t, directory).Close()
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
