package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/stripe"
)

func TestFilesOfAStore(t *testing.T) {
	w := newWorld(t)
	store := w.connect()
	store.attach()
	content := some(5*blockBytes + 7)
	store.done("make_directory", at("/db"))
	file := store.create("/db/1.tmp")
	if length := store.append(file.File, content[:9]); length != 9 {
		t.Errorf("%d bytes after the first", length)
	}
	if length := store.append(file.File, content[9:]); length != int64(len(content)) {
		t.Errorf("%d bytes after the last", length)
	}
	if got := must[message.StatResult](store, "stat", at("/db/1.tmp")); *got.LengthBytes != int64(len(content)) || *got.ID != file.ID {
		t.Errorf("%+v of a file that is being written", got)
	}
	open := must[message.OpenResult](store, "open", at("/db/1.tmp"))
	if got := store.read(open.File, 0, len(content)+1); !bytes.Equal(got, content) {
		t.Errorf("%d bytes are read of %d that were appended", len(got), len(content))
	}
	store.done("rename", message.MoveParams{Source: "/db/1.tmp", Target: "/db/1"})
	store.append(file.File, content[:1])
	if got := must[message.StatResult](store, "stat", at("/db/1")); *got.LengthBytes != int64(len(content))+1 {
		t.Errorf("%d bytes under the new name", *got.LengthBytes)
	}
	store.done("sync", number(file.File))
	store.refused("open", "link", message.MoveParams{Source: "/db/1", Target: "/db/2"})
	store.done("seal", number(file.File))
	store.refused("not-found", "append", message.AppendParams{File: file.File})
	store.done("link", message.MoveParams{Source: "/db/1", Target: "/db/2"})
	if got := must[message.StatResult](store, "stat", at("/db/2")); *got.Links != 2 {
		t.Errorf("%d links", *got.Links)
	}
	store.done("remove", at("/db/1"))
	w.mustHave("/db/2", append(slices.Clone(content), content[0]))
	store.refused("not-empty", "remove_directory", at("/db"))
	if got := must[message.ListResult](store, "list", message.ListParams{Path: "/"}); len(got.Names) != 1 || got.Names[0].Kind != "directory" {
		t.Errorf("%+v: the agent's own file is none of the store", got)
	}
	store.refused("invalid", "create", at("/.sluice-session"))
	store.done("close", number(open.File))
	store.refused("not-found", "read", message.ReadParams{File: open.File, LengthBytes: 1})
}

func TestConnectionsShareASession(t *testing.T) {
	w := newWorld(t)
	store := w.connect()
	session := store.attach().Session
	file := store.create("/1")
	other := w.connect()
	other.done("join", message.JoinParams{ProtocolVersion: message.CurrentVersion(), Session: session})
	other.append(file.File, some(10))
	other.connection.Close()
	store.append(file.File, some(1))
	store.done("seal", number(file.File))
	w.mustHave("/1", append(some(10), some(1)...))
	third := w.connect()
	third.refused("not-found", "join", message.JoinParams{ProtocolVersion: message.CurrentVersion(), Session: strings.Repeat("0", 32)})
	third.refused("refused", "stat", at("/1"))
}

// Files that are written leave room for what is read; one too many is refused.
func TestManyFilesAreWrittenAtOnce(t *testing.T) {
	w := newWorld(t)
	store := w.connect()
	store.attach()
	content := some(10)
	var last message.OpenResult
	// One more is the session's own.
	for i := range mostWritten - 1 {
		last = store.create(fmt.Sprintf("/%d", i))
		store.append(last.File, content)
	}
	store.done("sync", number(last.File))
	w.mustHave(fmt.Sprintf("/%d", mostWritten-2), content)
	store.refused("refused", "create", at("/more"))
	store.done("close", number(last.File))
	store.create("/more")
}

// What a store has written outlasts it, as with a file system.
func TestStoreThatIsGone(t *testing.T) {
	w := newWorld(t)
	store := w.connect()
	session := store.attach().Session
	content := some(2*blockBytes + 1)
	store.append(store.create("/1").File, content)
	removed := store.create("/2")
	store.append(removed.File, content)
	store.done("remove", at("/2"))
	joined := w.connect()
	joined.done("join", message.JoinParams{ProtocolVersion: message.CurrentVersion(), Session: session})
	store.connection.Close()

	next := w.connect()
	for {
		got := next.ask("attach", attachParams(nil))
		if got.Failure == nil {
			break
		}
		if got.Failure.Data.Reason != "lease-held" {
			t.Fatal(got.Failure)
		}
	}
	w.mustHave("/1", content)
	file, err := w.view().Stat(t.Context(), "/1")
	if err != nil || !file.Sealed {
		t.Errorf("%+v, %v", file, err)
	}
	joined.refused("refused", "create", at("/3"))
	next.connection.Close()
	for deadline := time.Now().Add(patience); !slices.Equal(w.names("/"), []string{"1"}); {
		if time.Now().After(deadline) {
			t.Fatalf("%q are left", w.names("/"))
		}
	}
}

func TestOneStoreAtATime(t *testing.T) {
	w := newWorld(t)
	store := w.connect()
	store.attach()
	store.append(store.create("/1").File, some(10))
	store.refused("refused", "attach", attachParams(nil))
	other := w.connect()
	other.refused("lease-held", "attach", attachParams(nil))
	view := must[message.AttachResult](other, "view", message.ViewParams{ProtocolVersion: message.CurrentVersion(), Volume: "orders"})
	if view.Lock != nil {
		t.Error("a view has a lock")
	}
	other.refused("refused", "create", at("/2"))
	other.refused("refused", "append", message.AppendParams{File: 1, Bytes: 3}, 1, 2, 3)
	open := must[message.OpenResult](other, "open", at("/1"))
	if open.LengthBytes != 0 {
		t.Errorf("%d bytes that were not synced are seen by others", open.LengthBytes)
	}
	w.connect().refused("not-found", "view", message.ViewParams{ProtocolVersion: message.CurrentVersion(), Volume: "returns"})
}

// An agent that is started anew lets a store go on, unless somebody else has had the directory.
func TestAgentThatIsStartedAnew(t *testing.T) {
	w := newWorld(t)
	store := w.connect()
	lock := store.attach().Lock
	store.append(store.create("/1").File, some(10))
	w.stop()
	w.start()
	store = w.connect()
	second := must[message.AttachResult](store, "attach", attachParams(lock)).Lock
	w.mustHave("/1", some(10))
	w.stop()

	between, err := files.Attach(t.Context(), files.Config{
		Volume: "orders", Path: "/", Holder: "another node", TimeToLive: time.Minute, Servers: w.pool.Names(), Copies: 2,
		BlockBytes: blockBytes, Options: stripe.DefaultOptions(), Suspects: stripe.NewSuspects(time.Now),
	}, w.metadata, w.pool.Service, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := between.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.connect().refused("fenced", "attach", attachParams(second))
	w.connect().attach()
}

// Only what cannot be told from the next request ends a connection.
func TestRequestsThatAreWrong(t *testing.T) {
	w := newWorld(t)
	store := w.connect()
	store.attach()
	for method, params := range map[string]any{
		"create": at("relative"), "stat": at("/a//b"), "read": message.ReadParams{File: 1, LengthBytes: message.MaxPayloadBytes + 1},
		"rename": message.MoveParams{Source: "/a"}, "sync": number(0), "list": message.ListParams{Path: "/", After: strings.Repeat("a", 256)},
	} {
		store.refused("invalid", method, params)
	}
	store.refused("not-found", "append", message.AppendParams{File: 77, Bytes: 3}, '{', '}', '\n')
	store.refused("not-found", "stat", at("/a"))
	old := w.connect()
	version := message.CurrentVersion()
	version.Major++
	old.refused("incompatible", "view", message.ViewParams{ProtocolVersion: version, Volume: "orders"})
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"append","params":{"file":1,"bytes":4194305}}`, `{"jsonrpc":"2.0","id":1,"method":"write","params":{}}`,
		`{`, strings.Repeat(" ", message.MaxLineBytes+1),
	} {
		wrong := w.connect()
		if _, err := wrong.connection.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		if got := wrong.receive(false); got.Failure == nil {
			t.Errorf("%.80s is taken", line)
		}
		if _, err := wrong.reader.ReadByte(); err != io.EOF {
			t.Errorf("the connection goes on after %.80s: %v", line, err)
		}
	}
}

func TestServerThatIsLost(t *testing.T) {
	w := newWorldWith(t, lossPatience)
	store := w.connect()
	store.attach()
	file := store.create("/1")
	content := some(6 * blockBytes)
	store.append(file.File, content[:blockBytes])
	w.pool.Servers["pool2"].Stop()
	store.append(file.File, content[blockBytes:])
	store.done("seal", number(file.File))
	open := must[message.OpenResult](store, "open", at("/1"))
	if got := store.read(open.File, 1, len(content)); !bytes.Equal(got, content[1:]) {
		t.Errorf("%d bytes", len(got))
	}
}
