package overwrite

import (
	"time"

	"golang.org/x/sys/unix"
)

// Inode gives a file by its number.
func (f *FileSystem) Inode(number uint64) (Inode, error) {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	return found(f.tables.inode(number))
}

// Lookup gives what has a name in a directory.
func (f *FileSystem) Lookup(parent uint64, name string) (Inode, error) {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	return found(f.tables.lookup(parent, name))
}

func found(inode Inode, isThere bool) (Inode, error) {
	if !isThere {
		return Inode{}, unix.ENOENT
	}
	return inode, nil
}

// List gives the names in a directory, in their order.
func (f *FileSystem) List(directory uint64) ([]Name, error) {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	if _, isThere := f.tables.inode(directory); !isThere {
		return nil, unix.ENOENT
	}
	return f.tables.list(directory), nil
}

// New is what a file is made of.
type New struct {
	Parent uint64
	Name   string
	// Mode has the kind of file too.
	Mode, UID, GID, Device uint32
	// Target is of symbolic links.
	Target string
}

// Create makes a file, directory or link.
func (f *FileSystem) Create(wanted New) (Inode, error) {
	if err := f.admit(); err != nil {
		return Inode{}, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	parent, _ := f.tables.inode(wanted.Parent)
	if parent.Mode&unix.S_ISGID != 0 {
		wanted.GID = parent.GID
		if wanted.Mode&unix.S_IFMT == unix.S_IFDIR {
			wanted.Mode |= unix.S_ISGID
		}
	}
	made := &record{
		kind: kindCreate, inode: f.tables.nextInode, parent: wanted.Parent, name: wanted.Name, mode: wanted.Mode, uid: wanted.UID,
		gid: wanted.GID, device: wanted.Device, target: wanted.Target,
	}
	if err := f.submit(made); err != nil {
		return Inode{}, err
	}
	return found(f.tables.inode(made.inode))
}

// Link gives a file another name.
func (f *FileSystem) Link(inode, parent uint64, name string) (Inode, error) {
	if err := f.change(&record{kind: kindLink, inode: inode, parent: parent, name: name}); err != nil {
		return Inode{}, err
	}
	return f.Inode(inode)
}

// Unlink takes a name from a file. One without a name is there until Forget.
func (f *FileSystem) Unlink(parent uint64, name string) error {
	return f.removeName(parent, name, false)
}

// RemoveDirectory removes an empty directory.
func (f *FileSystem) RemoveDirectory(parent uint64, name string) error {
	return f.removeName(parent, name, true)
}

// removeName does not wait for cleaning: what removes something must be possible when there is no room.
func (f *FileSystem) removeName(parent uint64, name string, isDirectory bool) error {
	if err := f.log.room(); err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	named, isThere := f.tables.lookup(parent, name)
	switch {
	case isThere && isDirectory && !named.IsDirectory():
		return unix.ENOTDIR
	case isThere && !isDirectory && named.IsDirectory():
		return unix.EISDIR
	default:
		return f.submit(&record{kind: kindUnlink, parent: parent, name: name})
	}
}

// Rename moves a file or directory, in place of what has the name unless that must stay.
func (f *FileSystem) Rename(parent uint64, name string, newParent uint64, newName string, mustBeFree bool) error {
	if err := f.admit(); err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if _, isThere := f.tables.lookup(newParent, newName); isThere && mustBeFree {
		return unix.EEXIST
	}
	return f.submit(&record{kind: kindRename, parent: parent, name: name, newParent: newParent, newName: newName})
}

// Forget is for a file that nobody has open any more: without a name it is gone.
func (f *FileSystem) Forget(inode uint64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if found, isThere := f.tables.inode(inode); isThere && found.Links == 0 {
		f.tables.drop(inode)
		f.tender.wake()
	}
}

// Attributes are what is to be set; what is nil stays.
type Attributes struct {
	Mode, UID, GID *uint32
	Access, Modify *time.Time
}

// SetAttributes sets some.
func (f *FileSystem) SetAttributes(inode uint64, wanted Attributes) error {
	change := &record{kind: kindChange, inode: inode}
	for bit, each := range map[uint32]struct{ from, to *uint32 }{
		setMode: {wanted.Mode, &change.mode}, setOwner: {wanted.UID, &change.uid}, setGroup: {wanted.GID, &change.gid},
	} {
		if each.from != nil {
			change.mask |= bit
			*each.to = *each.from
		}
	}
	if wanted.Access != nil {
		change.mask |= setAccess
		change.access = wanted.Access.UnixNano()
	}
	if wanted.Modify != nil {
		change.mask |= setModify
		change.modify = wanted.Modify.UnixNano()
	}
	return f.change(change)
}
