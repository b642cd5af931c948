package segment_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
)

// TestRemovedSegmentLeavesNothing on the disk, and the others as they are.
func TestRemovedSegmentLeavesNothing(t *testing.T) {
	directory := t.TempDir()
	store := open(t, directory)
	defer store.Close()
	for slot := range 2 {
		length, err := store.Append(anyID(slot, 0), 1, 0, []byte("mine"))
		must(t, 4, length, err)
		length, err = store.Seal(anyID(slot, 0), 1, 4)
		must(t, 4, length, err)
	}
	for slot, left := range []int{2, 0} {
		if err := store.RemoveOne(anyID(slot, 0), 2); err != nil {
			t.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join(directory, "*", "*", "*"))
		if err != nil || len(paths) != left {
			t.Errorf("left after slot %d: %q: %v", slot, paths, err)
		}
	}
	if directories, err := filepath.Glob(filepath.Join(directory, "*", "*")); err != nil || len(directories) > 0 {
		t.Errorf("directories are left: %q: %v", directories, err)
	}
	length, err := store.Append(anyID(0, 0), 2, 0, []byte("anew"))
	must(t, 4, length, err)
}

// TestSegmentWithoutChecksumsIsListed as damaged, beside those that are whole.
func TestSegmentWithoutChecksumsIsListed(t *testing.T) {
	directory := t.TempDir()
	store := open(t, directory)
	content := bytes.Repeat([]byte("x"), 5000)
	for slot := range 3 {
		length, err := store.Append(anyID(slot, 0), 1, 0, content)
		must(t, 5000, length, err)
		length, err = store.Seal(anyID(slot, 0), 1, 5000)
		must(t, 5000, length, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	sums, err := filepath.Glob(filepath.Join(directory, "*", "*", "1.0.1.sealed.sums"))
	if err != nil || len(sums) != 1 || os.WriteFile(sums[0], []byte("rotten"), 0o600) != nil {
		t.Fatalf("%q: %v", sums, err)
	}
	store = open(t, directory)
	defer store.Close()
	states, _, err := store.List(layout.FileID{}, 10)
	if err != nil || len(states) != 3 {
		t.Fatalf("%+v: %v", states, err)
	}
	for slot, state := range states {
		want := segment.State{ID: anyID(slot, 0), Length: 5000, Sealed: true, Epoch: 1, Damaged: slot == 1}
		if state != want {
			t.Errorf("%+v, want %+v", state, want)
		}
	}
	if err := store.RemoveOne(anyID(1, 0), 2); err != nil {
		t.Errorf("a damaged segment cannot be removed: %v", err)
	}
}

// TestSegmentThatCannotBeRead, as on a disk with a bad sector, is listed as damaged beside the others.
func TestSegmentThatCannotBeRead(t *testing.T) {
	directory := t.TempDir()
	store := open(t, directory)
	for slot := range 3 {
		length, err := store.Append(anyID(slot, 0), 1, 0, []byte("mine"))
		must(t, 4, length, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(directory, "ab", anyID(1, 0).File.String(), "1.0.1.open")
	// There is nothing at the begin of the memory of this process: the system answers with an input/output error.
	if err := errors.Join(os.Remove(bad), os.Symlink("/proc/self/mem", bad)); err != nil {
		t.Fatal(err)
	}
	store = open(t, directory)
	defer store.Close()
	length, err := store.Fence(anyID(1, 0), 1)
	mustFail(t, segment.Device, length, err)
	states, _, err := store.List(layout.FileID{}, 10)
	if err != nil || len(states) != 3 {
		t.Fatalf("%+v: %v", states, err)
	}
	for slot, state := range states {
		if state.ID != anyID(slot, 0) || state.Damaged != (slot == 1) {
			t.Errorf("%+v is listed", state)
		}
	}
}
