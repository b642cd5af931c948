package overwrite

import "cmp"

// extent is a part of a file, and where it is.
type extent struct {
	inode    uint64
	offset   int64
	length   int64
	segment  uint64
	position int64
}

func compareExtents(a, b extent) int {
	return cmp.Or(cmp.Compare(a.inode, b.inode), cmp.Compare(a.offset, b.offset))
}

func (e extent) end() int64 {
	return e.offset + e.length
}

// within gives the part of it between two offsets, which it has.
func (e extent) within(from, to int64) extent {
	begin, end := max(e.offset, from), min(e.end(), to)
	e.position += begin - e.offset
	e.offset, e.length = begin, end-begin
	return e
}

// weight is what it takes in a segment: its bytes alone would never let a file of small pieces be clean.
func (e extent) weight() int64 {
	return e.length + overheadBytes
}

// cover gives the parts of a file between two offsets that are somewhere; the others are zero.
func (t *tables) cover(inode uint64, from, to int64) []extent {
	var parts []extent
	add := func(found extent) bool {
		if found.inode != inode || found.offset >= to {
			return false
		}
		if found.end() > from {
			parts = append(parts, found.within(from, to))
		}
		return true
	}
	t.extents.Ascend(t.firstAt(inode, from), add)
	return parts
}

// firstAt gives from where to look for what covers an offset.
func (t *tables) firstAt(inode uint64, offset int64) extent {
	first := extent{inode: inode, offset: offset}
	t.extents.Descend(first, func(before extent) bool {
		if before.inode == inode {
			first = before
		}
		return false
	})
	return first
}

// punch has a part of a file be nowhere.
func (t *tables) punch(inode uint64, from, to int64) {
	var touched []extent
	t.extents.Ascend(t.firstAt(inode, from), func(found extent) bool {
		if found.inode != inode || found.offset >= to {
			return false
		}
		if found.end() > from {
			touched = append(touched, found)
		}
		return true
	})
	for _, old := range touched {
		t.remove(old)
		if old.offset < from {
			t.insert(old.within(old.offset, from))
		}
		if old.end() > to {
			t.insert(old.within(to, old.end()))
		}
	}
}

// put has a part of a file be somewhere.
func (t *tables) put(placed extent) {
	t.punch(placed.inode, placed.offset, placed.end())
	t.insert(placed)
}

func (t *tables) insert(added extent) {
	t.extents.Set(added)
	t.live[added.segment] += added.weight()
	t.liveBytes += added.weight()
}

func (t *tables) remove(old extent) {
	t.extents.Delete(old)
	t.live[old.segment] -= old.weight()
	t.liveBytes -= old.weight()
	if t.live[old.segment] == 0 {
		delete(t.live, old.segment)
	}
}

// mustBeIn gives an extent that is not within its segment, if there is one.
func (t *tables) mustBeIn(lengths map[uint64]int64) (extent, bool) {
	var wrong extent
	isWrong := false
	t.extents.Scan(func(found extent) bool {
		length, isThere := lengths[found.segment]
		if !isThere || found.position+found.length > length {
			wrong, isWrong = found, true
		}
		return !isWrong
	})
	return wrong, isWrong
}

// in gives all extents of some segments, in the order of the files.
func (t *tables) in(segments map[uint64]bool) []extent {
	var found []extent
	t.extents.Scan(func(each extent) bool {
		if segments[each.segment] {
			found = append(found, each)
		}
		return true
	})
	return found
}
