package overwrite

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// small has everything happen after a few changes.
func small() Options {
	return Options{
		SegmentBytes: 24 << 10, RecordBytes: 2 << 10, SendBytes: 1 << 10, SnapshotBytes: 100 << 10,
		SpareBytes: 64 << 10, MostSpareBytes: 256 << 10, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	}
}

// twins are a file system and a reference that is told the same.
type twins struct {
	t     *testing.T
	dice  *rand.Rand
	files *memoryFiles
	real  *FileSystem
	plain *node
	// possible are the states that a crash may leave: what was synced, and what came after it one by one.
	possible []*node
}

func newTwins(t *testing.T, seed uint64) *twins {
	t.Helper()
	w := &twins{t: t, dice: rand.New(rand.NewPCG(seed, 1)), files: newMemoryFiles(), plain: newDirectory(0o755)}
	w.open()
	w.synced()
	t.Cleanup(func() { _ = w.real.Close() })
	return w
}

func (w *twins) open() {
	w.t.Helper()
	opened, err := Open(w.t.Context(), w.files, small())
	if err != nil {
		w.t.Fatal(err)
	}
	w.real = opened
}

func (w *twins) synced() {
	w.possible = []*node{w.plain.cloned(make(map[*node]*node))}
}

func text(of *node) string {
	var all strings.Builder
	of.dump("", &all)
	return all.String()
}

// crash goes on with what is left, which must be a state that there was since the last sync.
func (w *twins) crash() {
	w.t.Helper()
	left := w.files.crash(w.dice)
	_ = w.real.Close()
	w.files = left
	w.open()
	found := dump(w.t, w.real)
	at := slices.IndexFunc(w.possible, func(each *node) bool { return text(each) == found })
	if at < 0 {
		w.t.Fatalf("after a crash there is\n%s\nwhich is none of %d states; the synced one is\n%s", found, len(w.possible), text(w.possible[0]))
	}
	w.plain = w.possible[at]
	w.synced()
}

// restart ends it in order.
func (w *twins) restart() {
	w.t.Helper()
	if err := w.real.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.files = w.files.crash(w.dice)
	w.open()
	w.synced()
	w.compare()
}

func (w *twins) compare() {
	w.t.Helper()
	if got, want := dump(w.t, w.real), text(w.plain); got != want {
		w.t.Fatalf("there is\n%s\nwhere there should be\n%s", got, want)
	}
}

func (w *twins) path() string {
	names := []string{"a", "b", "c", "d"}
	path := names[w.dice.IntN(len(names))]
	for w.dice.IntN(3) == 0 && strings.Count(path, "/") < 2 {
		path += "/" + names[w.dice.IntN(len(names))]
	}
	return path
}

// find gives a file of the real one, by the names on its path.
func (w *twins) find(path string) (parent uint64, name string, inode Inode, err error) {
	parts := strings.Split(path, "/")
	parent = RootInode
	for _, part := range parts[:len(parts)-1] {
		found, err := w.real.Lookup(parent, part)
		if err != nil {
			return 0, "", Inode{}, err
		}
		parent = found.Number
	}
	name = parts[len(parts)-1]
	inode, err = w.real.Lookup(parent, name)
	return parent, name, inode, err
}

// step makes one change to both. What the one refuses the other must refuse too, but for failures of its files.
func (w *twins) step() {
	w.t.Helper()
	steps := []func() (func() error, error){
		w.create, w.create, w.write, w.write, w.write, w.write, w.write, w.resize, w.punch, w.remove, w.rename, w.rename, w.link, w.chmod,
	}
	plain, err := steps[w.dice.IntN(len(steps))]()
	var refused unix.Errno
	if err != nil && !errors.As(err, &refused) {
		return
	}
	if want := plain(); !errors.Is(err, want) {
		w.t.Fatalf("%v, and %v of the reference", err, want)
	}
	w.possible = append(w.possible, w.plain.cloned(make(map[*node]*node)))
}

var errPassing = errors.New("something that passes")

// Whatever happens to both, they are alike; and after a crash there is a state of those since the last sync.
func TestAnythingAgainstAReference(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			w := newTwins(t, seed)
			for range 1200 {
				switch w.dice.IntN(100) {
				case 0, 1, 2, 3, 4:
					if err := w.real.Sync(); err != nil {
						t.Fatal(err)
					}
					w.synced()
				case 5, 6:
					w.crash()
				case 7:
					w.restart()
				case 8:
					w.failForAWhile()
				default:
					w.step()
				}
			}
			w.compare()
		})
	}
}

// failForAWhile has files fail, as when an agent is gone: what was written before and meanwhile is there after it.
func (w *twins) failForAWhile() {
	w.t.Helper()
	failing := rand.New(rand.NewPCG(w.dice.Uint64(), 2))
	w.setFails(func() error {
		if failing.IntN(4) == 0 {
			return errPassing
		}
		return nil
	})
	for range 20 {
		w.step()
		_ = w.real.Sync()
	}
	w.setFails(nil)
	if err := w.real.Sync(); err != nil && !errors.Is(err, errPassing) {
		w.t.Fatal(err)
	}
	if err := w.real.Sync(); err != nil {
		w.t.Fatal(err)
	}
	w.synced()
	w.compare()
}

func (w *twins) setFails(fails func() error) {
	w.files.mutex.Lock()
	defer w.files.mutex.Unlock()
	w.files.fails = fails
}
