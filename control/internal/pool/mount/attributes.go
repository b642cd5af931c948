package mount

import (
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/pool/overwrite"
)

const (
	// forLong is how long the kernel may keep what it knows: nobody but it changes anything.
	forLong = 24 * time.Hour
	// blockBytes is what stat(2) and statfs(2) are told.
	blockBytes = 4096
	// sectorBytes is the unit of st_blocks.
	sectorBytes = 512
)

func describe(inode overwrite.Inode, out *fuse.Attr) {
	out.Ino, out.Size, out.Mode, out.Nlink = inode.Number, uint64(inode.Size), inode.Mode, inode.Links
	out.Uid, out.Gid, out.Rdev = inode.UID, inode.GID, inode.Device
	out.Blocks = uint64(inode.Size+sectorBytes-1) / sectorBytes
	out.Blksize = blockBytes
	access, modify, change := time.Unix(0, inode.Access), time.Unix(0, inode.Modify), time.Unix(0, inode.Change)
	out.SetTimes(&access, &modify, &change)
}

func (f *fileSystem) GetAttr(_ <-chan struct{}, input *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return f.answerAttributes(input.NodeId, out)
}

func (f *fileSystem) answerAttributes(number uint64, out *fuse.AttrOut) fuse.Status {
	inode, err := f.of.Inode(number)
	if err != nil {
		return f.status("stat", err)
	}
	describe(inode, &out.Attr)
	out.SetTimeout(forLong)
	return fuse.OK
}

func (f *fileSystem) SetAttr(_ <-chan struct{}, input *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	if size, isSet := input.GetSize(); isSet {
		if err := f.of.Resize(input.NodeId, int64(size)); err != nil {
			return f.status("truncate", err)
		}
	}
	var wanted overwrite.Attributes
	if mode, isSet := input.GetMode(); isSet {
		wanted.Mode = new(mode &^ unix.S_IFMT)
	}
	if uid, isSet := input.GetUID(); isSet {
		wanted.UID = &uid
	}
	if gid, isSet := input.GetGID(); isSet {
		wanted.GID = &gid
	}
	if access, isSet := input.GetATime(); isSet {
		wanted.Access = &access
	}
	if modify, isSet := input.GetMTime(); isSet {
		wanted.Modify = &modify
	}
	if wanted != (overwrite.Attributes{}) {
		if err := f.of.SetAttributes(input.NodeId, wanted); err != nil {
			return f.status("change attributes", err)
		}
	}
	return f.answerAttributes(input.NodeId, out)
}

// StatFs has the whole pool free for a mount, as there are no quotas.
func (f *fileSystem) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	usage := f.of.Usage()
	free := uint64(f.free()) / blockBytes
	out.Bsize, out.Frsize, out.NameLen = blockBytes, blockBytes, maxNameBytes
	out.Bfree, out.Bavail = free, free
	out.Blocks = uint64(usage.HeldBytes)/blockBytes + free
	out.Ffree = freeInodes
	out.Files = uint64(usage.Inodes) + freeInodes
	return fuse.OK
}

const (
	maxNameBytes = 255
	// freeInodes is a number for those who ask: memory alone bounds how many there are.
	freeInodes = 1 << 30
)
