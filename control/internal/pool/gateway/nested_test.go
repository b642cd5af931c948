package gateway_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/store"
)

const output = "/db/.sluice-compaction-1"

// newStore is a store with an empty database, that has made a directory for the output of a compaction, and the
// epoch of its lease.
func (w *world) newStore() (database *plugin, epoch uint64) {
	w.t.Helper()
	database = w.connect()
	session := database.attach().Session
	database.done("make_directory", at("/db"))
	database.done("make_directory", at(output))
	lease, err := w.server.LeaseOf(session)
	if err != nil || lease.Volume != "orders" || lease.Path != "/" || lease.Epoch == 0 {
		w.t.Fatalf("%+v, %v", lease, err)
	}
	return database, lease.Epoch
}

func nestedParams(epoch uint64) message.AttachParams {
	return message.AttachParams{
		ProtocolVersion: message.CurrentVersion(), Volume: "orders", Path: output, Holder: "sluice-compact", OuterEpoch: epoch,
	}
}

// newWorker has a session on the directory that a store with an epoch has made for it.
func (w *world) newWorker(epoch uint64) (worker *plugin, session string) {
	w.t.Helper()
	worker = w.connect()
	begun := must[message.AttachResult](worker, "attach", nestedParams(epoch))
	if begun.Lock != nil {
		w.t.Error("a nested session has a lock")
	}
	return worker, begun.Session
}

// put makes a file and ends it.
func (p *plugin) put(path string, content []byte) {
	p.t.Helper()
	file := p.create(path)
	p.append(file.File, content)
	p.done("seal", number(file.File))
}

// mustNotHaveWarned looks at the log of servers that it stops.
func (w *world) mustNotHaveWarned() {
	w.t.Helper()
	w.stop()
	if w.warnings.Len() > 0 {
		w.t.Errorf("the log says: %s", &w.warnings)
	}
}

// What a worker has written is the store's once the store has ended the worker's lease, and not before.
func TestWorkerOfAStore(t *testing.T) {
	w := newWorld(t)
	database, epoch := w.newStore()
	database.put("/db/1", some(blockBytes))
	worker, _ := w.newWorker(epoch)
	if names := w.names(output); len(names) > 0 {
		t.Errorf("a nested session has made %q", names)
	}
	input := must[message.OpenResult](worker, "open", at("/db/1"))
	content := worker.read(input.File, 0, blockBytes)
	worker.put(output+"/2", content)
	worker.put(output+"/3", content)
	open := worker.create(output + "/4")
	worker.append(open.File, content)
	worker.refused("fenced", "create", at("/db/5"))
	worker.refused("fenced", "remove", at("/db/1"))

	move := message.MoveParams{Source: output + "/2", Target: "/db/2"}
	database.refused("fenced", "rename", move)
	database.done("release", at(output))
	database.done("release", at(output))
	database.done("rename", move)
	worker.refused("fenced", "create", at(output+"/5"))
	worker.refused("fenced", "remove", at(output+"/3"))
	worker.refused("fenced", "sync", number(open.File))
	worker.refused("fenced", "seal", number(open.File))
	for _, name := range w.names(output) {
		database.done("remove", at(output+"/"+name))
	}
	database.done("remove_directory", at(output))
	w.mustHave("/db/2", content)
	worker.connection.Close()
	w.mustNotHaveWarned()
}

// A worker that has ended, however, keeps nothing from the store.
func TestWorkerThatIsGone(t *testing.T) {
	w := newWorld(t)
	database, epoch := w.newStore()
	worker, session := w.newWorker(epoch)
	worker.append(worker.create(output+"/2").File, some(10))
	worker.connection.Close()
	for deadline := time.Now().Add(patience); ; {
		leases, _, err := w.metadata.Leases(t.Context(), "orders", entry.Page[string]{})
		if err != nil {
			t.Fatal(err)
		}
		if len(leases) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v are left", leases)
		}
	}
	w.connect().refused("not-found", "join", message.JoinParams{ProtocolVersion: message.CurrentVersion(), Session: session})
	w.mustHave(output+"/2", some(10))
	database.done("rename", message.MoveParams{Source: output + "/2", Target: "/db/2"})
	database.done("remove_directory", at(output))
	w.mustNotHaveWarned()
}

// Whoever has the store's directory next ends its workers' leases, and the files that they have left open.
func TestWorkerWhoseStoreIsGone(t *testing.T) {
	w := newWorld(t)
	database, epoch := w.newStore()
	worker, _ := w.newWorker(epoch)
	file := worker.create(output + "/2")
	worker.append(file.File, some(10))
	worker.done("sync", number(file.File))
	database.connection.Close()
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
	worker.refused("fenced", "create", at(output+"/3"))
	w.connect().refused("fenced", "attach", nestedParams(epoch))
	if file, err := w.view().Stat(t.Context(), output+"/2"); err != nil || !file.Sealed {
		t.Errorf("%+v, %v", file, err)
	}
	if names := w.names(output); !slices.Equal(names, []string{"2"}) {
		t.Errorf("%q", names)
	}
	next.done("remove", at(output+"/2"))
	next.done("remove_directory", at(output))
	worker.connection.Close()
	next.connection.Close()
	w.mustNotHaveWarned()
}

func TestNestedSessionsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	database, epoch := w.newStore()
	both := nestedParams(epoch)
	both.Lock = &message.FileID{1}
	w.connect().refused("invalid", "attach", both)
	w.connect().refused("fenced", "attach", nestedParams(epoch+1))
	_, nested := w.newWorker(epoch)
	w.connect().refused("lease-held", "attach", nestedParams(epoch))
	viewer := w.connect()
	view := must[message.AttachResult](viewer, "view", message.ViewParams{ProtocolVersion: message.CurrentVersion(), Volume: "orders"})
	for name, want := range map[string]store.Code{
		nested: store.CodeRefused, view.Session: store.CodeRefused, strings.Repeat("0", 32): store.CodeNotFound,
	} {
		if lease, err := w.server.LeaseOf(name); store.CodeOf(err) != want {
			t.Errorf("%+v, %v, want it refused as %s", lease, err, want)
		}
	}
	viewer.refused("refused", "release", at(output))
	w.connect().refused("refused", "release", at(output))
	database.refused("invalid", "release", at("/"))
	database.refused("invalid", "release", at("db"))
	database.done("release", at("/db"))
	database.done("release", at("/nowhere"))
}
