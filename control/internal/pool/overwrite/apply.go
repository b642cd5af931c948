package overwrite

import "golang.org/x/sys/unix"

// place is where the data of a record are.
type place struct {
	segment  uint64
	position int64
}

// apply makes a change that check lets through.
func (t *tables) apply(r *record, at place) {
	switch r.kind {
	case kindWrite:
		t.putData(r, at)
		t.change(r.inode, func(i *Inode) {
			i.Size = max(i.Size, r.offset+int64(len(r.data)))
			i.Modify, i.Change = r.time, r.time
		})
	case kindMove:
		t.putData(r, at)
	case kindCreate:
		t.applyCreate(r)
	case kindLink:
		t.names.Set(Name{Parent: r.parent, Name: r.name, Inode: r.inode})
		t.change(r.inode, func(i *Inode) { i.Links, i.Change = i.Links+1, r.time })
		t.touch(r.parent, 0, r.time)
	case kindUnlink:
		t.applyUnlink(r.parent, r.name, r.time)
	case kindRename:
		t.applyRename(r)
	case kindResize:
		t.punch(r.inode, r.offset, maxFileBytes)
		t.change(r.inode, func(i *Inode) { i.Size, i.Modify, i.Change = r.offset, r.time, r.time })
	case kindPunch:
		t.punch(r.inode, r.offset, r.offset+r.length)
		t.change(r.inode, func(i *Inode) { i.Modify, i.Change = r.time, r.time })
	case kindChange:
		t.change(r.inode, r.setAttributes)
	}
}

func (t *tables) putData(r *record, at place) {
	t.put(extent{inode: r.inode, offset: r.offset, length: int64(len(r.data)), segment: at.segment, position: at.position})
}

func (t *tables) change(number uint64, do func(*Inode)) {
	found, _ := t.inode(number)
	do(&found)
	t.inodes.Set(found)
}

// touch notes a change of what is in a directory, and how many directories more are.
func (t *tables) touch(directory uint64, more int, now int64) {
	t.change(directory, func(i *Inode) {
		i.Links = uint32(int(i.Links) + more)
		i.Modify, i.Change = now, now
	})
}

func (t *tables) applyCreate(r *record) {
	made := Inode{
		Number: r.inode, Mode: r.mode, UID: r.uid, GID: r.gid, Links: 1, Device: r.device, Target: r.target,
		Access: r.time, Modify: r.time, Change: r.time, Size: int64(len(r.target)),
	}
	more := 0
	if made.IsDirectory() {
		made.Links, made.Parent, more = 2, r.parent, 1
	}
	t.inodes.Set(made)
	t.names.Set(Name{Parent: r.parent, Name: r.name, Inode: r.inode})
	t.touch(r.parent, more, r.time)
	t.nextInode = r.inode + 1
}

func (t *tables) applyUnlink(parent uint64, name string, now int64) {
	found, _ := t.names.Delete(Name{Parent: parent, Name: name})
	more := 0
	t.change(found.Inode, func(i *Inode) {
		i.Links, i.Change = i.Links-1, now
		if i.IsDirectory() {
			i.Links, more = 0, -1
		}
	})
	t.touch(parent, more, now)
}

func (t *tables) applyRename(r *record) {
	moved, _ := t.lookup(r.parent, r.name)
	replaced, isThere := t.lookup(r.newParent, r.newName)
	if isThere && replaced.Number == moved.Number {
		return // Both names are of one file: POSIX has both stay.
	}
	if isThere {
		t.applyUnlink(r.newParent, r.newName, r.time)
	}
	t.names.Delete(Name{Parent: r.parent, Name: r.name})
	t.names.Set(Name{Parent: r.newParent, Name: r.newName, Inode: moved.Number})
	t.change(moved.Number, func(i *Inode) {
		i.Change = r.time
		if i.IsDirectory() {
			i.Parent = r.newParent
		}
	})
	more := 0
	if moved.IsDirectory() && r.parent != r.newParent {
		more = 1
	}
	t.touch(r.parent, -more, r.time)
	t.touch(r.newParent, more, r.time)
}

func (r *record) setAttributes(i *Inode) {
	i.Change = r.time
	if r.mask&setMode != 0 {
		i.Mode = i.Mode&unix.S_IFMT | r.mode&^unix.S_IFMT
	}
	if r.mask&setOwner != 0 {
		i.UID = r.uid
	}
	if r.mask&setGroup != 0 {
		i.GID = r.gid
	}
	if r.mask&setAccess != 0 {
		i.Access = r.access
	}
	if r.mask&setModify != 0 {
		i.Modify = r.modify
	}
}
