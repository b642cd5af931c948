package overwrite

import (
	"bytes"
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
	steps := []func() (error, func() error){
		w.create, w.create, w.write, w.write, w.write, w.write, w.write, w.resize, w.punch, w.remove, w.rename, w.rename, w.link, w.chmod,
	}
	err, plain := steps[w.dice.IntN(len(steps))]()
	var refused unix.Errno
	if err != nil && !errors.As(err, &refused) {
		return
	}
	if want := plain(); !errors.Is(err, want) {
		w.t.Fatalf("%v, and %v of the reference", err, want)
	}
	w.possible = append(w.possible, w.plain.cloned(make(map[*node]*node)))
}

func (w *twins) create() (error, func() error) {
	path := w.path()
	kinds := []node{{mode: unix.S_IFREG | 0o600, links: 1}, {mode: unix.S_IFLNK | 0o777, links: 1, target: "there"}, *newDirectory(0o700)}
	made := kinds[w.dice.IntN(len(kinds))]
	parent, name, _, err := w.find(path)
	if parent != 0 {
		_, err = w.real.Create(New{Parent: parent, Name: name, Mode: made.mode, Target: made.target})
	}
	return err, func() error {
		parent, name := w.plain.at(path)
		switch {
		case parent == nil:
			return unix.ENOENT
		case parent.children == nil:
			return unix.ENOTDIR
		case parent.children[name] != nil:
			return unix.EEXIST
		}
		parent.children[name] = &made
		if made.isDirectory() {
			parent.links++
		}
		return nil
	}
}

// onFile does something to both of a file.
func (w *twins) onFile(real func(inode uint64) error, plain func(n *node)) (error, func() error) {
	path := w.path()
	_, _, inode, err := w.find(path)
	if err == nil {
		err = real(inode.Number)
	}
	return err, func() error {
		found := w.plain.find(path)
		switch {
		case found == nil:
			return missing(w.plain, path)
		case found.isDirectory():
			return unix.EISDIR
		case found.mode&unix.S_IFMT != unix.S_IFREG:
			return unix.EINVAL
		}
		plain(found)
		return nil
	}
}

// missing is what a path says that leads to nothing: through a file the kernel would never go.
func missing(*node, string) error { return unix.ENOENT }

func (w *twins) write() (error, func() error) {
	offset, data := w.dice.IntN(12<<10), make([]byte, 1+w.dice.IntN(2<<10))
	for i := range data {
		data[i] = byte(w.dice.Uint32())
	}
	return w.onFile(func(inode uint64) error { return w.real.Write(inode, data, int64(offset)) }, func(n *node) {
		n.content = append(n.content, make([]byte, max(0, offset+len(data)-len(n.content)))...)
		copy(n.content[offset:], data)
	})
}

func (w *twins) resize() (error, func() error) {
	size := w.dice.IntN(12 << 10)
	return w.onFile(func(inode uint64) error { return w.real.Resize(inode, int64(size)) }, func(n *node) {
		n.content = append(n.content, make([]byte, max(0, size-len(n.content)))...)[:size]
	})
}

func (w *twins) punch() (error, func() error) {
	offset, length := w.dice.IntN(12<<10), w.dice.IntN(6<<10)
	return w.onFile(func(inode uint64) error { return w.real.Punch(inode, int64(offset), int64(length)) }, func(n *node) {
		clear(n.content[min(offset, len(n.content)):min(offset+length, len(n.content))])
	})
}

func (w *twins) chmod() (error, func() error) {
	path, mode, uid := w.path(), uint32(w.dice.IntN(0o1000)), w.dice.Uint32N(9)
	_, _, inode, err := w.find(path)
	if err == nil {
		err = w.real.SetAttributes(inode.Number, Attributes{Mode: &mode, UID: &uid})
	}
	return err, func() error {
		found := w.plain.find(path)
		if found == nil {
			return unix.ENOENT
		}
		found.mode, found.uid = found.mode&unix.S_IFMT|mode, uid
		return nil
	}
}

func (w *twins) remove() (error, func() error) {
	path := w.path()
	parent, name, inode, err := w.find(path)
	if err == nil && inode.IsDirectory() {
		err = w.real.RemoveDirectory(parent, name)
	} else if err == nil {
		err = w.real.Unlink(parent, name)
	}
	if err == nil {
		w.real.Forget(inode.Number)
	}
	return err, func() error {
		found := w.plain.find(path)
		switch {
		case found == nil:
			return unix.ENOENT
		case len(found.children) > 0:
			return unix.ENOTEMPTY
		}
		w.plain.remove(path)
		return nil
	}
}

func (w *twins) link() (error, func() error) {
	from, to := w.path(), w.path()
	_, _, inode, err := w.find(from)
	if err == nil {
		var parent uint64
		var name string
		if parent, name, _, err = w.find(to); parent != 0 {
			_, err = w.real.Link(inode.Number, parent, name)
		}
	}
	return err, func() error {
		found := w.plain.find(from)
		parent, name := w.plain.at(to)
		switch {
		case found == nil || parent == nil:
			return unix.ENOENT
		case found.isDirectory():
			return unix.EPERM
		case !parent.isDirectory():
			return unix.ENOTDIR
		case parent.children[name] != nil:
			return unix.EEXIST
		}
		parent.children[name] = found
		found.links++
		return nil
	}
}

func (w *twins) rename() (error, func() error) {
	from, to := w.path(), w.path()
	parent, name, _, err := w.find(from)
	_, _, replaced, _ := w.find(to)
	if err == nil {
		var newParent uint64
		var newName string
		if newParent, newName, _, err = w.find(to); newParent != 0 {
			err = w.real.Rename(parent, name, newParent, newName, false)
		}
	}
	if err == nil && replaced.Number != 0 {
		w.real.Forget(replaced.Number)
	}
	return err, func() error { return w.renamePlain(from, to) }
}

func (w *twins) renamePlain(from, to string) error {
	found := w.plain.find(from)
	parent, name := w.plain.at(to)
	if found == nil || parent == nil {
		return unix.ENOENT
	}
	replaced := parent.children[name]
	switch {
	case !parent.isDirectory():
		return unix.ENOTDIR
	case found.isDirectory() && (to == from || strings.HasPrefix(to, from+"/")) && to != from:
		return unix.EINVAL
	case replaced == found:
		return nil
	case replaced != nil && found.isDirectory() && !replaced.isDirectory():
		return unix.ENOTDIR
	case replaced != nil && !found.isDirectory() && replaced.isDirectory():
		return unix.EISDIR
	case replaced != nil && len(replaced.children) > 0:
		return unix.ENOTEMPTY
	}
	if replaced != nil {
		w.plain.remove(to)
	}
	old, oldName := w.plain.at(from)
	delete(old.children, oldName)
	parent.children[name] = found
	if found.isDirectory() {
		old.links--
		parent.links++
	}
	return nil
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

var _ = bytes.Clone
