package segment

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"sluice.dev/control/internal/pool/layout"
)

// failingSync has a sync of a segment fail, as of a disk that has an error, and gives its file.
func failingSync(t *testing.T, store *Store, id ID) *os.File {
	t.Helper()
	segment, err := store.find(id)
	if err != nil {
		t.Fatal(err)
	}
	file := segment.file
	// A sync of a pipe always fails.
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = reader.Close(), writer.Close() }()
	segment.file = writer
	if _, err := store.Sync(id, 1); ReasonOf(err) != Device {
		t.Fatalf("the sync has ended with %v", err)
	}
	segment.file = file
	return file
}

// TestDiskThatHasFailedOnce: the kernel then takes what it could not write for written, and drops it when it likes.
func TestDiskThatHasFailedOnce(t *testing.T) {
	content := bytes.Repeat([]byte("sluice"), PageBytes)
	for name, dropped := range map[string]bool{"kept": false, "dropped": true} {
		t.Run(name, func(t *testing.T) {
			store, err := OpenStore(t.TempDir(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			id := ID{File: layout.FileID{1}}
			if _, err := store.Append(id, 1, 0, content); err != nil {
				t.Fatal(err)
			}
			file := failingSync(t, store, id)
			if dropped {
				if _, err := file.WriteAt(make([]byte, PageBytes), PageBytes); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if _, err := store.Sync(id, 1); (err != nil) != dropped {
					t.Errorf("the next sync has ended with %v", err)
				}
			}
			if _, err := store.Seal(id, 2, int64(len(content))); (err != nil) != dropped {
				t.Errorf("the seal has ended with %v", err)
			}
		})
	}
}

// TestDirectoryThatHasFailedOnce: the kernel tells of it one time, and whoever syncs next, the same segment or another one
// of the file, must not take its name for one that is on the disk.
func TestDirectoryThatHasFailedOnce(t *testing.T) {
	store, err := OpenStore(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	first, second := ID{File: layout.FileID{1}}, ID{File: layout.FileID{1}, Slot: 1}
	other := ID{File: layout.FileID{2}}
	for _, id := range []ID{first, second, other} {
		if _, err := store.Append(id, 1, 0, []byte("sluice")); err != nil {
			t.Fatal(err)
		}
	}
	directory := directoryOf(store.root, first.File)
	// A sync of a directory of this file system always fails.
	if err := errors.Join(os.Rename(directory, directory+".aside"), os.Symlink("/proc", directory)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Sync(first, 1); ReasonOf(err) != Device {
		t.Fatalf("the sync has ended with %v", err)
	}
	if err := errors.Join(os.Remove(directory), os.Rename(directory+".aside", directory)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []ID{first, second} {
		if _, err := store.Sync(id, 1); ReasonOf(err) != Device {
			t.Errorf("the next sync of %s has ended with %v", id, err)
		}
		if _, err := store.Seal(id, 2, 6); ReasonOf(err) != Device {
			t.Errorf("the seal of %s has ended with %v", id, err)
		}
	}
	if _, err := store.Seal(other, 1, 6); err != nil {
		t.Errorf("another file: %v", err)
	}
}
