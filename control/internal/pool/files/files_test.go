package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
)

const blockBytes = 4 * segment.PageBytes

// lossPatience is for tests that wait for a server which does not answer.
const lossPatience = 10 * time.Second

// world is a pool with one volume.
type world struct {
	t        *testing.T
	pool     *pooltest.Pool
	voters   []*pooltest.Voter
	metadata *metadata.Client
	// patience is long, so that a slow server is not taken for a lost one.
	patience time.Duration
}

func newWorld(t *testing.T, servers, voters int) *world {
	t.Helper()
	w := &world{t: t, pool: pooltest.New(t, servers), patience: time.Minute}
	w.voters, w.metadata = pooltest.NewMetadata(t, w.pool.Authority, voters)
	if err := w.metadata.CreateVolume(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) config(holder string, timeToLive time.Duration) files.Config {
	options := stripe.DefaultOptions()
	options.RequestBytes, options.Patience = blockBytes/2, w.patience
	return files.Config{
		Volume: "orders", Path: "/", Holder: holder, TimeToLive: timeToLive,
		Servers: w.pool.Names(), Copies: 2, BlockBytes: blockBytes, Options: options, Suspects: stripe.NewSuspects(time.Now),
	}
}

func (w *world) attach(holder string) *files.Session {
	w.t.Helper()
	session, err := files.Attach(w.t.Context(), w.config(holder, time.Minute), w.metadata, w.pool.Service, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	return session
}

func (w *world) detach(session *files.Session) {
	w.t.Helper()
	if err := session.Detach(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func some(length int) []byte {
	content := make([]byte, length)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(content)
	return content
}

func put(t *testing.T, session *files.Session, path string, content []byte) {
	t.Helper()
	writer, err := session.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := errors.Join(writer.Append(content), writer.Seal(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func mustHave(t *testing.T, session *files.Session, path string, content []byte) {
	t.Helper()
	reader, err := session.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(content)+1)
	n, err := reader.ReadAt(t.Context(), got, 0)
	if !errors.Is(err, io.EOF) || reader.Length != int64(len(content)) || !bytes.Equal(got[:n], content) {
		t.Errorf("%s has %d bytes of %d, equal: %v: %v", path, n, len(content), bytes.Equal(got[:n], content), err)
	}
}

func names(t *testing.T, session *files.Session, path string) []string {
	t.Helper()
	list, err := session.List(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range list {
		all = append(all, name.Name)
	}
	return all
}

// segments counts what the servers hold.
func (w *world) segments() int {
	w.t.Helper()
	count := 0
	for _, server := range w.pool.Servers {
		count += w.segmentsOn(server)
	}
	return count
}

func (w *world) segmentsOn(server *pooltest.Server) int {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(server.Directory, "*", "*", "*.*.*.*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(paths)
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("never came about: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestFilesOfAStore does what a store does with its files.
func TestFilesOfAStore(t *testing.T) {
	w := newWorld(t, 3, 1)
	session := w.attach("store")
	content := some(11*blockBytes + 5)
	if err := errors.Join(session.MakeDirectory(t.Context(), "/db"), session.MakeDirectory(t.Context(), "/db")); err != nil {
		t.Fatal(err)
	}
	put(t, session, "/db/000001.sst", content)
	put(t, session, "/db/CURRENT.tmp", []byte("MANIFEST-1\n"))
	put(t, session, "/db/CURRENT", []byte("MANIFEST-0\n"))
	if err := errors.Join(
		session.Rename(t.Context(), "/db/CURRENT.tmp", "/db/CURRENT"),
		session.MakeDirectory(t.Context(), "/checkpoint"),
		session.Link(t.Context(), "/db/000001.sst", "/checkpoint/000001.sst"),
		session.Remove(t.Context(), "/db/000001.sst"),
	); err != nil {
		t.Fatal(err)
	}
	mustHave(t, session, "/db/CURRENT", []byte("MANIFEST-1\n"))
	mustHave(t, session, "/checkpoint/000001.sst", content)
	if got := names(t, session, "/db"); !slices.Equal(got, []string{"CURRENT"}) {
		t.Errorf("/db has %q", got)
	}
	if _, err := session.Open(t.Context(), "/db/000001.sst"); entry.ReasonOf(err) != entry.NotFound {
		t.Errorf("what was removed is opened: %v", err)
	}
	if err := session.RemoveDirectory(t.Context(), "/db"); entry.ReasonOf(err) != entry.NotEmpty {
		t.Errorf("a directory with files is removed: %v", err)
	}
	if err := errors.Join(session.Remove(t.Context(), "/checkpoint/000001.sst"), session.Remove(t.Context(), "/db/CURRENT")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no blocks are left", func() bool { return w.segments() == 0 })
	w.detach(session)
}

// TestNextHolderEndsWhatWasLeftOpen with all that was synced.
func TestNextHolderEndsWhatWasLeftOpen(t *testing.T) {
	w := newWorld(t, 3, 1)
	before := w.attach("before")
	content := some(7 * blockBytes)
	writer, err := before.Create(t.Context(), "/000002.log")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writer.Append(content), writer.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	mustHave(t, before, "/000002.log", content)
	w.detach(before)
	if err := writer.Append(content); err == nil {
		err = writer.Sync(t.Context())
		if err == nil {
			t.Error("the writer of a session that is over goes on")
		}
	}
	after := w.attach("after")
	mustHave(t, after, "/000002.log", content)
	file, err := after.Stat(t.Context(), "/000002.log")
	if err != nil || !file.Sealed {
		t.Errorf("%+v: %v", file, err)
	}
	w.detach(after)
}

// TestOneHolderAtATime: a second one is told of the first.
func TestOneHolderAtATime(t *testing.T) {
	w := newWorld(t, 2, 1)
	session := w.attach("first")
	_, err := files.Attach(t.Context(), w.config("second", time.Minute), w.metadata, w.pool.Service, slog.New(slog.DiscardHandler))
	var refusal *entry.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != entry.LeaseHeld || refusal.Lease.Holder != "first" {
		t.Errorf("the second one was told %v", err)
	}
	w.detach(session)
	w.detach(w.attach("second"))
}

// TestHolderThatCannotRenewIsOver before another one begins, and changes nothing afterwards.
func TestHolderThatCannotRenewIsOver(t *testing.T) {
	w := newWorld(t, 2, 1)
	// As short as it can be for a holder that is well to keep its lease on a busy machine.
	const timeToLive = 4 * time.Second
	session, err := files.Attach(t.Context(), w.config("first", timeToLive), w.metadata, w.pool.Service, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	writer, err := session.Create(t.Context(), "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	w.voters[0].Stop()
	<-session.Lost()
	if err := errors.Join(writer.Append([]byte("late")), writer.Sync(t.Context())); err == nil {
		t.Error("a holder without a lease has synced")
	}
	w.voters[0].Start()
	var second *files.Session
	eventually(t, "the lease of the first one ends", func() bool {
		second, err = files.Attach(t.Context(), w.config("second", time.Minute), w.metadata, w.pool.Service, slog.New(slog.DiscardHandler))
		return err == nil
	})
	mustHave(t, second, "/log", nil)
	w.detach(second)
}

// TestLossesUnderLoad takes away the leader of the metadata, and then a server, while a store writes: it sees no
// error, and all that it has synced is read.
func TestLossesUnderLoad(t *testing.T) {
	w := newWorld(t, 3, 3)
	w.patience = lossPatience
	session := w.attach("store")
	content := some(3 * blockBytes)
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan int)
	result := make(chan error, 1)
	go func() {
		count := 0
		for ctx.Err() == nil {
			if err := write(t.Context(), session, fmt.Sprintf("/%06d.sst", count), content); err != nil {
				result <- fmt.Errorf("file %d: %w", count, err)
				close(written)
				return
			}
			count++
			select {
			case written <- count:
			case <-ctx.Done():
			}
		}
		close(written)
		result <- nil
	}()
	after := func(files int) {
		for range files {
			<-written
		}
	}
	after(3)
	for _, voter := range w.voters {
		if voter.Leads() {
			voter.Stop()
		}
	}
	after(3)
	w.pool.Servers["pool1"].Stop()
	after(3)
	stop()
	for range written {
		continue
	}
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	all := names(t, session, "/")
	if len(all) < 9 {
		t.Errorf("only %d files are there", len(all))
	}
	for _, name := range all {
		mustHave(t, session, "/"+name, content)
	}
	w.detach(session)
}

func write(ctx context.Context, session *files.Session, path string, content []byte) error {
	writer, err := session.Create(ctx, path)
	if err != nil {
		return err
	}
	defer writer.Close()
	if err := writer.Append(content[:len(content)/2]); err != nil {
		return err
	}
	if err := writer.Sync(ctx); err != nil {
		return err
	}
	if err := writer.Append(content[len(content)/2:]); err != nil {
		return err
	}
	return writer.Seal(ctx)
}
