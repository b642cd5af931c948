package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pgregory.net/rapid"

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

// TestModel compares a store, which is closed and opened again at any time, with what segments are: bytes.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		directory, err := os.MkdirTemp("", "segments")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(directory)
		model := &model{directory: directory, segments: make(map[segment.ID]*modelled)}
		if model.store, err = segment.OpenStore(directory, segment.Options{}); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = model.store.Close() }()
		t.Repeat(rapid.StateMachineActions(model))
	})
}

type modelled struct {
	content []byte
	epoch   uint64
	sealed  bool
}

type model struct {
	directory string
	store     *segment.Store
	segments  map[segment.ID]*modelled
}

func (m *model) draw(t *rapid.T) (segment.ID, *modelled, uint64) {
	id := anyID(rapid.IntRange(0, 2).Draw(t, "slot"), rapid.IntRange(0, 1).Draw(t, "copy"))
	known := m.segments[id]
	epoch := rapid.Uint64Range(1, 4).Draw(t, "epoch")
	return id, known, epoch
}

func (m *model) expect(t *rapid.T, id segment.ID, want segment.Reason, err error) bool {
	if got := reasonOf(err); got != want {
		t.Fatalf("%s: got %v, wanted failure %d", id, err, want)
	}
	return want == 0
}

// changed is what every change does to a segment, and how it fails whatever it is.
func (known *modelled) take(epoch uint64) segment.Reason {
	switch {
	case known == nil:
		return segment.NotFound
	case epoch < known.epoch:
		return segment.Fenced
	case !known.sealed:
		known.epoch = epoch
	}
	return 0
}

func (m *model) Append(t *rapid.T) {
	id, known, epoch := m.draw(t)
	length := 0
	if known != nil {
		length = len(known.content)
	}
	offset := rapid.IntRange(max(0, length-5000), length+1).Draw(t, "offset")
	data := rapid.SliceOfN(rapid.ByteRange(0, 1), 0, 9000).Draw(t, "data")
	if known == nil && offset == 0 {
		known = &modelled{epoch: epoch}
		m.segments[id] = known
	}
	_, err := m.store.Append(id, epoch, int64(offset), data)
	want := known.take(epoch)
	if want == 0 {
		want = known.append(offset, data)
	}
	m.expect(t, id, want, err)
}

func (known *modelled) append(offset int, data []byte) segment.Reason {
	if offset > len(known.content) {
		return segment.Short
	}
	overlap := data[:min(len(data), len(known.content)-offset)]
	if !bytes.HasPrefix(known.content[offset:], overlap) {
		return segment.Different
	}
	if rest := data[len(overlap):]; len(rest) > 0 {
		if known.sealed {
			return segment.Sealed
		}
		known.content = append(known.content, rest...)
	}
	return 0
}

func (m *model) Seal(t *rapid.T) {
	id, known, epoch := m.draw(t)
	length := 0
	if known != nil {
		length = rapid.IntRange(0, len(known.content)+1).Draw(t, "length")
	}
	if known == nil {
		known = &modelled{epoch: epoch}
		m.segments[id] = known
	}
	_, err := m.store.Seal(id, epoch, int64(length))
	want := known.take(epoch)
	switch {
	case want != 0:
	case length > len(known.content):
		want = segment.Short
	case known.sealed && length < len(known.content):
		want = segment.Sealed
	default:
		known.sealed, known.content = true, known.content[:length]
	}
	m.expect(t, id, want, err)
}

func (m *model) Fence(t *rapid.T) {
	id, known, epoch := m.draw(t)
	_, err := m.store.Fence(id, epoch)
	m.expect(t, id, known.take(epoch), err)
}

func (m *model) Sync(t *rapid.T) {
	id, known, epoch := m.draw(t)
	_, err := m.store.Sync(id, epoch)
	m.expect(t, id, known.take(epoch), err)
}

func (m *model) Reopen(t *rapid.T) {
	if err := m.store.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.store, err = segment.OpenStore(m.directory, segment.Options{}); err != nil {
		t.Fatal(err)
	}
}

func (m *model) Remove(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "seldom") > 0 {
		t.Skip()
	}
	removed, err := m.store.Remove(anyID(0, 0).File)
	if err != nil || removed != len(m.segments) {
		t.Fatalf("removed %d of %d segments: %v", removed, len(m.segments), err)
	}
	clear(m.segments)
}

// Check reads all of it.
func (m *model) Check(t *rapid.T) {
	states, more, err := m.store.List(layout.FileID{}, 10)
	if err != nil || more || len(states) != len(m.segments) {
		t.Fatalf("listed %d of %d segments, more: %v: %v", len(states), len(m.segments), more, err)
	}
	for _, state := range states {
		known := m.segments[state.ID]
		if known == nil || state.Length != int64(len(known.content)) || state.Sealed != known.sealed || state.Epoch != known.epoch {
			t.Fatalf("%+v is listed, and the segment is %+v", state, known)
		}
		begin := rapid.IntRange(0, len(known.content)).Draw(t, "begin")
		got := make([]byte, rapid.IntRange(0, len(known.content)+10).Draw(t, "bytes"))
		n, err := m.store.Read(state.ID, int64(begin), got)
		if want := known.content[begin:min(begin+len(got), len(known.content))]; err != nil || !bytes.Equal(got[:n], want) {
			t.Fatalf("%s: read %d bytes at %d: %v", state.ID, n, begin, err)
		}
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
