package mount

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/pool/overwrite"
)

// OpenDir takes the names as they are: who reads on later goes on in the same list.
func (f *fileSystem) OpenDir(_ <-chan struct{}, input *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	names, err := f.of.List(input.NodeId)
	if err != nil {
		return f.status("open a directory", err)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.lastHandle++
	f.directories[f.lastHandle] = names
	out.Fh = f.lastHandle
	return fuse.OK
}

func (f *fileSystem) ReleaseDir(input *fuse.ReleaseIn) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.directories, input.Fh)
}

// dots come before the names.
var dots = []string{".", ".."}

// ReadDir gives the entries after an offset, which is the number of those that were given.
func (f *fileSystem) ReadDir(_ <-chan struct{}, input *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.readDirectory(input, func(each fuse.DirEntry, _ *overwrite.Inode) bool { return out.AddDirEntry(each) })
}

func (f *fileSystem) ReadDirPlus(_ <-chan struct{}, input *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.readDirectory(input, func(each fuse.DirEntry, inode *overwrite.Inode) bool {
		entry := out.AddDirLookupEntry(each)
		if entry != nil && inode != nil {
			f.tell(*inode, entry)
		}
		return entry != nil
	})
}

func (f *fileSystem) readDirectory(input *fuse.ReadIn, add func(fuse.DirEntry, *overwrite.Inode) bool) fuse.Status {
	names := f.namesOf(input)
	for at := int(input.Offset); at < len(dots)+len(names); at++ {
		each := fuse.DirEntry{Off: uint64(at + 1)}
		if at < len(dots) {
			each.Name, each.Mode, each.Ino = dots[at], unix.S_IFDIR, input.NodeId
			if !add(each, nil) {
				break
			}
			continue
		}
		name := names[at-len(dots)]
		inode, err := f.of.Lookup(input.NodeId, name.Name)
		if err != nil {
			continue // It went meanwhile.
		}
		each.Name, each.Mode, each.Ino = name.Name, inode.Mode, inode.Number
		if !add(each, &inode) {
			break
		}
	}
	return fuse.OK
}

// namesOf are those of a handle, anew where a directory is read from its begin again.
func (f *fileSystem) namesOf(input *fuse.ReadIn) []overwrite.Name {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if input.Offset == 0 {
		if names, err := f.of.List(input.NodeId); err == nil {
			f.directories[input.Fh] = names
		}
	}
	return f.directories[input.Fh]
}
