package repair_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/repair"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/wire"
)

const blockBytes = segment.PageBytes

// lossPatience is for tests that wait for a server which does not answer.
const lossPatience = 10 * time.Second

// world is a pool with one volume, and what was written to its files.
type world struct {
	t        *testing.T
	pool     *pooltest.Pool
	metadata *metadata.Client
	// patience is long, so that a server on a slow disk is not taken for a lost one.
	patience time.Duration

	mutex    sync.Mutex
	contents map[entry.FileID][]byte
}

func newWorld(t *testing.T, servers int) *world {
	t.Helper()
	w := &world{t: t, pool: pooltest.New(t, servers), patience: time.Minute, contents: make(map[entry.FileID][]byte)}
	_, w.metadata = pooltest.NewMetadata(t, w.pool.Authority, 1)
	if err := w.metadata.CreateVolume(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) options() stripe.Options {
	options := stripe.DefaultOptions()
	options.RequestBytes, options.Patience = blockBytes/2, w.patience
	return options
}

// attachImpatient has a store write that goes on soon without a server which does not answer. Who repairs is patient all the same.
func (w *world) attachImpatient(servers ...string) *files.Session {
	w.t.Helper()
	patience := w.patience
	w.patience = lossPatience
	defer func() { w.patience = patience }()
	return w.attach(servers...)
}

// attach has a store write to some of the servers.
func (w *world) attach(servers ...string) *files.Session {
	w.t.Helper()
	session, err := files.Attach(w.t.Context(), files.Config{
		Volume: "orders", Path: "/", Holder: "store", TimeToLive: time.Minute,
		Servers: servers, Copies: 2, BlockBytes: blockBytes, Options: w.options(), Suspects: stripe.NewSuspects(time.Now),
	}, w.metadata, w.pool.Service, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = session.Detach(context.Background()) })
	return session
}

func some(number, length int) []byte {
	content := make([]byte, length)
	_, _ = rand.NewChaCha8([32]byte{byte(number)}).Read(content)
	return content
}

// put writes a file, and begins anew where the loss of both servers of a slot has ended it.
func (w *world) put(session *files.Session, path string, content []byte) error {
	writer, err := session.Create(context.Background(), path)
	if err != nil {
		return err
	}
	defer writer.Close()
	w.mutex.Lock()
	w.contents[writer.ID()] = content
	w.mutex.Unlock()
	return errors.Join(writer.Append(content), writer.Seal(context.Background()))
}

// putSome writes files of several lengths.
func (w *world) putSome(session *files.Session, count int) {
	w.t.Helper()
	for i := range count {
		if err := w.put(session, fmt.Sprintf("/%06d.sst", i), some(i, i*3*blockBytes/2+i)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// repairer is a process that repairs.
func (w *world) repairer(services stripe.Services, servers ...string) *repair.Repairer {
	return repair.New(w.config(servers...), w.metadata, services, repair.NewMetrics(prometheus.NewRegistry()), slog.New(slog.DiscardHandler))
}

func (w *world) config(servers ...string) repair.Config {
	return repair.Config{
		Holder: "repair", TimeToLive: time.Minute, Servers: servers, BytesPerSecond: 1 << 40, BalanceTolerance: 1,
		PassTime: time.Hour, Options: w.options(),
	}
}

// settle makes passes until one has nothing to do any more: what a pass has left or found is for the next one.
func (w *world) settle(repairer *repair.Repairer) {
	w.t.Helper()
	for range 3 {
		for isDone := false; !isDone; {
			var err error
			if isDone, err = repairer.Pass(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if err := repairer.Close(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) allFiles() []entry.File {
	w.t.Helper()
	all, more, err := w.metadata.Files(w.t.Context(), entry.Page[*entry.FileID]{})
	if err != nil || more {
		w.t.Fatal(more, err)
	}
	return all
}

// held is what a server has, once it can be reached.
func (w *world) held(node string) map[segment.ID]segment.State {
	w.t.Helper()
	service, err := w.pool.Service(node)
	if err != nil {
		w.t.Fatal(err)
	}
	held := make(map[segment.ID]segment.State)
	request := &sluicev1.ListSegmentsRequest{}
	for {
		page, err := service.ListSegments(w.t.Context(), request, grpc.WaitForReady(true))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, each := range page.GetSegments() {
			state, err := wire.DecodeSegmentState(each)
			if err != nil {
				w.t.Fatal(err)
			}
			held[state.ID] = state
			request.AfterFileId = each.GetSegment().GetFileId()
		}
		if !page.GetMore() {
			return held
		}
	}
}

// mustBeWhole compares all that the servers have with what was written and what the metadata says: every slot has its
// copies on servers of these that differ, with the content, and there is nothing else.
func (w *world) mustBeWhole(servers ...string) {
	w.t.Helper()
	held := make(map[string]map[segment.ID]segment.State)
	for _, server := range servers {
		held[server] = w.held(server)
	}
	for _, file := range w.allFiles() {
		if !file.Sealed || len(file.Missing) > 0 {
			w.t.Errorf("the file %s is sealed: %v, and lacks %v", file.ID, file.Sealed, file.Missing)
		}
		w.mustHaveCopies(file, held)
	}
	for server, left := range held {
		for id := range left {
			w.t.Errorf("%s has %s, which no file has there", server, id)
		}
	}
}

// mustHaveWhatIsListed looks at all segments that the metadata has on some servers, and that may be read.
func (w *world) mustHaveWhatIsListed(servers ...string) {
	w.t.Helper()
	for _, file := range w.allFiles() {
		for number, slots := range file.Layout.Servers {
			for slot, server := range slots {
				isMissing := slices.Contains(file.Missing, entry.Place{Slot: uint32(slot), Copy: uint32(number)})
				if slices.Contains(servers, server) && !isMissing {
					w.mustHold(server, segment.ID{File: file.ID, Slot: slot, Copy: number}, w.segmentOf(file, slot))
				}
			}
		}
	}
}

// mustHaveCopies takes what the file has from what is held.
func (w *world) mustHaveCopies(file entry.File, held map[string]map[segment.ID]segment.State) {
	w.t.Helper()
	for slot := range file.Layout.Slots() {
		on := make(map[string]bool)
		for number, slots := range file.Layout.Servers {
			server := slots[slot]
			on[server] = true
			id := segment.ID{File: file.ID, Slot: slot, Copy: number}
			// A slot that no byte has come to needs no segment.
			isEmpty := len(w.segmentOf(file, slot)) == 0
			if state, isThere := held[server][id]; !isThere && !isEmpty || isThere && (!state.Sealed || state.Damaged) {
				w.t.Errorf("%s should have %s, and has %+v", server, id, state)
				continue
			}
			delete(held[server], id)
			w.mustHold(server, id, w.segmentOf(file, slot))
		}
		if len(on) != len(file.Layout.Servers) {
			w.t.Errorf("the slot %d of %s has its copies on %v", slot, file.ID, slices.Collect(maps.Keys(on)))
		}
	}
}

// segmentOf is what was written to a slot.
func (w *world) segmentOf(file entry.File, slot int) []byte {
	w.mutex.Lock()
	content := w.contents[file.ID]
	w.mutex.Unlock()
	var written []byte
	stripes := layout.Stripes{BlockBytes: int64(file.Layout.BlockBytes), Slots: file.Layout.Slots()}
	for _, piece := range stripes.Pieces(0, int64(len(content))) {
		if piece.Slot == slot {
			written = append(written, content[piece.FileOffset:piece.FileOffset+piece.Bytes]...)
		}
	}
	return written
}

func (w *world) mustHold(server string, id segment.ID, want []byte) {
	w.t.Helper()
	if len(want) == 0 {
		return
	}
	service, err := w.pool.Service(server)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := service.ReadSegment(w.t.Context(), &sluicev1.ReadSegmentRequest{
		Segment: wire.EncodeSegmentID(id), LengthBytes: segment.MaxRequestBytes,
	})
	if err != nil || answer.GetProblem() != nil || !bytes.Equal(answer.GetData(), want) {
		w.t.Errorf("%s has %d bytes of %s, which are not the %d that were written: %v: %v",
			server, len(answer.GetData()), id, len(want), answer.GetProblem(), err)
	}
}

// mustRead reads all files through what the metadata says.
func (w *world) mustRead(session *files.Session) {
	w.t.Helper()
	names, err := session.List(w.t.Context(), "/")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, name := range names {
		reader, err := session.Open(w.t.Context(), "/"+name.Name)
		if err != nil {
			w.t.Fatal(err)
		}
		w.mustReadAll(reader)
	}
}

func (w *world) mustReadAll(reader *files.Reader) {
	w.t.Helper()
	w.mutex.Lock()
	want := w.contents[reader.ID]
	w.mutex.Unlock()
	got := make([]byte, len(want))
	if n, err := reader.ReadAt(w.t.Context(), got, 0); err != nil || !bytes.Equal(got[:n], want) {
		w.t.Errorf("the file %s is read as %d bytes of %d: %v", reader.ID, n, len(want), err)
	}
}

// eventually waits for what is told by nobody.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("never came about: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *world) hasRemovals() bool {
	w.t.Helper()
	removals, _, err := w.metadata.Removals(w.t.Context(), entry.Page[*entry.FileID]{})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(removals) > 0
}
