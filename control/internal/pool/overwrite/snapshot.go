package overwrite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"golang.org/x/sys/unix"
)

// snapshotMagic has the version of the form.
var snapshotMagic = []byte("sluice overwrite snapshot 1\n")

// snapshot are the tables at a moment, and where the log goes on from there.
type snapshot struct {
	*tables
	// sequence is that of the last record before.
	sequence uint64
	// next is the first segment whose records are not in the tables.
	next uint64
}

// encode gives it with a checksum at the end.
func (s snapshot) encode() []byte {
	buffer := bytes.Clone(snapshotMagic)
	for _, number := range []uint64{s.sequence, s.next, s.nextInode} {
		buffer = binary.AppendUvarint(buffer, number)
	}
	buffer = binary.AppendUvarint(buffer, uint64(s.inodes.Len()))
	s.inodes.Scan(func(each Inode) bool {
		buffer = appendInode(buffer, each)
		return true
	})
	buffer = binary.AppendUvarint(buffer, uint64(s.names.Len()))
	s.names.Scan(func(each Name) bool {
		buffer = binary.AppendUvarint(buffer, each.Parent)
		buffer = binary.AppendUvarint(buffer, each.Inode)
		buffer = appendText(buffer, each.Name)
		return true
	})
	buffer = binary.AppendUvarint(buffer, uint64(s.extents.Len()))
	s.extents.Scan(func(each extent) bool {
		for _, number := range []uint64{each.inode, uint64(each.offset), uint64(each.length), each.segment, uint64(each.position)} {
			buffer = binary.AppendUvarint(buffer, number)
		}
		return true
	})
	return binary.LittleEndian.AppendUint32(buffer, crc32.Checksum(buffer, castagnoli))
}

func appendInode(buffer []byte, i Inode) []byte {
	for _, number := range []uint64{
		i.Number, uint64(i.Mode), uint64(i.UID), uint64(i.GID), uint64(i.Links), uint64(i.Device), uint64(i.Size), i.Parent,
	} {
		buffer = binary.AppendUvarint(buffer, number)
	}
	for _, number := range []int64{i.Access, i.Modify, i.Change} {
		buffer = binary.AppendVarint(buffer, number)
	}
	return appendText(buffer, i.Target)
}

var errBadSnapshot = errors.New("it is no snapshot that is whole")

// parseSnapshot reads and checks one: whatever it gives can be worked on.
func parseSnapshot(text []byte) (snapshot, error) {
	const sumBytes = 4
	body, isOne := bytes.CutPrefix(text, snapshotMagic)
	if !isOne || len(body) < sumBytes {
		return snapshot{}, errBadSnapshot
	}
	end := len(text) - sumBytes
	if crc32.Checksum(text[:end], castagnoli) != binary.LittleEndian.Uint32(text[end:]) {
		return snapshot{}, errBadSnapshot
	}
	fields := &decoder{rest: body[:len(body)-sumBytes]}
	read := snapshot{tables: emptyTables()}
	read.sequence, read.next, read.nextInode = fields.number(math.MaxUint64), fields.number(math.MaxUint64), fields.number(math.MaxUint64)
	read.parseInodes(fields)
	read.parseNames(fields)
	read.parseExtents(fields)
	if !fields.isDone() {
		return snapshot{}, errBadSnapshot
	}
	return read, read.consistent()
}

// times does something as often as is said next, until something is wrong.
func (d *decoder) times(do func()) {
	for range d.number(math.MaxInt64) {
		if d.isWrong {
			return
		}
		do()
	}
}

func (s snapshot) parseInodes(fields *decoder) {
	fields.times(func() {
		read := Inode{Number: fields.number(math.MaxUint64)}
		for _, into := range []*uint32{&read.Mode, &read.UID, &read.GID, &read.Links, &read.Device} {
			*into = uint32(fields.number(math.MaxUint32))
		}
		read.Size, read.Parent = int64(fields.number(maxFileBytes)), fields.number(math.MaxUint64)
		read.Access, read.Modify, read.Change = fields.signed(), fields.signed(), fields.signed()
		read.Target = fields.text(maxTargetBytes)
		if !fields.isWrong {
			s.inodes.Set(read)
		}
	})
}

func (s snapshot) parseNames(fields *decoder) {
	fields.times(func() {
		read := Name{Parent: fields.number(math.MaxUint64), Inode: fields.number(math.MaxUint64), Name: fields.text(maxNameBytes)}
		if !fields.isWrong {
			s.names.Set(read)
		}
	})
}

func (s snapshot) parseExtents(fields *decoder) {
	fields.times(func() {
		read := extent{
			inode: fields.number(math.MaxUint64), offset: int64(fields.number(maxFileBytes)), length: int64(fields.number(maxFileBytes)),
			segment: fields.number(math.MaxUint64), position: int64(fields.number(maxFileBytes)),
		}
		if read.length == 0 || read.end() > maxFileBytes {
			fields.fail()
		}
		if !fields.isWrong {
			s.insert(read)
		}
	})
}

// consistent says what the parts do not agree about.
func (s snapshot) consistent() error {
	root, isThere := s.inode(RootInode)
	if !isThere || !root.IsDirectory() || root.Parent != RootInode || root.Links == 0 {
		return fmt.Errorf("%w: it has no root", errBadSnapshot)
	}
	last, _ := s.inodes.Max()
	if last.Number >= s.nextInode {
		return fmt.Errorf("%w: the file %d was not made yet", errBadSnapshot, last.Number)
	}
	if err := s.consistentNames(); err != nil {
		return err
	}
	return s.consistentExtents()
}

func (s snapshot) consistentNames() (err error) {
	links := make(map[uint64]uint32)
	s.names.Scan(func(each Name) bool {
		parent, hasParent := s.inode(each.Parent)
		named, isThere := s.inode(each.Inode)
		isPart := hasParent && parent.IsDirectory() && isThere && checkName(each.Name) == nil
		if !isPart || named.IsDirectory() && named.Parent != each.Parent {
			err = fmt.Errorf("%w: the name %q is of nothing", errBadSnapshot, each.Name)
			return false
		}
		links[each.Inode]++
		if named.IsDirectory() {
			links[each.Inode]++ // Its own ".".
			links[each.Parent]++
		}
		return true
	})
	if err != nil {
		return err
	}
	links[RootInode] += 2
	s.inodes.Scan(func(each Inode) bool {
		if each.Links != links[each.Number] {
			err = fmt.Errorf("%w: the file %d has %d links, and says %d", errBadSnapshot, each.Number, links[each.Number], each.Links)
		}
		return err == nil
	})
	return err
}

func (s snapshot) consistentExtents() (err error) {
	var last extent
	s.extents.Scan(func(each extent) bool {
		of, isThere := s.inode(each.inode)
		if !isThere || of.Mode&unix.S_IFMT != unix.S_IFREG || last.inode == each.inode && last.end() > each.offset {
			err = fmt.Errorf("%w: a part of the file %d is out of place", errBadSnapshot, each.inode)
		}
		last = each
		return err == nil
	})
	return err
}
