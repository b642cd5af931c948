package overwrite

import (
	"cmp"
	"context"
	"slices"
)

const (
	// mostCleaned is how many segments are cleaned at a time.
	mostCleaned = 8
	// A segment with more than mostLiveShare of it live is left as it is.
	mostLiveShare = 0.9
)

// tend writes a snapshot if it is time, and cleans until little enough is dead.
func (f *FileSystem) tend() error {
	if f.bytesAfterSnapshot() >= f.options.SnapshotBytes {
		if err := f.writeSnapshot(); err != nil {
			return err
		}
	}
	for !f.tender.isEnding() {
		if err := f.removeDead(); err != nil {
			return err
		}
		victims := f.victims()
		if len(victims) == 0 {
			return nil
		}
		if err := f.clean(victims); err != nil {
			return err
		}
	}
	return nil
}

func (f *FileSystem) bytesAfterSnapshot() int64 {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	var after int64
	for number := f.next; number < f.head.number; number++ {
		if each := f.segments[number]; each != nil {
			after += f.log.lengthOf(each)
		}
	}
	return after
}

// victims are the segments that give the most room for what has to be moved, nil if it is not needed.
func (f *FileSystem) victims() []*segment {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	if f.deadBytes() <= f.tables.liveBytes+f.options.SpareBytes {
		return nil
	}
	share := func(s *segment) float64 { return float64(f.tables.live[s.number]) / float64(f.log.lengthOf(s)) }
	var all []*segment
	for _, each := range f.segments {
		if each != f.head && f.log.isSealed(each) && share(each) <= mostLiveShare {
			all = append(all, each)
		}
	}
	slices.SortFunc(all, func(a, b *segment) int { return cmp.Compare(share(a), share(b)) })
	return all[:min(len(all), mostCleaned)]
}

// clean moves what is live in some segments to the end of the log, and removes them.
func (f *FileSystem) clean(victims []*segment) error {
	numbers := make(map[uint64]bool)
	for _, each := range victims {
		numbers[each.number] = true
	}
	// To copy a tree changes a mark in it.
	f.mutex.Lock()
	next, all := f.next, f.tables.copied()
	f.mutex.Unlock()
	for _, run := range runs(all.in(numbers), int64(f.options.RecordBytes)) {
		if err := f.move(run); err != nil {
			return err
		}
	}
	isInLog := func(s *segment) bool { return s.number >= next }
	if slices.ContainsFunc(victims, isInLog) {
		if err := f.writeSnapshot(); err != nil {
			return err
		}
	}
	return f.removeDead()
}

// runs puts together what follows each other in a file, up to so many bytes.
func runs(extents []extent, most int64) [][]extent {
	var all [][]extent
	for _, each := range extents {
		if n := len(all); n > 0 {
			first, last := all[n-1][0], all[n-1][len(all[n-1])-1]
			if last.inode == each.inode && last.end() == each.offset && each.end()-first.offset <= most {
				all[n-1] = append(all[n-1], each)
				continue
			}
		}
		all = append(all, []extent{each})
	}
	return all
}

// move adds what is left of a run to the log.
func (f *FileSystem) move(run []extent) error {
	first, last := run[0], run[len(run)-1]
	data := make([]byte, last.end()-first.offset)
	spans := f.spansOf(run)
	err := f.readSpans(f.ctx, spans, func(part extent) []byte { return data[part.offset-first.offset:][:part.length] })
	if err != nil {
		return err
	}
	if err := f.log.room(); err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, part := range f.leftOf(run) {
		moved := &record{kind: kindMove, inode: part.inode, offset: part.offset, data: data[part.offset-first.offset:][:part.length]}
		if err := f.submit(moved); err != nil {
			return err
		}
	}
	return nil
}

// spansOf is spans of what is still where it was.
func (f *FileSystem) spansOf(run []extent) []span {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	return f.spans(f.stillThere(run))
}

// stillThere gives the parts of a run that are where they were.
func (f *FileSystem) stillThere(run []extent) []extent {
	var left []extent
	for _, former := range run {
		for _, part := range f.tables.cover(former.inode, former.offset, former.end()) {
			if part == former.within(part.offset, part.end()) {
				left = append(left, part)
			}
		}
	}
	return left
}

// leftOf is stillThere, with what follows each other as one part; where it is does not count.
func (f *FileSystem) leftOf(run []extent) []extent {
	var left []extent
	for _, part := range f.stillThere(run) {
		if n := len(left); n > 0 && left[n-1].end() == part.offset {
			left[n-1].length += part.length
			continue
		}
		left = append(left, part)
	}
	return left
}

// removeDead removes the segments that neither a file nor a start needs.
func (f *FileSystem) removeDead() error {
	dead, last := f.deadSegments()
	if len(dead) == 0 {
		return nil
	}
	// A crash must not bring back what has made them dead.
	if err := f.log.sync(last); err != nil {
		return err
	}
	for _, each := range dead {
		if err := f.removeSegment(f.ctx, each); err != nil {
			return err
		}
	}
	return nil
}

func (f *FileSystem) deadSegments() (dead []*segment, last uint64) {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	for _, each := range f.segments {
		if each.number < f.next && f.tables.live[each.number] == 0 && f.log.isSealed(each) {
			dead = append(dead, each)
		}
	}
	return dead, f.log.last()
}

func (f *FileSystem) removeSegment(ctx context.Context, dead *segment) error {
	// Nobody finds it any more: only who has found it before may be reading.
	dead.using.Lock()
	defer dead.using.Unlock()
	dead.close()
	if err := f.files.Remove(ctx, segmentName(dead.number)); err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.segments, dead.number)
	f.endedBytes -= dead.length
	return nil
}
