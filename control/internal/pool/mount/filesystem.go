package mount

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/pool/overwrite"
)

// fileSystem is what the kernel asks. Numbers of its nodes are those of inodes, which are never used again.
type fileSystem struct {
	fuse.RawFileSystem

	of     *overwrite.FileSystem
	free   func() int64
	logger *slog.Logger
	// lastWarning is when a failure was logged, in nanoseconds: one line a second is enough of an agent that is gone.
	lastWarning atomic.Int64

	mutex sync.Mutex
	// known is how often the kernel was told of each inode, which it has not forgotten.
	known map[uint64]uint64
	// directories are those that are being read, by their handles.
	directories map[uint64][]overwrite.Name
	lastHandle  uint64
}

func newFileSystem(of *overwrite.FileSystem, free func() int64, logger *slog.Logger) *fileSystem {
	return &fileSystem{
		RawFileSystem: fuse.NewDefaultRawFileSystem(), of: of, free: free, logger: logger,
		known: make(map[uint64]uint64), directories: make(map[uint64][]overwrite.Name),
	}
}

func (f *fileSystem) String() string { return "sluice-pool" }

// status is the error number of an error.
func (f *fileSystem) status(what string, err error) fuse.Status {
	var number unix.Errno
	switch {
	case err == nil:
		return fuse.OK
	case errors.As(err, &number) && isOfCaller(number):
		return fuse.Status(number)
	}
	f.warn(what, err)
	if errors.Is(err, overwrite.ErrFull) {
		return fuse.Status(unix.ENOSPC)
	}
	return fuse.EIO
}

// isOfCaller says whether package overwrite gives such an error number, and it does not come from a socket.
func isOfCaller(number unix.Errno) bool {
	switch number {
	case unix.ENOENT, unix.EEXIST, unix.ENOTDIR, unix.EISDIR, unix.ENOTEMPTY, unix.EINVAL, unix.EFBIG, unix.EMLINK, unix.ENAMETOOLONG, unix.EPERM:
		return true
	default:
		return false
	}
}

func (f *fileSystem) warn(what string, err error) {
	now, last := time.Now().UnixNano(), f.lastWarning.Load()
	if now-last < int64(time.Second) || !f.lastWarning.CompareAndSwap(last, now) {
		return
	}
	f.logger.Error("a call on the mount has failed", "call", what, "error", err)
}

// tell gives the kernel an inode, which it says when it forgets.
func (f *fileSystem) tell(inode overwrite.Inode, out *fuse.EntryOut) {
	f.mutex.Lock()
	f.known[inode.Number]++
	f.mutex.Unlock()
	out.NodeId, out.Generation = inode.Number, 1
	out.SetEntryTimeout(forLong)
	out.SetAttrTimeout(forLong)
	describe(inode, &out.Attr)
}

func (f *fileSystem) Lookup(_ <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	inode, err := f.of.Lookup(header.NodeId, name)
	if errors.Is(err, unix.ENOENT) {
		// The kernel remembers this too, without a node.
		out.SetEntryTimeout(forLong)
		return fuse.OK
	}
	return f.entry("look up", inode, err, out)
}

func (f *fileSystem) entry(what string, inode overwrite.Inode, err error, out *fuse.EntryOut) fuse.Status {
	if err != nil {
		return f.status(what, err)
	}
	f.tell(inode, out)
	return fuse.OK
}

func (f *fileSystem) Forget(number, times uint64) {
	f.mutex.Lock()
	left := f.known[number] - min(times, f.known[number])
	if left > 0 {
		f.known[number] = left
	} else {
		delete(f.known, number)
	}
	f.mutex.Unlock()
	if left == 0 {
		f.of.Forget(number)
	}
}

func (f *fileSystem) create(header *fuse.InHeader, made overwrite.New, out *fuse.EntryOut) fuse.Status {
	made.Parent, made.UID, made.GID = header.NodeId, header.Uid, header.Gid
	inode, err := f.of.Create(made)
	return f.entry("create", inode, err, out)
}

func (f *fileSystem) Create(_ <-chan struct{}, input *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	made := overwrite.New{Name: name, Mode: unix.S_IFREG | input.Mode&^unix.S_IFMT}
	return f.create(&input.InHeader, made, &out.EntryOut)
}

func (f *fileSystem) Mknod(_ <-chan struct{}, input *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	made := overwrite.New{Name: name, Mode: input.Mode, Device: input.Rdev}
	if made.Mode&unix.S_IFMT == 0 {
		made.Mode |= unix.S_IFREG
	}
	return f.create(&input.InHeader, made, out)
}

func (f *fileSystem) Mkdir(_ <-chan struct{}, input *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.create(&input.InHeader, overwrite.New{Name: name, Mode: unix.S_IFDIR | input.Mode&^unix.S_IFMT}, out)
}

func (f *fileSystem) Symlink(_ <-chan struct{}, header *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	const everybody = 0o777
	return f.create(header, overwrite.New{Name: name, Mode: unix.S_IFLNK | everybody, Target: target}, out)
}

func (f *fileSystem) Readlink(_ <-chan struct{}, header *fuse.InHeader) ([]byte, fuse.Status) {
	inode, err := f.of.Inode(header.NodeId)
	return []byte(inode.Target), f.status("read a link", err)
}

func (f *fileSystem) Link(_ <-chan struct{}, input *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	inode, err := f.of.Link(input.Oldnodeid, input.NodeId, name)
	return f.entry("link", inode, err, out)
}

func (f *fileSystem) Unlink(_ <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	inode, err := f.of.Lookup(header.NodeId, name)
	if err == nil {
		err = f.of.Unlink(header.NodeId, name)
	}
	f.forgetUnknown(inode.Number)
	return f.status("unlink", err)
}

// forgetUnknown is for what may have lost its name, and is not known to the kernel.
func (f *fileSystem) forgetUnknown(number uint64) {
	f.mutex.Lock()
	_, isKnown := f.known[number]
	f.mutex.Unlock()
	if !isKnown {
		f.of.Forget(number)
	}
}

func (f *fileSystem) Rmdir(_ <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	return f.status("remove a directory", f.of.RemoveDirectory(header.NodeId, name))
}

// Rename does not exchange two names.
func (f *fileSystem) Rename(_ <-chan struct{}, input *fuse.RenameIn, from, to string) fuse.Status {
	if input.Flags&^unix.RENAME_NOREPLACE != 0 {
		return fuse.EINVAL
	}
	replaced, _ := f.of.Lookup(input.Newdir, to)
	err := f.of.Rename(input.NodeId, from, input.Newdir, to, input.Flags&unix.RENAME_NOREPLACE != 0)
	f.forgetUnknown(replaced.Number)
	return f.status("rename", err)
}

// Open says that it need not be asked: the kernel opens files without from then on, and keeps their pages.
func (f *fileSystem) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.ENOSYS
}

// Flush is for file systems that are not told otherwise of what was written.
func (f *fileSystem) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status {
	return fuse.ENOSYS
}

func (f *fileSystem) Read(_ <-chan struct{}, input *fuse.ReadIn, buffer []byte) (fuse.ReadResult, fuse.Status) {
	n, err := f.of.Read(context.Background(), input.NodeId, buffer[:min(len(buffer), int(input.Size))], int64(input.Offset))
	return fuse.ReadResultData(buffer[:n]), f.status("read", err)
}

func (f *fileSystem) Write(_ <-chan struct{}, input *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	if err := f.of.Write(input.NodeId, data, int64(input.Offset)); err != nil {
		return 0, f.status("write", err)
	}
	return uint32(len(data)), fuse.OK
}

func (f *fileSystem) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status {
	return f.status("sync", f.of.Sync())
}

func (f *fileSystem) FsyncDir(<-chan struct{}, *fuse.FsyncIn) fuse.Status {
	return f.status("sync", f.of.Sync())
}

// Fallocate has files be longer, and punches holes; it keeps no room free.
func (f *fileSystem) Fallocate(_ <-chan struct{}, input *fuse.FallocateIn) fuse.Status {
	const known = unix.FALLOC_FL_KEEP_SIZE | unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_ZERO_RANGE
	if input.Mode&^known != 0 {
		return fuse.Status(unix.EOPNOTSUPP)
	}
	if input.Mode&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		if err := f.of.Punch(input.NodeId, int64(input.Offset), int64(input.Length)); err != nil {
			return f.status("punch", err)
		}
	}
	if input.Mode&unix.FALLOC_FL_KEEP_SIZE != 0 {
		return fuse.OK
	}
	return f.status("allocate", f.of.Extend(input.NodeId, int64(input.Offset+input.Length)))
}
