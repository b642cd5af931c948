package segment_test

import (
	"bytes"
	"os"
	"testing"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/tests/process"
)

// TestModel compares a store, which is closed and opened again at any time, with what segments are: bytes.
func TestModel(t *testing.T) {
	parent := process.MemoryDirectory(t)
	rapid.Check(t, func(t *rapid.T) {
		directory, err := os.MkdirTemp(parent, "segments")
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

func (m *model) RemoveOne(t *rapid.T) {
	id, known, epoch := m.draw(t)
	err := m.store.RemoveOne(id, epoch)
	if known != nil && epoch <= known.epoch {
		m.expect(t, id, segment.Fenced, err)
		return
	}
	m.expect(t, id, 0, err)
	delete(m.segments, id)
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
