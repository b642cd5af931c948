package overwrite

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

const (
	segmentPrefix  = "segment-"
	snapshotPrefix = "snapshot-"
	// newSuffix is of a file that is not yet what its name says.
	newSuffix = ".new"
)

func segmentName(number uint64) string {
	return fmt.Sprintf("%s%016x", segmentPrefix, number)
}

func snapshotName(number uint64) string {
	return fmt.Sprintf("%s%016x", snapshotPrefix, number)
}

// parseName gives the number in a name of segments or snapshots.
func parseName(prefix, name string) (uint64, bool) {
	digits, isOne := strings.CutPrefix(name, prefix)
	const digitsOfNumber = 16
	if !isOne || len(digits) != digitsOfNumber {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 16, 64)
	return number, err == nil && number > 0
}

// segment is a part of the log.
type segment struct {
	number uint64

	// Those are the log's, under its lock.

	// buffer has all of the segment until it is sealed. What is in it does not change any more.
	buffer []byte
	length int64
	// last is the sequence of its last record.
	last uint64
	// sent is how much the file has of the buffer; file is nil before it is made, and after it was lost.
	sent int
	file Appender
	// wasMade says that there is a file of the name already.
	wasMade bool

	// opening is held while it is opened for reading.
	opening sync.Mutex
	reader  Reader
	// using is held for reading while somebody reads it, so that it is not removed.
	using sync.RWMutex
}

// readAt reads what is sealed.
func (s *segment) readAt(ctx context.Context, files Files, into []byte, position int64) error {
	reader, err := s.open(ctx, files)
	if err != nil {
		return err
	}
	return reader.ReadAt(ctx, into, position)
}

func (s *segment) open(ctx context.Context, files Files) (Reader, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.reader != nil {
		return s.reader, nil
	}
	reader, err := files.Open(ctx, segmentName(s.number))
	if err != nil {
		return nil, err
	}
	s.reader = reader
	return reader, nil
}

// close is for one that nobody reads any more.
func (s *segment) close() {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.reader != nil {
		s.reader.Close()
		s.reader = nil
	}
}
