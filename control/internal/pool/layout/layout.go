// Package layout says where the bytes of a pool's file are: its blocks go round a cyclic order of slots, and
// each slot's blocks, one after the other, are a segment, which a server holds. There is a segment of each
// slot for each copy.
package layout

import (
	"encoding/hex"
	"fmt"
)

// FileIDBytes is the size of a file's id.
const FileIDBytes = 16

// FileID names a file for as long as there is one, whatever its path.
type FileID [FileIDBytes]byte

// String gives it as hexadecimal digits.
func (id FileID) String() string {
	return hex.EncodeToString(id[:])
}

// ParseFileID reads what String gives.
func ParseFileID(text string) (FileID, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != FileIDBytes || FileID(raw).String() != text {
		return FileID{}, fmt.Errorf("%q is not the id of a file, which is %d digits of 0-9 and a-f", text, 2*FileIDBytes)
	}
	return FileID(raw), nil
}

// Stripes is how a file is spread.
type Stripes struct {
	// BlockBytes is the size of each block but the last.
	BlockBytes int64
	// Slots is how many segments share the blocks.
	Slots int
}

// Piece is a run of bytes within one block.
type Piece struct {
	Slot int
	// SegmentOffset and FileOffset are where it begins, in bytes.
	SegmentOffset int64
	FileOffset    int64
	Bytes         int64
}

// Pieces cuts bytes of a file at the ends of its blocks, in the order of the file.
func (s Stripes) Pieces(offset, length int64) []Piece {
	var pieces []Piece
	for length > 0 {
		block, within := offset/s.BlockBytes, offset%s.BlockBytes
		bytes := min(length, s.BlockBytes-within)
		pieces = append(pieces, Piece{
			Slot:          int(block % int64(s.Slots)),
			SegmentOffset: block/int64(s.Slots)*s.BlockBytes + within,
			FileOffset:    offset,
			Bytes:         bytes,
		})
		offset, length = offset+bytes, length-bytes
	}
	return pieces
}

// SegmentBytes is the length of a slot's segment in a file of that length.
func (s Stripes) SegmentBytes(fileBytes int64, slot int) int64 {
	blocks, rest := fileBytes/s.BlockBytes, fileBytes%s.BlockBytes
	bytes := blocks / int64(s.Slots) * s.BlockBytes
	switch last := blocks % int64(s.Slots); {
	case int64(slot) < last:
		return bytes + s.BlockBytes
	case int64(slot) == last:
		return bytes + rest
	}
	return bytes
}

// FileOffset is where in the file a byte of a segment is.
func (s Stripes) FileOffset(slot int, segmentOffset int64) int64 {
	round, within := segmentOffset/s.BlockBytes, segmentOffset%s.BlockBytes
	return (round*int64(s.Slots)+int64(slot))*s.BlockBytes + within
}

// FileBytes is how long a file is of which each slot has so many bytes: it ends where the first of its bytes
// is missing.
func (s Stripes) FileBytes(segmentBytes []int64) int64 {
	end := int64(-1)
	for slot, bytes := range segmentBytes {
		rounds, within := bytes/s.BlockBytes, bytes%s.BlockBytes
		missing := (rounds*int64(s.Slots)+int64(slot))*s.BlockBytes + within
		if end < 0 || missing < end {
			end = missing
		}
	}
	return max(end, 0)
}
