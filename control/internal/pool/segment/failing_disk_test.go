package segment

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/tests/process"
)

// withFailingSyncs does something while syncs of a segment fail, as of a disk that has an error, which it must fail for. It
// gives the segment's file.
func withFailingSyncs(t *testing.T, store *Store, id ID, do func() error) *os.File {
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
	if err := do(); ReasonOf(err) != Device {
		t.Fatalf("it has ended with %v", err)
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
			file := withFailingSyncs(t, store, id, func() error {
				_, err := store.Sync(id, 1)
				return err
			})
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

// TestSegmentThatCouldNotBeSealedLeavesNothing when it is removed: the checksums of attempts to seal it are on the disk already,
// also those of an epoch before its own.
func TestSegmentThatCouldNotBeSealedLeavesNothing(t *testing.T) {
	for name, isSealedLater := range map[string]bool{"open": false, "sealed later": true} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			store, err := OpenStore(directory, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			id := ID{File: layout.FileID{1}}
			if _, err := store.Append(id, 1, 0, []byte("sluice")); err != nil {
				t.Fatal(err)
			}
			withFailingSyncs(t, store, id, func() error {
				_, err := store.Seal(id, 1, 6)
				return err
			})
			if sums := sumsIn(t, directory); len(sums) != 1 {
				t.Fatalf("there are the checksums %q", sums)
			}
			if isSealedLater {
				if _, err := store.Seal(id, 2, 6); err != nil {
					t.Fatal(err)
				}
			}
			if err := store.RemoveOne(id, 3); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(directoryOf(directory, id.File)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("its directory is left with %q: %v", sumsIn(t, directory), err)
			}
		})
	}
}

func sumsIn(t *testing.T, directory string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(directory, "*", "*", "*"+sumsSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestRemovalThatWaitsForTheDisk holds nobody up who has to do with other segments.
func TestRemovalThatWaitsForTheDisk(t *testing.T) {
	const patience = 2 * time.Minute
	for name, remove := range map[string]func(*Store, ID) error{
		"segment": func(store *Store, id ID) error { return store.RemoveOne(id, 2) },
		"file": func(store *Store, id ID) error {
			_, err := store.Remove(id.File)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := withRoom(t, t.TempDir(), mostSumsBytes)
			defer store.Close()
			removed, other := numbered(1), numbered(2)
			for _, id := range []ID{removed, other} {
				if _, err := store.Append(id, 1, 0, []byte("sluice")); err != nil {
					t.Fatal(err)
				}
			}
			// No sync of a directory begins before that.
			store.parents.mutex.Lock()
			ended, added := make(chan error, 1), make(chan error, 1)
			go func() { ended <- remove(store, removed) }()
			process.Eventually(t, func() error {
				if _, err := os.Stat(directoryOf(store.root, removed.File)); !errors.Is(err, os.ErrNotExist) {
					return fmt.Errorf("it is not removed: %w", err)
				}
				return nil
			})
			go func() {
				_, err := store.Append(other, 1, 6, []byte("sluice"))
				added <- err
			}()
			select {
			case err := <-added:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(patience):
				t.Error("another segment waits as well")
			}
			store.parents.mutex.Unlock()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
