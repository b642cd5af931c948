package overwrite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// kind is what a record changes.
type kind uint8

const (
	// kindBegin is the first record of a segment, whose number is its inode.
	kindBegin kind = iota + 1
	kindWrite
	// kindMove is a part of a file that a cleaner has put elsewhere: its content is the same.
	kindMove
	kindCreate
	kindLink
	kindUnlink
	kindRename
	kindResize
	kindPunch
	kindChange
	kindEnd
)

// Attributes that a record of kindChange sets.
const (
	setMode = 1 << iota
	setOwner
	setGroup
	setAccess
	setModify
	setAll = 1<<iota - 1
)

// record is one change. Which members count depends on its kind.
type record struct {
	kind     kind
	sequence uint64
	// durable is the last sequence that was known to be on the disks when the record was written.
	durable uint64
	// time is when, in nanoseconds of Unix time.
	time int64

	inode  uint64
	parent uint64
	name   string
	// newParent and newName are of kindRename.
	newParent uint64
	newName   string
	// offset and length are in bytes; the new size is an offset.
	offset int64
	length int64

	mask, mode, uid, gid, device uint32
	access, modify               int64
	// target is a symbolic link's.
	target string
	data   []byte
}

const (
	recordMagic = 0x31636c73 // "slc1"
	// headerBytes: checksum, magic, length of the body, kind, sequence, durable, time.
	headerBytes = 4 + 4 + 4 + 4 + 8 + 8 + 8
	// dataBytes come before the data of kindWrite and kindMove: inode and offset.
	dataBytes = 8 + 8
	// overheadBytes is what a record of data takes beside the data.
	overheadBytes = headerBytes + dataBytes

	maxNameBytes   = 255
	maxTargetBytes = 4095
	maxFileBytes   = 1 << 50
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errBadRecord is where no record is.
var errBadRecord = errors.New("no record")

func (r *record) hasData() bool {
	return r.kind == kindWrite || r.kind == kindMove
}

// appendTo adds the record to a buffer.
func (r *record) appendTo(buffer []byte) []byte {
	begin := len(buffer)
	buffer = append(buffer, make([]byte, headerBytes)...)
	buffer = r.appendBody(buffer)
	header := buffer[begin:]
	binary.LittleEndian.PutUint32(header[4:], recordMagic)
	binary.LittleEndian.PutUint32(header[8:], uint32(len(header)-headerBytes))
	binary.LittleEndian.PutUint32(header[12:], uint32(r.kind))
	binary.LittleEndian.PutUint64(header[16:], r.sequence)
	binary.LittleEndian.PutUint64(header[24:], r.durable)
	binary.LittleEndian.PutUint64(header[32:], uint64(r.time))
	binary.LittleEndian.PutUint32(header, crc32.Checksum(header[4:], castagnoli))
	return buffer
}

func (r *record) appendBody(buffer []byte) []byte {
	if r.hasData() {
		buffer = binary.LittleEndian.AppendUint64(buffer, r.inode)
		buffer = binary.LittleEndian.AppendUint64(buffer, uint64(r.offset))
		return append(buffer, r.data...)
	}
	for _, number := range []uint64{
		r.inode, r.parent, r.newParent, uint64(r.offset), uint64(r.length), uint64(r.mask), uint64(r.mode), uint64(r.uid), uint64(r.gid),
		uint64(r.device),
	} {
		buffer = binary.AppendUvarint(buffer, number)
	}
	buffer = binary.AppendVarint(buffer, r.access)
	buffer = binary.AppendVarint(buffer, r.modify)
	for _, text := range []string{r.name, r.newName, r.target} {
		buffer = appendText(buffer, text)
	}
	return buffer
}

func appendText(buffer []byte, text string) []byte {
	return append(binary.AppendUvarint(buffer, uint64(len(text))), text...)
}

// mostBytes bounds what the record takes.
func (r *record) mostBytes() int {
	const mostNumbers = 10*binary.MaxVarintLen64 + 2*binary.MaxVarintLen64 + 3*binary.MaxVarintLen64
	return overheadBytes + mostNumbers + len(r.name) + len(r.newName) + len(r.target) + len(r.data)
}

// parseRecord reads the record that bytes begin with, and how long it is. Its data are those bytes, and no copy.
func parseRecord(bytes []byte) (record, int, error) {
	if len(bytes) < headerBytes || binary.LittleEndian.Uint32(bytes[4:]) != recordMagic {
		return record{}, 0, errBadRecord
	}
	body := binary.LittleEndian.Uint32(bytes[8:])
	if uint64(body) > uint64(len(bytes)-headerBytes) {
		return record{}, 0, errBadRecord
	}
	whole := bytes[:headerBytes+int(body)]
	if crc32.Checksum(whole[4:], castagnoli) != binary.LittleEndian.Uint32(whole) {
		return record{}, 0, errBadRecord
	}
	number := binary.LittleEndian.Uint32(whole[12:])
	if number == 0 || number >= uint32(kindEnd) {
		return record{}, 0, fmt.Errorf("%w of a kind that is known: %d", errBadRecord, number)
	}
	read := record{
		kind: kind(number), sequence: binary.LittleEndian.Uint64(whole[16:]), durable: binary.LittleEndian.Uint64(whole[24:]),
		time: int64(binary.LittleEndian.Uint64(whole[32:])),
	}
	return read, len(whole), read.parseBody(whole[headerBytes:])
}

func (r *record) parseBody(body []byte) error {
	if r.hasData() {
		return r.parseData(body)
	}
	fields := decoder{rest: body}
	r.inode, r.parent, r.newParent = fields.number(math.MaxUint64), fields.number(math.MaxUint64), fields.number(math.MaxUint64)
	r.offset, r.length = int64(fields.number(maxFileBytes)), int64(fields.number(maxFileBytes))
	for _, into := range []*uint32{&r.mask, &r.mode, &r.uid, &r.gid, &r.device} {
		*into = uint32(fields.number(math.MaxUint32))
	}
	r.access, r.modify = fields.signed(), fields.signed()
	r.name, r.newName, r.target = fields.text(maxNameBytes), fields.text(maxNameBytes), fields.text(maxTargetBytes)
	if !fields.isDone() {
		return fmt.Errorf("%w: its parts are not those of a change", errBadRecord)
	}
	return nil
}

func (r *record) parseData(body []byte) error {
	if len(body) < dataBytes {
		return errBadRecord
	}
	r.inode = binary.LittleEndian.Uint64(body)
	offset := binary.LittleEndian.Uint64(body[8:])
	r.data = body[dataBytes:]
	if offset > maxFileBytes || len(r.data) == 0 || offset+uint64(len(r.data)) > maxFileBytes {
		return errBadRecord
	}
	r.offset = int64(offset)
	return nil
}
