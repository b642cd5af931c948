package overwrite

import (
	"context"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

const (
	// mostReads are under way at a time for one call.
	mostReads = 8
	// mostGapBytes are read for nothing rather than that two parts are read by themselves: records that were added one
	// after the other have their headers in between.
	mostGapBytes = 4096
	mostSpan     = 1 << 20
)

// Write puts bytes into a file. What is written at once is more than one record if it is long.
func (f *FileSystem) Write(inode uint64, data []byte, offset int64) error {
	for len(data) > 0 {
		part := data[:min(len(data), f.options.RecordBytes)]
		if err := f.change(&record{kind: kindWrite, inode: inode, offset: offset, data: part}); err != nil {
			return err
		}
		data, offset = data[len(part):], offset+int64(len(part))
	}
	return nil
}

// Resize cuts a file, or has it be longer with zeros.
func (f *FileSystem) Resize(inode uint64, size int64) error {
	return f.change(&record{kind: kindResize, inode: inode, offset: size})
}

// Punch has a part of a file be zeros. It gets no longer.
func (f *FileSystem) Punch(inode uint64, offset, length int64) error {
	return f.change(&record{kind: kindPunch, inode: inode, offset: offset, length: length})
}

// Extend has a file be at least so long.
func (f *FileSystem) Extend(inode uint64, size int64) error {
	if err := f.admit(); err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if found, _ := f.tables.inode(inode); found.Size >= size {
		return nil
	}
	return f.submit(&record{kind: kindResize, inode: inode, offset: size})
}

// Read fills a buffer with bytes of a file; with fewer where it ends.
func (f *FileSystem) Read(ctx context.Context, inode uint64, into []byte, offset int64) (int, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	f.mutex.RLock()
	found, isThere := f.tables.inode(inode)
	if !isThere {
		f.mutex.RUnlock()
		return 0, unix.ENOENT
	}
	wanted := min(int64(len(into)), max(found.Size-offset, 0))
	into = into[:wanted]
	spans := f.spans(f.tables.cover(inode, offset, offset+wanted))
	f.mutex.RUnlock()
	clear(into)
	return int(wanted), f.readSpans(ctx, spans, func(part extent) []byte {
		return into[part.offset-offset:][:part.length]
	})
}

// span is what is read at once: parts that lie close together in a segment.
type span struct {
	segment *segment
	// memory is all of the segment, if it is not sealed.
	memory []byte
	parts  []extent
}

func (s span) begin() int64 {
	return s.parts[0].position
}

func (s span) end() int64 {
	last := s.parts[len(s.parts)-1]
	return last.position + last.length
}

// takes says whether a part can be read with it.
func (s span) takes(part extent) bool {
	gap := part.position - s.end()
	return part.segment == s.segment.number && gap >= 0 && gap <= mostGapBytes && part.position+part.length-s.begin() <= mostSpan
}

// spans has the segments stay until readSpans has read them. It is called under the lock.
func (f *FileSystem) spans(parts []extent) []span {
	var all []span
	for _, part := range parts {
		if n := len(all); n > 0 && all[n-1].takes(part) {
			all[n-1].parts = append(all[n-1].parts, part)
			continue
		}
		of := f.segments[part.segment]
		of.using.RLock()
		all = append(all, span{segment: of, memory: f.log.memory(of), parts: []extent{part}})
	}
	return all
}

// readSpans reads each part into the room for it.
func (f *FileSystem) readSpans(ctx context.Context, spans []span, room func(extent) []byte) error {
	defer func() {
		for _, each := range spans {
			each.segment.using.RUnlock()
		}
	}()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(mostReads)
	for _, each := range spans {
		if each.memory != nil {
			each.copyTo(each.memory, 0, room)
			continue
		}
		group.Go(func() error { return f.readSpan(ctx, each, room) })
	}
	return group.Wait()
}

func (f *FileSystem) readSpan(ctx context.Context, from span, room func(extent) []byte) error {
	if len(from.parts) == 1 {
		return from.segment.readAt(ctx, f.files, room(from.parts[0]), from.begin())
	}
	buffer := make([]byte, from.end()-from.begin())
	if err := from.segment.readAt(ctx, f.files, buffer, from.begin()); err != nil {
		return err
	}
	from.copyTo(buffer, from.begin(), room)
	return nil
}

// copyTo takes the parts from bytes that begin at a position.
func (s span) copyTo(bytes []byte, at int64, room func(extent) []byte) {
	for _, part := range s.parts {
		copy(room(part), bytes[part.position-at:])
	}
}
