package stripe_test

import (
	"errors"
	"os"
	"testing"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
)

func (tr *trial) recover(epoch uint64, synced int, options stripe.Options) (int64, error) {
	return stripe.Recover(tr.t.Context(), tr.file, epoch, int64(synced), tr.pool.Service, options, tr.lose)
}

// TestFileWithoutItsWriterIsEnded with all that was synced, and perhaps more, which is the same in all copies.
func TestFileWithoutItsWriterIsEnded(t *testing.T) {
	pool := pooltest.New(t, 3)
	rapid.Check(t, func(rt *rapid.T) {
		tr := newTrial(t, pool, pool.Names(), rapid.IntRange(1, 2).Draw(rt, "copies"))
		content := some(rapid.IntRange(0, 12*blockBytes).Draw(rt, "length"))
		synced := rapid.IntRange(0, len(content)).Draw(rt, "synced")
		writer := tr.write(1, options())
		mustAppend(t, writer, content[:synced])
		if _, err := writer.Sync(); err != nil {
			rt.Fatal(err)
		}
		mustAppend(t, writer, content[synced:])
		writer.Close()

		length, err := tr.recover(2, synced, options())
		if err != nil || length < int64(synced) || length > int64(len(content)) {
			rt.Fatalf("ended with %d bytes, of %d of which %d were synced: %v", length, len(content), synced, err)
		}
		if len(tr.lost) > 0 {
			rt.Fatalf("lost %v", tr.lost)
		}
		tr.mustHave(content[:length])
		tr.mustBeAlike(content[:length])
		if again, err := tr.recover(3, synced, options()); err != nil || again != length {
			rt.Fatalf("ended again with %d bytes, not %d: %v", again, length, err)
		}
	})
}

// TestFileIsEndedWithoutALostServer, whose segments are told, unless nothing else has what was synced.
func TestFileIsEndedWithoutALostServer(t *testing.T) {
	for copies, isEnded := range map[int]bool{1: false, 2: true} {
		pool := pooltest.New(t, 3)
		tr := newTrial(t, pool, pool.Names(), copies)
		content := some(9 * blockBytes)
		writer := tr.write(1, options())
		mustAppend(t, writer, content)
		if _, err := writer.Sync(); err != nil {
			t.Fatal(err)
		}
		writer.Close()
		pool.Servers["pool3"].Stop()
		length, err := tr.recover(2, len(content), options())
		if !isEnded {
			if err == nil || len(tr.lost) > 0 {
				t.Errorf("%d copy: ended with %d bytes, lost %v", copies, length, tr.lost)
			}
			continue
		}
		if err != nil || length != int64(len(content)) || len(tr.lost) != copies {
			t.Errorf("%d copies: ended with %d bytes, lost %v: %v", copies, length, tr.lost, err)
		}
		tr.mustHave(content)
		tr.mustBeAlike(content)
	}
}

// TestSegmentThatLacksWhatWasSyncedIsLost: as on a machine whose disk has lied.
func TestSegmentThatLacksWhatWasSyncedIsLost(t *testing.T) {
	pool := pooltest.New(t, 2)
	tr := newTrial(t, pool, pool.Names(), 2)
	content := some(4 * blockBytes)
	tr.leave(content)
	service, err := pool.Service(tr.file.Servers[1][0])
	if err != nil {
		t.Fatal(err)
	}
	removeFile(t, service, tr.file.ID)
	length, err := tr.recover(2, len(content), options())
	if err != nil || length != int64(len(content)) {
		t.Fatalf("ended with %d bytes of %d: %v", length, len(content), err)
	}
	if len(tr.lost) != 2 {
		t.Errorf("lost %v, where one of two servers had nothing", tr.lost)
	}
	for _, cause := range tr.lost {
		var failure *segment.Failure
		if !errors.As(cause, &failure) || failure.Reason != segment.Short {
			t.Errorf("lost for %v", cause)
		}
	}
	tr.mustHave(content)
}

// TestWriterIsGoneOnceItsFileIsEnded, and a recovery that comes too late as well.
func TestWriterIsGoneOnceItsFileIsEnded(t *testing.T) {
	pool := pooltest.New(t, 2)
	tr := newTrial(t, pool, pool.Names(), 2)
	writer := tr.write(1, options())
	content := some(3 * blockBytes)
	mustAppend(t, writer, content)
	if _, err := writer.Sync(); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.recover(5, len(content), options()); err != nil {
		t.Fatal(err)
	}
	_ = writer.Append(content)
	if _, err := writer.Sync(); err == nil {
		t.Error("the writer goes on")
	}
	if _, err := tr.recover(4, len(content), options()); err == nil {
		t.Error("a recovery with a lower epoch has ended the file")
	}
	if len(tr.lost) > 0 {
		t.Errorf("lost %v", tr.lost)
	}
	tr.mustHave(content)
}

// TestFileThatIsSealedInPartIsEnded: its writer was killed while some servers had sealed all of it, and one did not have what
// came after the last sync.
func TestFileThatIsSealedInPartIsEnded(t *testing.T) {
	pool := pooltest.New(t, 3)
	tr := newTrial(t, pool, pool.Names(), 2)
	content, synced := some(9*blockBytes), 3*blockBytes
	before := tr.write(1, options())
	mustAppend(t, before, content)
	mustSeal(t, before, len(content))
	service, err := pool.Service("pool2")
	if err != nil {
		t.Fatal(err)
	}
	removeFile(t, service, tr.file.ID)
	slow := tr.write(1, options())
	mustAppend(t, slow, content[:synced])
	if _, err := slow.Sync(); err != nil {
		t.Fatal(err)
	}
	slow.Close()

	for epoch := uint64(2); epoch < 4; epoch++ {
		length, err := tr.recover(epoch, synced, options())
		if err != nil || length < int64(synced) || length >= int64(len(content)) {
			t.Fatalf("ended with %d bytes of %d, of which all copies have %d: %v", length, len(content), synced, err)
		}
		if len(tr.lost) > 0 {
			t.Errorf("lost %v", tr.lost)
		}
		tr.mustHave(content[:length])
	}
}

// TestEmptyDiskIsNoShortFile: with one copy on a server that is gone, and the other on a disk that was replaced by an empty
// one, only the length in the metadata tells that something is lost. So a sync is a change of the metadata.
func TestEmptyDiskIsNoShortFile(t *testing.T) {
	pool := pooltest.New(t, 2)
	tr := newTrial(t, pool, pool.Names(), 2)
	content := some(3 * blockBytes)
	writer := tr.write(1, options())
	mustAppend(t, writer, content)
	if _, err := writer.Sync(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	pool.Servers["pool1"].Stop()
	emptied := pool.Servers["pool2"]
	emptied.Stop()
	if err := errors.Join(os.RemoveAll(emptied.Directory), os.Mkdir(emptied.Directory, 0o700)); err != nil {
		t.Fatal(err)
	}
	emptied.Start()
	if length, err := tr.recover(2, len(content), options()); err == nil {
		t.Errorf("ended with %d bytes of %d that were synced", length, len(content))
	}
	if length, err := tr.recover(2, 0, options()); err != nil || length != 0 {
		t.Errorf("without the length in the metadata it ends with %d bytes, %v: docs/pool-metadata.md says otherwise", length, err)
	}
}
