package overwrite

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"
)

// sampleRecords have one of every kind.
func sampleRecords() []record {
	return []record{
		{kind: kindBegin, inode: 3, sequence: 1},
		{kind: kindCreate, inode: 2, parent: RootInode, name: "file", mode: unix.S_IFREG | 0o600, uid: 1, gid: 2, sequence: 2},
		{kind: kindWrite, inode: 2, offset: 8192, data: []byte("data"), sequence: 3, durable: 2, time: -1},
		{kind: kindMove, inode: 2, offset: 8192, data: []byte("data"), sequence: 4},
		{kind: kindCreate, inode: 3, parent: RootInode, name: "directory", mode: unix.S_IFDIR | 0o700, sequence: 5},
		{kind: kindLink, inode: 2, parent: 3, name: "again", sequence: 6},
		{kind: kindRename, parent: RootInode, name: "file", newParent: 3, newName: "moved", sequence: 7},
		{kind: kindResize, inode: 2, offset: 9000, sequence: 8},
		{kind: kindPunch, inode: 2, offset: 1, length: 8200, sequence: 9},
		{kind: kindChange, inode: 2, mask: setAll, mode: 0o644, access: -5, modify: 7, sequence: 10},
		{kind: kindCreate, inode: 4, parent: 3, name: "link", mode: unix.S_IFLNK | 0o777, target: "there", sequence: 11},
		{kind: kindUnlink, parent: 3, name: "again", sequence: 12},
	}
}

// fix gives bytes the checksum that they should have, so that what is behind it is tried too.
func fix(text []byte) []byte {
	if len(text) >= headerBytes {
		binary.LittleEndian.PutUint32(text, crc32.Checksum(text[4:], castagnoli))
	}
	return text
}

func TestRecordsComeBack(t *testing.T) {
	for _, want := range sampleRecords() {
		text := want.appendTo(nil)
		got, length, err := parseRecord(append(text, 1, 2, 3))
		if err != nil || length != len(text) || length > want.mostBytes() || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v has become %+v, %d bytes of %d: %v", want, got, length, len(text), err)
		}
		for i := range text {
			text[i] ^= 1 << (i % 8)
			if _, _, err := parseRecord(text); err == nil {
				t.Errorf("%+v is taken with another byte %d", want, i)
			}
			text[i] ^= 1 << (i % 8)
		}
	}
}

// Whatever is read as a log, the tables that come of it agree with themselves.
func FuzzLog(f *testing.F) {
	var all []byte
	for _, each := range sampleRecords() {
		f.Add(each.appendTo(nil))
		all = each.appendTo(all)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, text []byte) {
		replayed := replay{tables: newTables(0, 0, 0)}
		for position := 0; position < len(text); {
			rest := text[position:]
			if len(rest) < headerBytes {
				return
			}
			body := int(binary.LittleEndian.Uint32(rest[8:])) % (len(rest) - headerBytes + 1)
			binary.LittleEndian.PutUint32(rest[4:], recordMagic)
			binary.LittleEndian.PutUint32(rest[8:], uint32(body))
			read, length, err := parseRecord(fix(rest[:headerBytes+body]))
			position += headerBytes + body
			if err != nil || replayed.check(&read) != nil {
				continue
			}
			replayed.apply(&read, place{segment: 1, position: int64(position - length + overheadBytes)})
			taken := snapshot{tables: replayed.tables, next: 2}
			if replayed.nextInode != 0 {
				if err := taken.consistent(); err != nil {
					t.Fatalf("after %+v: %v", read, err)
				}
			}
		}
	})
}

// Whatever is taken for a snapshot gives the same one again, and can be worked on.
func FuzzSnapshot(f *testing.F) {
	replayed := replay{tables: newTables(0, 0, 0)}
	for _, each := range sampleRecords() {
		if err := replayed.check(&each); err != nil {
			f.Fatal(err)
		}
		replayed.apply(&each, place{segment: 1, position: 77})
		f.Add(snapshot{tables: replayed.tables, sequence: each.sequence, next: 2}.encode())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const sumBytes = 4
		if len(text) >= sumBytes {
			end := len(text) - sumBytes
			binary.LittleEndian.PutUint32(text[end:], crc32.Checksum(text[:end], castagnoli))
		}
		read, err := parseSnapshot(text)
		if err != nil {
			return
		}
		if _, err := parseSnapshot(read.encode()); err != nil {
			t.Fatalf("it is not one any more: %v", err)
		}
		dice := rand.New(rand.NewPCG(1, 1))
		read.inodes.Copy().Scan(func(each Inode) bool {
			for _, change := range sampleRecords() {
				change.inode, change.parent, change.newParent = each.Number, each.Number, 1+dice.Uint64N(read.nextInode)
				if read.check(&change) == nil {
					read.apply(&change, place{segment: 9, position: 1})
				}
			}
			return true
		})
	})
}
