package stripe_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
)

const blockBytes = 4 * segment.PageBytes

// options let little be under way, so that tests come to the bounds, and a server take as long as it likes.
func options() stripe.Options {
	return stripe.Options{WriteRequests: 4, WriteBytes: 3 * blockBytes, ReadRequests: 3, RequestBytes: blockBytes / 2, Patience: time.Hour}
}

// impatient is for tests that wait for a server which does not answer.
func impatient() stripe.Options {
	impatient := options()
	impatient.Patience = 3 * time.Second
	return impatient
}

// trial is a file in a pool, with what its writer has told of lost segments.
type trial struct {
	t    testing.TB
	pool *pooltest.Pool
	file stripe.File

	mutex sync.Mutex
	lost  map[stripe.Place]error
}

var lastID byte

func newTrial(t testing.TB, pool *pooltest.Pool, servers []string, copies int) *trial {
	t.Helper()
	lastID++
	id := layout.FileID{lastID}
	placed, err := layout.Place(id, servers, copies)
	if err != nil {
		t.Fatal(err)
	}
	return &trial{t: t, pool: pool, lost: make(map[stripe.Place]error), file: stripe.File{
		ID: id, Stripes: layout.Stripes{BlockBytes: blockBytes, Slots: len(servers)}, Servers: placed,
	}}
}

func (tr *trial) lose(_ context.Context, place stripe.Place, cause error) error {
	tr.mutex.Lock()
	defer tr.mutex.Unlock()
	tr.lost[place] = cause
	return nil
}

func (tr *trial) write(epoch uint64, options stripe.Options) *stripe.Writer {
	tr.t.Helper()
	writer, err := stripe.NewWriter(tr.t.Context(), tr.file, epoch, tr.pool.Service, options, tr.lose)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(writer.Close)
	return writer
}

// leave has a file as of a writer that is gone once it has synced.
func (tr *trial) leave(content []byte) {
	tr.t.Helper()
	writer := tr.write(1, options())
	mustAppend(tr.t, writer, content)
	if _, err := writer.Sync(); err != nil {
		tr.t.Fatal(err)
	}
	writer.Close()
}

// reader reads without what was lost.
func (tr *trial) reader(length int, damaged stripe.Damaged) *stripe.Reader {
	tr.t.Helper()
	file := tr.file
	file.Missing = make(map[stripe.Place]bool)
	for place := range tr.lost {
		file.Missing[place] = true
	}
	reader, err := stripe.NewReader(file, int64(length), tr.pool.Service, options(), stripe.NewSuspects(time.Now), damaged)
	if err != nil {
		tr.t.Fatal(err)
	}
	return reader
}

func (tr *trial) mustHave(content []byte) {
	tr.t.Helper()
	undamaged := func(place stripe.Place, cause error) { tr.t.Errorf("%v is damaged: %v", place, cause) }
	got := make([]byte, len(content))
	if n, err := tr.reader(len(content), undamaged).ReadAt(tr.t.Context(), got, 0); err != nil || !bytes.Equal(got, content) {
		tr.t.Errorf("read %d of %d bytes, equal: %v: %v", n, len(content), bytes.Equal(got, content), err)
	}
}

// mustBeAlike compares each segment that was not lost with what it should be.
func (tr *trial) mustBeAlike(content []byte) {
	tr.t.Helper()
	want := make([][]byte, tr.file.Stripes.Slots)
	for _, piece := range tr.file.Stripes.Pieces(0, int64(len(content))) {
		want[piece.Slot] = append(want[piece.Slot], content[piece.FileOffset:piece.FileOffset+piece.Bytes]...)
	}
	for c, slots := range tr.file.Servers {
		for slot, node := range slots {
			if tr.lost[stripe.Place{Slot: slot, Copy: c}] != nil {
				continue
			}
			if got := tr.segment(node, slot, c); !bytes.Equal(got, want[slot]) {
				tr.t.Errorf("slot %d copy %d on %s has %d bytes, which are not the %d of the file", slot, c, node, len(got), len(want[slot]))
			}
		}
	}
}

// segment is what a server has of a sealed one: nothing where there is none, as of a slot that no byte has come to.
func (tr *trial) segment(node string, slot, copyNumber int) []byte {
	tr.t.Helper()
	paths, err := filepath.Glob(filepath.Join(tr.pool.Servers[node].Directory, "*", tr.file.ID.String(), "*.sealed"))
	if err != nil {
		tr.t.Fatal(err)
	}
	prefix := string(rune('0'+slot)) + "." + string(rune('0'+copyNumber)) + "."
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), prefix) {
			content, err := os.ReadFile(path)
			if err != nil {
				tr.t.Fatal(err)
			}
			return content
		}
	}
	return nil
}

func some(length int) []byte {
	random := rand.NewChaCha8([32]byte{1})
	content := make([]byte, length)
	_, _ = random.Read(content)
	return content
}

func mustAppend(t testing.TB, writer *stripe.Writer, data []byte) {
	t.Helper()
	if err := writer.Append(data); err != nil {
		t.Fatal(err)
	}
}

func mustSeal(t testing.TB, writer *stripe.Writer, want int) {
	t.Helper()
	if length, err := writer.Seal(); err != nil || length != int64(want) {
		t.Fatalf("sealed with %d bytes of %d: %v", length, want, err)
	}
}

func removeFile(t testing.TB, service sluicev1.BlockServiceClient, file layout.FileID) {
	t.Helper()
	if _, err := service.RemoveFile(t.Context(), &sluicev1.RemoveFileRequest{FileId: file[:]}); err != nil {
		t.Fatal(err)
	}
}
