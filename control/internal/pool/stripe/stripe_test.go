package stripe_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/wire"
)

// TestFilesAreReadAsWritten: any appends, syncs and reads, on any number of servers.
func TestFilesAreReadAsWritten(t *testing.T) {
	pool := pooltest.New(t, 5)
	names := slices.Sorted(slices.Values(pool.Names()))
	rapid.Check(t, func(rt *rapid.T) {
		servers := names[:rapid.IntRange(1, 5).Draw(rt, "servers")]
		tr := newTrial(t, pool, servers, rapid.IntRange(1, min(3, len(servers))).Draw(rt, "copies"))
		content := some(rapid.IntRange(0, 20*blockBytes).Draw(rt, "length"))
		writer := tr.write(1, options())
		for rest := content; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "append")
			mustAppend(t, writer, rest[:n])
			rest = rest[n:]
			if rapid.Bool().Draw(rt, "sync") {
				want := int64(len(content) - len(rest))
				if length, err := writer.Sync(); err != nil || length != want {
					rt.Fatalf("synced %d bytes of %d: %v", length, want, err)
				}
				tr.mustHave(content[:want])
			}
		}
		mustSeal(t, writer, len(content))
		writer.Close()
		tr.mustBeAlike(content)

		reader := tr.reader(len(content), func(stripe.Place, error) {})
		offset := rapid.IntRange(0, len(content)).Draw(rt, "offset")
		got := make([]byte, rapid.IntRange(0, len(content)).Draw(rt, "read"))
		n, err := reader.ReadAt(t.Context(), got, int64(offset))
		want := content[offset:min(offset+len(got), len(content))]
		if isShort := len(want) < len(got); !bytes.Equal(got[:n], want) || isShort != errors.Is(err, io.EOF) || !isShort && err != nil {
			rt.Fatalf("read %d of %d bytes at %d of %d: %v", n, len(got), offset, len(content), err)
		}
		scanner := stripe.NewScanner(t.Context(), reader, int64(offset))
		defer scanner.Close()
		if all, err := io.ReadAll(scanner); err != nil || !bytes.Equal(all, content[offset:]) {
			rt.Fatalf("scanned %d bytes from %d of %d: %v", len(all), offset, len(content), err)
		}
	})
}

// TestServerThatComesBackMissesNothing stops servers one after the other while a file is written.
func TestServerThatComesBackMissesNothing(t *testing.T) {
	pool := pooltest.New(t, 3)
	tr := newTrial(t, pool, pool.Names(), 2)
	writer := tr.write(1, options())
	content := some(60 * blockBytes)
	for i, name := range pool.Names() {
		part := content[i*20*blockBytes : (i+1)*20*blockBytes]
		mustAppend(t, writer, part[:blockBytes])
		pool.Servers[name].Stop()
		appended := make(chan error, 1)
		go func() { appended <- writer.Append(part[blockBytes:]) }()
		pool.Servers[name].Start()
		if err := <-appended; err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	mustSeal(t, writer, len(content))
	if len(tr.lost) > 0 {
		t.Errorf("lost %v", tr.lost)
	}
	tr.mustHave(content)
	tr.mustBeAlike(content)
}

// TestServerThatIsGoneIsDoneWithout: what was synced is read from the others, and the writer has told what
// not to read. A cut network is like a server that is gone.
func TestServerThatIsGoneIsDoneWithout(t *testing.T) {
	for name, end := range map[string]func(*pooltest.Server){
		"stopped": (*pooltest.Server).Stop, "cut off": (*pooltest.Server).Cut,
	} {
		t.Run(name, func(t *testing.T) {
			pool := pooltest.New(t, 3)
			tr := newTrial(t, pool, pool.Names(), 2)
			writer := tr.write(1, impatient())
			content := some(30 * blockBytes)
			mustAppend(t, writer, content[:5*blockBytes])
			if _, err := writer.Sync(); err != nil {
				t.Fatal(err)
			}
			end(pool.Servers["pool2"])
			mustAppend(t, writer, content[5*blockBytes:])
			mustSeal(t, writer, len(content))
			if len(tr.lost) != 2 {
				t.Errorf("lost %v, and pool2 had two segments", tr.lost)
			}
			for place := range tr.lost {
				if node := tr.file.Servers[place.Copy][place.Slot]; node != "pool2" {
					t.Errorf("%v on %s was lost: %v", place, node, tr.lost[place])
				}
			}
			tr.mustHave(content)
			tr.mustBeAlike(content)
		})
	}
}

// TestLastCopyIsNotDoneWithout: without copies, a lost server is an error, and it stays one.
func TestLastCopyIsNotDoneWithout(t *testing.T) {
	pool := pooltest.New(t, 2)
	tr := newTrial(t, pool, pool.Names(), 1)
	writer := tr.write(1, impatient())
	pool.Servers["pool1"].Stop()
	_ = writer.Append(some(2 * blockBytes))
	if length, err := writer.Sync(); err == nil {
		t.Errorf("%d bytes are said to be synced", length)
	}
	if err := writer.Append([]byte("more")); err == nil {
		t.Error("the writer goes on")
	}
	if len(tr.lost) > 0 {
		t.Errorf("%v is said to be lost, as if there were others", tr.lost)
	}
}

// TestLossThatCannotBeToldEndsTheWriter: else a reader would take a copy for good that is not.
func TestLossThatCannotBeToldEndsTheWriter(t *testing.T) {
	pool := pooltest.New(t, 2)
	tr := newTrial(t, pool, pool.Names(), 2)
	untold := errors.New("nobody answers")
	writer, err := stripe.NewWriter(t.Context(), tr.file, 1, pool.Service, impatient(),
		func(context.Context, stripe.Place, error) error { return untold })
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	pool.Servers["pool1"].Stop()
	_ = writer.Append(some(2 * blockBytes))
	if _, err := writer.Sync(); !errors.Is(err, untold) {
		t.Errorf("the sync has ended with %v", err)
	}
}

// TestWriterThatWasTakenOverIsEnded: it tells of no loss, for it knows nothing of the file any more.
func TestWriterThatWasTakenOverIsEnded(t *testing.T) {
	pool := pooltest.New(t, 3)
	tr := newTrial(t, pool, pool.Names(), 2)
	before := tr.write(1, options())
	content := some(9 * blockBytes)
	mustAppend(t, before, content)
	if _, err := before.Sync(); err != nil {
		t.Fatal(err)
	}
	after := tr.write(2, options())
	mustAppend(t, after, content)
	mustSeal(t, after, len(content))

	_ = before.Append(content)
	var failure *segment.Failure
	if _, err := before.Sync(); !errors.As(err, &failure) || failure.Reason != segment.Fenced {
		t.Errorf("the sync of the writer before has ended with %v", err)
	}
	if len(tr.lost) > 0 {
		t.Errorf("lost %v", tr.lost)
	}
	tr.mustHave(content)
	tr.mustBeAlike(content)
}

// TestRottenCopyIsReadFromTheOther and told.
func TestRottenCopyIsReadFromTheOther(t *testing.T) {
	pool := pooltest.New(t, 2)
	tr := newTrial(t, pool, pool.Names(), 2)
	writer := tr.write(1, options())
	content := some(4 * blockBytes)
	mustAppend(t, writer, content)
	mustSeal(t, writer, len(content))
	rotten := tr.file.Servers[0][1]
	path, err := filepath.Glob(filepath.Join(pool.Servers[rotten].Directory, "*", tr.file.ID.String(), "1.0.*.sealed"))
	if err != nil || len(path) != 1 {
		t.Fatal(path, err)
	}
	bad := tr.segment(rotten, 1, 0)
	bad[10] ^= 4
	if err := os.WriteFile(path[0], bad, 0o600); err != nil {
		t.Fatal(err)
	}

	told := make(map[stripe.Place]error)
	var mutex sync.Mutex
	reader := tr.reader(len(content), func(place stripe.Place, cause error) {
		mutex.Lock()
		defer mutex.Unlock()
		told[place] = cause
	})
	got := make([]byte, len(content))
	if _, err := reader.ReadAt(t.Context(), got, 0); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("equal: %v: %v", bytes.Equal(got, content), err)
	}
	var failure *segment.Failure
	if !errors.As(told[stripe.Place{Slot: 1}], &failure) || failure.Reason != segment.Corrupt || len(told) != 1 {
		t.Errorf("told %v", told)
	}
}

// TestServersListAndRemove what is on them, over the network.
func TestServersListAndRemove(t *testing.T) {
	pool := pooltest.New(t, 1)
	service, err := pool.Service("pool1")
	if err != nil {
		t.Fatal(err)
	}
	const files = 40
	for range files {
		tr := newTrial(t, pool, pool.Names(), 1)
		writer := tr.write(1, options())
		mustAppend(t, writer, []byte("content"))
		mustSeal(t, writer, len("content"))
	}
	listed, request := 0, &sluicev1.ListSegmentsRequest{}
	for {
		page, err := service.ListSegments(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range page.GetSegments() {
			state, err := wire.DecodeSegmentState(message)
			if err != nil || !state.Sealed || state.Length != int64(len("content")) {
				t.Errorf("%+v: %v", state, err)
			}
			listed++
			request.AfterFileId = state.ID.File[:]
		}
		if !page.GetMore() {
			break
		}
	}
	if listed != files {
		t.Errorf("listed %d segments of %d", listed, files)
	}
	for _, want := range []uint32{1, 0} {
		removed, err := service.RemoveFile(t.Context(), &sluicev1.RemoveFileRequest{FileId: request.GetAfterFileId()})
		if err != nil || removed.GetSegments() != want {
			t.Errorf("removed %d segments, not %d: %v", removed.GetSegments(), want, err)
		}
	}
	space, err := service.GetBlockSpace(t.Context(), &sluicev1.GetBlockSpaceRequest{})
	if err != nil || space.GetFreeBytes() == 0 || space.GetFreeBytes() > space.GetTotalBytes() {
		t.Errorf("%v: %v", space, err)
	}
}

// TestSyncIsOfAllThatWasAnswered: a machine that loses power between two requests has no longer what was not on its disk, and
// its server does not know.
func TestSyncIsOfAllThatWasAnswered(t *testing.T) {
	pool := pooltest.New(t, 2)
	tr := newTrial(t, pool, pool.Names(), 2)
	oneByOne := options()
	oneByOne.WriteRequests, oneByOne.RequestBytes = 1, blockBytes
	writer := tr.write(1, oneByOne)
	content := some(2 * blockBytes)
	// Each server has both slots, so that the second block waits for the answers to the first.
	mustAppend(t, writer, content)
	node := tr.file.Servers[0][0]
	server := pool.Servers[node]
	server.Stop()
	paths, err := filepath.Glob(filepath.Join(server.Directory, "*", tr.file.ID.String(), "0.0.*.open"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("segments of slot 0: %q: %v", paths, err)
	}
	if err := os.Truncate(paths[0], blockBytes/2); err != nil {
		t.Fatal(err)
	}
	server.Start()

	length, err := writer.Sync()
	if err != nil || length != int64(len(content)) {
		t.Fatalf("synced %d bytes of %d: %v", length, len(content), err)
	}
	if cause := tr.lost[stripe.Place{Slot: 0, Copy: 0}]; segment.ReasonOf(cause) != segment.Short {
		t.Errorf("the segment that is short was lost for %v", cause)
	}
	tr.mustHave(content)
}
