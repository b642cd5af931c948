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

func directoryOf(root string, id segment.ID) string {
	name := id.File.String()
	return filepath.Join(root, name[:2], name)
}

// withFiles is a store with a segment of each of some files.
func withFiles(t testing.TB, files []layout.FileID) *segment.Store {
	t.Helper()
	directory := t.TempDir()
	for _, file := range files {
		folder := directoryOf(directory, segment.ID{File: file})
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "0.0.1.open"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, directory)
}

// TestPagesHaveAllFilesOnce in the order of their ids, and each page but the last has as many as were asked for.
func TestPagesHaveAllFilesOnce(t *testing.T) {
	files := []layout.FileID{
		{0, 0, 1}, {0, 9}, {0x0f, 0xff}, {0x10}, {0xab, 1}, {0xab, 2}, {0xab, 2, 1}, {0xab, 3}, {0xfe}, {0xff}, {0xff, 0xff},
	}
	store := withFiles(t, files)
	defer store.Close()
	for size := 1; size <= len(files)+1; size++ {
		var got []layout.FileID
		var after layout.FileID
		for more := true; more; {
			states, isMore, err := store.List(after, size)
			if err != nil {
				t.Fatal(err)
			}
			if len(states) > size || isMore && len(states) < size {
				t.Fatalf("a page of %d has %d files, more: %v", size, len(states), isMore)
			}
			for _, state := range states {
				got = append(got, state.ID.File)
			}
			if more = isMore; more {
				after = got[len(got)-1]
			}
		}
		if !slices.Equal(got, files) {
			t.Errorf("in pages of %d there are %v", size, got)
		}
	}
}

// TestPagesCostWhatTheyHold: not the names of all files that come after it.
func TestPagesCostWhatTheyHold(t *testing.T) {
	const inPage, others = 4, 2000
	first := []layout.FileID{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1}}
	many := slices.Clone(first)
	for i := range others {
		many = append(many, layout.FileID{byte(2 + i%250), byte(i / 250)})
	}
	cost := func(files []layout.FileID) float64 {
		store := withFiles(t, files)
		defer store.Close()
		return testing.AllocsPerRun(10, func() {
			if states, more, err := store.List(layout.FileID{}, inPage); err != nil || !more || len(states) != inPage {
				t.Errorf("%d files, more: %v: %v", len(states), more, err)
			}
		})
	}
	if few, all := cost(first), cost(many); all > few+others/2 {
		t.Errorf("a page takes %v allocations, and %v with %d further files", few, all, others)
	}
}
