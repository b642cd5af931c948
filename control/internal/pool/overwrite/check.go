package overwrite

import (
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is what ext4 has, which programs are used to.
const maxLinks = 65000

// check says why a change cannot be made, as an error number. What it lets through, apply does.
func (t *tables) check(r *record) error {
	switch r.kind {
	case kindBegin:
		return nil
	case kindWrite, kindMove, kindResize, kindPunch:
		return t.checkContent(r)
	case kindCreate:
		return t.checkCreate(r)
	case kindLink:
		return t.checkLink(r)
	case kindUnlink:
		return t.checkUnlink(r)
	case kindRename:
		return t.checkRename(r)
	case kindChange:
		return t.checkChange(r)
	default:
		return unix.EINVAL
	}
}

func (t *tables) checkContent(r *record) error {
	found, isThere := t.inode(r.inode)
	switch {
	case !isThere:
		return unix.ENOENT
	case found.IsDirectory():
		return unix.EISDIR
	case !found.isRegular():
		return unix.EINVAL
	case r.offset < 0 || r.length < 0:
		return unix.EINVAL
	case r.offset > maxFileBytes-max(r.length, int64(len(r.data))):
		return unix.EFBIG
	default:
		return nil
	}
}

func (t *tables) checkCreate(r *record) error {
	if err := t.checkFree(r.parent, r.name); err != nil {
		return err
	}
	if r.inode < t.nextInode {
		return unix.EINVAL
	}
	if len(r.target) > maxTargetBytes {
		return unix.ENAMETOOLONG
	}
	return nil
}

// checkFree wants a directory, and that there is nothing of the name in it.
func (t *tables) checkFree(parent uint64, name string) error {
	if err := t.checkDirectory(parent); err != nil {
		return err
	}
	if err := checkName(name); err != nil {
		return err
	}
	if _, isThere := t.lookup(parent, name); isThere {
		return unix.EEXIST
	}
	return nil
}

func (t *tables) checkDirectory(number uint64) error {
	found, isThere := t.inode(number)
	switch {
	case !isThere || found.Links == 0:
		return unix.ENOENT
	case !found.IsDirectory():
		return unix.ENOTDIR
	default:
		return nil
	}
}

func checkName(name string) error {
	switch {
	case len(name) > maxNameBytes:
		return unix.ENAMETOOLONG
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"):
		return unix.EINVAL
	default:
		return nil
	}
}

func (t *tables) checkLink(r *record) error {
	found, isThere := t.inode(r.inode)
	switch {
	case !isThere || found.Links == 0:
		return unix.ENOENT
	case found.IsDirectory():
		return unix.EPERM
	case found.Links >= maxLinks:
		return unix.EMLINK
	default:
		return t.checkFree(r.parent, r.name)
	}
}

func (t *tables) checkUnlink(r *record) error {
	found, isThere := t.lookup(r.parent, r.name)
	switch {
	case !isThere:
		return unix.ENOENT
	case found.IsDirectory() && !t.isEmpty(found.Number):
		return unix.ENOTEMPTY
	default:
		return nil
	}
}

func (t *tables) checkRename(r *record) error {
	moved, isThere := t.lookup(r.parent, r.name)
	if !isThere {
		return unix.ENOENT
	}
	if err := t.checkDirectory(r.newParent); err != nil {
		return err
	}
	if err := checkName(r.newName); err != nil {
		return err
	}
	if moved.IsDirectory() && t.isBelow(r.newParent, moved.Number) {
		return unix.EINVAL
	}
	replaced, isThere := t.lookup(r.newParent, r.newName)
	switch {
	case !isThere || replaced.Number == moved.Number:
		return nil
	case moved.IsDirectory() && !replaced.IsDirectory():
		return unix.ENOTDIR
	case !moved.IsDirectory() && replaced.IsDirectory():
		return unix.EISDIR
	case replaced.IsDirectory() && !t.isEmpty(replaced.Number):
		return unix.ENOTEMPTY
	default:
		return nil
	}
}

func (t *tables) checkChange(r *record) error {
	if _, isThere := t.inode(r.inode); !isThere {
		return unix.ENOENT
	}
	if r.mask&^setAll != 0 {
		return unix.EINVAL
	}
	return nil
}
