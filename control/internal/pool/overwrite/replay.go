package overwrite

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
)

// replay has tables say what a log says.
type replay struct {
	*tables
	// sequence is that of the last record.
	sequence uint64
	// cutBytes are at the end, where no record is.
	cutBytes int64
}

// all goes through the log from a segment on, and gives the first number after all that are there.
func (r *replay) all(ctx context.Context, files Files, from uint64, segments map[uint64]Listed) (next uint64, err error) {
	next = from
	for number := range segments {
		next = max(next, number+1)
	}
	for number := from; number < next; number++ {
		listed, isThere := segments[number]
		if !isThere {
			return 0, fmt.Errorf("%w: %s is missing", ErrCorrupt, segmentName(number))
		}
		text, err := readWhole(ctx, files, listed)
		if err != nil {
			return 0, err
		}
		// A segment is begun once the one before is wholly on the disks.
		needed := int64(len(text))
		if number == next-1 {
			needed = listed.Synced
		}
		if err := r.segment(number, text, needed); err != nil {
			return 0, fmt.Errorf("%s: %w", listed.Name, err)
		}
	}
	return next, nil
}

// segment goes through one, of which so many bytes are needed.
func (r *replay) segment(number uint64, text []byte, needed int64) error {
	position := 0
	for position < len(text) {
		read, length, err := parseRecord(text[position:])
		if err == nil {
			err = r.follows(&read, number, position == 0)
		}
		if err != nil {
			return r.cut(text, position, needed, err)
		}
		if err := r.check(&read); err != nil {
			return fmt.Errorf("%w: the record at byte %d cannot be made: %w", ErrCorrupt, position, err)
		}
		r.apply(&read, place{segment: number, position: int64(position + overheadBytes)})
		r.sequence, position = read.sequence, position+length
	}
	return nil
}

// follows says whether a record is the next one.
func (r *replay) follows(read *record, number uint64, isFirst bool) error {
	isBegin := read.kind == kindBegin
	if read.sequence != r.sequence+1 || isBegin != isFirst || isBegin && read.inode != number {
		return fmt.Errorf("%w that is the next one", errBadRecord)
	}
	return nil
}

// cut ends the log where no record is, unless what is there was synced.
func (r *replay) cut(text []byte, position int, needed int64, cause error) error {
	isLost := int64(position) < needed
	if !isLost {
		isLost = r.wasSynced(text[position:])
	}
	if isLost {
		return fmt.Errorf("%w: %w at byte %d, which was synced", ErrCorrupt, cause, position)
	}
	r.cutBytes = int64(len(text) - position)
	return nil
}

// wasSynced says whether a later record tells that the next one was synced.
func (r *replay) wasSynced(rest []byte) bool {
	magic := binary.LittleEndian.AppendUint32(nil, recordMagic)
	const magicAt = 4
	for {
		at := bytes.Index(rest, magic)
		if at < 0 {
			return false
		}
		if at >= magicAt {
			later, _, err := parseRecord(rest[at-magicAt:])
			if err == nil && later.sequence > r.sequence && later.durable > r.sequence {
				return true
			}
		}
		rest = rest[at+1:]
	}
}
