package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
)

func anyID(slot, copyNumber int) segment.ID {
	return segment.ID{File: layout.FileID{0xab, 1, 2}, Slot: slot, Copy: copyNumber}
}

func open(t testing.TB, directory string) *segment.Store {
	t.Helper()
	store, err := segment.OpenStore(directory, segment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func reasonOf(err error) segment.Reason {
	var failure *segment.Failure
	if errors.As(err, &failure) {
		return failure.Reason
	}
	return 0
}

func mustFail(t testing.TB, want segment.Reason, length int64, err error) {
	t.Helper()
	if reasonOf(err) != want {
		t.Errorf("got length %d and error %v, not the failure %d", length, err, want)
	}
}

func must(t testing.TB, want, length int64, err error) {
	t.Helper()
	if err != nil || length != want {
		t.Fatalf("got length %d and error %v, not length %d", length, err, want)
	}
}

func mustRead(t testing.TB, store *segment.Store, id segment.ID, offset int64, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	n, err := store.Read(id, offset, got)
	if err != nil || !bytes.Equal(got[:n], want) {
		t.Fatalf("read %d bytes at %d: %v; wanted %d others", n, offset, err, len(want))
	}
}

// TestFencedWriterChangesNothing: also not on a store that was opened again since.
func TestFencedWriterChangesNothing(t *testing.T) {
	directory := t.TempDir()
	store := open(t, directory)
	length, err := store.Append(anyID(0, 0), 3, 0, []byte("mine"))
	must(t, 4, length, err)
	length, err = store.Fence(anyID(0, 0), 5)
	must(t, 4, length, err)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = open(t, directory)
	defer store.Close()
	length, err = store.Append(anyID(0, 0), 4, 4, []byte("yours"))
	mustFail(t, segment.Fenced, length, err)
	length, err = store.Seal(anyID(0, 0), 4, 0)
	mustFail(t, segment.Fenced, length, err)
	mustRead(t, store, anyID(0, 0), 0, []byte("mine"))
}

// TestRottenPagesAreNotRead changes one bit of each page in turn, on the disk.
func TestRottenPagesAreNotRead(t *testing.T) {
	directory := t.TempDir()
	content := bytes.Repeat([]byte("0123456789abcdef"), 1000)
	store := open(t, directory)
	defer func() { _ = store.Close() }()
	length, err := store.Append(anyID(1, 0), 1, 0, content)
	must(t, int64(len(content)), length, err)
	length, err = store.Seal(anyID(1, 0), 1, int64(len(content)))
	must(t, int64(len(content)), length, err)

	path := filepath.Join(directory, "ab", anyID(1, 0).File.String(), "1.0.1.sealed")
	for page := 0; page*segment.PageBytes < len(content); page++ {
		at := int64(min(page*segment.PageBytes+77, len(content)-1))
		flip(t, path, at)
		n, err := store.Read(anyID(1, 0), at, make([]byte, 1))
		mustFail(t, segment.Corrupt, int64(n), err)
		n, err = store.Read(anyID(1, 0), 0, make([]byte, len(content)))
		mustFail(t, segment.Corrupt, int64(n), err)
		if page > 0 {
			mustRead(t, store, anyID(1, 0), 0, content[:10])
		}
		flip(t, path, at)
	}
	mustRead(t, store, anyID(1, 0), 0, content)

	sums := path + ".sums"
	flip(t, sums, 20)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = open(t, directory)
	_, err = store.Read(anyID(1, 0), 0, make([]byte, 1))
	mustFail(t, segment.Corrupt, 0, err)
	flip(t, sums, 20)
	mustRead(t, store, anyID(1, 0), 0, content)
}

func flip(t *testing.T, path string, at int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	one := make([]byte, 1)
	if _, err := file.ReadAt(one, at); err != nil {
		t.Fatal(err)
	}
	one[0] ^= 1
	if _, err := file.WriteAt(one, at); err != nil {
		t.Fatal(err)
	}
}

// TestHalfMadeFilesAreRemoved: a crash while checksums are written leaves the segment open.
func TestHalfMadeFilesAreRemoved(t *testing.T) {
	directory := t.TempDir()
	store := open(t, directory)
	length, err := store.Append(anyID(0, 1), 7, 0, []byte("abc"))
	must(t, 3, length, err)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(directory, "ab", anyID(0, 1).File.String(), "0.1.7.sealed.sums.new")
	if err := os.WriteFile(half, []byte("SLUICE"), 0o600); err != nil {
		t.Fatal(err)
	}
	store = open(t, directory)
	defer store.Close()
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", half, err)
	}
	length, err = store.Seal(anyID(0, 1), 7, 3)
	must(t, 3, length, err)
	mustRead(t, store, anyID(0, 1), 0, []byte("abc"))
}

func TestOneProcessHasAStore(t *testing.T) {
	directory := t.TempDir()
	store := open(t, directory)
	if second, err := segment.OpenStore(directory, segment.Options{}); err == nil {
		_ = second.Close()
		t.Error("a second one was opened")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	_ = open(t, directory).Close()
}

// TestDirectoriesWithoutSegments fill no page of a list: nobody could go on after it.
func TestDirectoriesWithoutSegments(t *testing.T) {
	directory := t.TempDir()
	store := open(t, directory)
	defer store.Close()
	id := segment.ID{File: layout.FileID{0xab, 9}}
	length, err := store.Append(id, 1, 0, []byte("mine"))
	must(t, 4, length, err)
	for i := range byte(5) {
		if err := os.Mkdir(filepath.Join(directory, "ab", layout.FileID{0xab, i}.String()), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	states, more, err := store.List(layout.FileID{}, 2)
	if err != nil || more || len(states) != 1 || states[0].ID != id {
		t.Errorf("listed are %+v, more %t: %v", states, more, err)
	}
}

// TestFreeBytesAreLeft: a store that may take nothing takes nothing, and goes on with what it has.
func TestFreeBytesAreLeft(t *testing.T) {
	directory := t.TempDir()
	store := open(t, directory)
	length, err := store.Append(anyID(0, 0), 1, 0, []byte("before"))
	must(t, 6, length, err)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	const more = 1 << 60
	store, err = segment.OpenStore(directory, segment.Options{FreeBytes: more})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	length, err = store.Append(anyID(0, 0), 1, 6, []byte("after"))
	mustFail(t, segment.Full, length, err)
	length, err = store.Append(anyID(1, 0), 1, 0, []byte("after"))
	mustFail(t, segment.Full, length, err)
	mustRead(t, store, anyID(0, 0), 0, []byte("before"))
	length, err = store.Seal(anyID(0, 0), 1, 6)
	must(t, 6, length, err)
}

// TestManyAtOnce has readers beside writers of segments that are sealed and removed meanwhile.
func TestManyAtOnce(t *testing.T) {
	store := open(t, t.TempDir())
	defer store.Close()
	var all sync.WaitGroup
	for writer := range 4 {
		all.Go(func() {
			for round := range 20 {
				id := segment.ID{File: layout.FileID{byte(writer), byte(round)}, Slot: writer}
				if err := writeAndRead(store, id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func writeAndRead(store *segment.Store, id segment.ID) error {
	page := bytes.Repeat([]byte{byte(id.Slot + 1)}, 3000)
	for i := range 10 {
		if _, err := store.Append(id, 1, int64(i*len(page)), page); err != nil {
			return err
		}
	}
	var readers sync.WaitGroup
	failures := make(chan error, 2)
	for range 2 {
		readers.Go(func() {
			got := make([]byte, 10*len(page))
			n, err := store.Read(id, 0, got)
			if err != nil || !bytes.Equal(got[:n], bytes.Repeat(page, 10)) {
				failures <- fmt.Errorf("%s: %d bytes: %w", id, n, err)
			}
		})
	}
	if _, err := store.Seal(id, 1, int64(10*len(page))); err != nil {
		return err
	}
	readers.Wait()
	close(failures)
	if err := <-failures; err != nil {
		return err
	}
	_, err := store.Remove(id.File)
	return err
}

// TestRottenPageThatIsCutStaysRotten: what is left of it must not have the checksum of what it has become.
func TestRottenPageThatIsCutStaysRotten(t *testing.T) {
	directory := t.TempDir()
	store := open(t, directory)
	defer store.Close()
	id, content := anyID(0, 0), make([]byte, 2*segment.PageBytes)
	length, err := store.Append(id, 1, 0, content)
	must(t, int64(len(content)), length, err)
	paths, err := filepath.Glob(filepath.Join(directory, "*", "*", "*.open"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%q: %v", paths, err)
	}
	rotten := bytes.Clone(content)
	rotten[segment.PageBytes+1]++
	if err := os.WriteFile(paths[0], rotten, 0o600); err != nil {
		t.Fatal(err)
	}
	const end = segment.PageBytes + 100
	length, err = store.Seal(id, 2, end)
	must(t, end, length, err)
	mustRead(t, store, id, 0, content[:segment.PageBytes])
	n, err := store.Read(id, segment.PageBytes, make([]byte, 100))
	mustFail(t, segment.Corrupt, int64(n), err)
}
