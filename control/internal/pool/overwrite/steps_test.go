package overwrite

import (
	"strings"

	"golang.org/x/sys/unix"
)

// What twins do. Each gives what does the same to the reference, and what the real one has said.

func (w *twins) create() (func() error, error) {
	path := w.path()
	kinds := []node{{mode: unix.S_IFREG | 0o600, links: 1}, {mode: unix.S_IFLNK | 0o777, links: 1, target: "there"}, *newDirectory(0o700)}
	made := kinds[w.dice.IntN(len(kinds))]
	parent, name, _, err := w.find(path)
	if parent != 0 {
		_, err = w.real.Create(New{Parent: parent, Name: name, Mode: made.mode, Target: made.target})
	}
	return func() error {
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
	}, err
}

// onFile does something to both of a file.
func (w *twins) onFile(real func(inode uint64) error, plain func(n *node)) (func() error, error) {
	path := w.path()
	_, _, inode, err := w.find(path)
	if err == nil {
		err = real(inode.Number)
	}
	return func() error {
		found := w.plain.find(path)
		switch {
		case found == nil:
			return unix.ENOENT
		case found.isDirectory():
			return unix.EISDIR
		case found.mode&unix.S_IFMT != unix.S_IFREG:
			return unix.EINVAL
		}
		plain(found)
		return nil
	}, err
}

func (w *twins) write() (func() error, error) {
	offset, data := w.dice.IntN(12<<10), make([]byte, 1+w.dice.IntN(2<<10))
	for i := range data {
		data[i] = byte(w.dice.Uint32())
	}
	return w.onFile(func(inode uint64) error { return w.real.Write(inode, data, int64(offset)) }, func(n *node) {
		n.content = append(n.content, make([]byte, max(0, offset+len(data)-len(n.content)))...)
		copy(n.content[offset:], data)
	})
}

func (w *twins) resize() (func() error, error) {
	size := w.dice.IntN(12 << 10)
	return w.onFile(func(inode uint64) error { return w.real.Resize(inode, int64(size)) }, func(n *node) {
		n.content = append(n.content, make([]byte, max(0, size-len(n.content)))...)[:size]
	})
}

func (w *twins) punch() (func() error, error) {
	offset, length := w.dice.IntN(12<<10), w.dice.IntN(6<<10)
	return w.onFile(func(inode uint64) error { return w.real.Punch(inode, int64(offset), int64(length)) }, func(n *node) {
		clear(n.content[min(offset, len(n.content)):min(offset+length, len(n.content))])
	})
}

func (w *twins) chmod() (func() error, error) {
	path, mode, uid := w.path(), uint32(w.dice.IntN(0o1000)), w.dice.Uint32N(9)
	_, _, inode, err := w.find(path)
	if err == nil {
		err = w.real.SetAttributes(inode.Number, Attributes{Mode: &mode, UID: &uid})
	}
	return func() error {
		found := w.plain.find(path)
		if found == nil {
			return unix.ENOENT
		}
		found.mode, found.uid = found.mode&unix.S_IFMT|mode, uid
		return nil
	}, err
}

func (w *twins) remove() (func() error, error) {
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
	return func() error {
		found := w.plain.find(path)
		switch {
		case found == nil:
			return unix.ENOENT
		case len(found.children) > 0:
			return unix.ENOTEMPTY
		}
		w.plain.remove(path)
		return nil
	}, err
}

func (w *twins) link() (func() error, error) {
	from, to := w.path(), w.path()
	_, _, inode, err := w.find(from)
	if err == nil {
		var parent uint64
		var name string
		if parent, name, _, err = w.find(to); parent != 0 {
			_, err = w.real.Link(inode.Number, parent, name)
		}
	}
	return func() error {
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
	}, err
}

func (w *twins) rename() (func() error, error) {
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
	return func() error { return w.renamePlain(from, to) }, err
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
