package overwrite

import (
	"cmp"

	"github.com/tidwall/btree"
	"golang.org/x/sys/unix"
)

// RootInode is the number of the directory that is mounted.
const RootInode = 1

// Inode is a file, directory or link, as it is at a moment.
type Inode struct {
	Number uint64
	// Mode has the kind of file too, as stat(2).
	Mode, UID, GID uint32
	Links          uint32
	Device         uint32
	Size           int64
	// Access, Modify and Change are in nanoseconds of Unix time.
	Access, Modify, Change int64
	// Parent is of directories.
	Parent uint64
	// Target is of symbolic links.
	Target string
}

// IsDirectory says whether it is one.
func (i Inode) IsDirectory() bool {
	return i.Mode&unix.S_IFMT == unix.S_IFDIR
}

func (i Inode) isRegular() bool {
	return i.Mode&unix.S_IFMT == unix.S_IFREG
}

// Name is one in a directory.
type Name struct {
	Parent uint64
	Name   string
	Inode  uint64
}

func compareNames(a, b Name) int {
	return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Name, b.Name))
}

// tables are all that the log says so far. Trees are copied on write; what is in them is replaced and never changed.
type tables struct {
	inodes  *btree.BTreeG[Inode]
	names   *btree.BTreeG[Name]
	extents *btree.BTreeG[extent]
	// live has the weight of what is left of each segment.
	live map[uint64]int64
	// liveBytes is the sum.
	liveBytes int64
	// nextInode was never given.
	nextInode uint64
}

func tree[T any](compare func(a, b T) int) *btree.BTreeG[T] {
	return btree.NewBTreeGOptions(func(a, b T) bool { return compare(a, b) < 0 }, btree.Options{NoLocks: true})
}

func compareInodes(a, b Inode) int {
	return cmp.Compare(a.Number, b.Number)
}

// newTables have nothing but a root, of some owner.
func newTables(uid, gid uint32, now int64) *tables {
	t := emptyTables()
	const everybodyReads = 0o755
	t.inodes.Set(Inode{
		Number: RootInode, Mode: unix.S_IFDIR | everybodyReads, UID: uid, GID: gid, Links: 2,
		Access: now, Modify: now, Change: now, Parent: RootInode,
	})
	t.nextInode = RootInode + 1
	return t
}

func emptyTables() *tables {
	return &tables{inodes: tree(compareInodes), names: tree(compareNames), extents: tree(compareExtents), live: make(map[uint64]int64)}
}

// copied are the tables as they are now, for whoever reads them without the lock.
func (t *tables) copied() *tables {
	return &tables{inodes: t.inodes.Copy(), names: t.names.Copy(), extents: t.extents.Copy(), nextInode: t.nextInode}
}

func (t *tables) inode(number uint64) (Inode, bool) {
	return t.inodes.Get(Inode{Number: number})
}

func (t *tables) lookup(parent uint64, name string) (Inode, bool) {
	found, isThere := t.names.Get(Name{Parent: parent, Name: name})
	if !isThere {
		return Inode{}, false
	}
	return t.inode(found.Inode)
}

// list gives the names of a directory in their order.
func (t *tables) list(parent uint64) []Name {
	var all []Name
	t.names.Ascend(Name{Parent: parent}, func(found Name) bool {
		if found.Parent != parent {
			return false
		}
		all = append(all, found)
		return true
	})
	return all
}

func (t *tables) isEmpty(directory uint64) bool {
	isEmpty := true
	t.names.Ascend(Name{Parent: directory}, func(found Name) bool {
		isEmpty = found.Parent != directory
		return false
	})
	return isEmpty
}

// isBelow says whether a directory is another one, or somewhere in it.
func (t *tables) isBelow(directory, ancestor uint64) bool {
	for range t.inodes.Len() {
		if directory == ancestor {
			return true
		}
		found, isThere := t.inode(directory)
		if directory == RootInode || !isThere {
			return false
		}
		directory = found.Parent
	}
	return true
}

// drop forgets a file that has no name.
func (t *tables) drop(number uint64) {
	t.punch(number, 0, maxFileBytes)
	t.inodes.Delete(Inode{Number: number})
}

// nameless are the files that have no name, which nobody has open after a start.
func (t *tables) nameless() []uint64 {
	var all []uint64
	t.inodes.Scan(func(each Inode) bool {
		if each.Links == 0 {
			all = append(all, each.Number)
		}
		return true
	})
	return all
}
