package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// writeAheadBytes is how much may have been added before the disk begins with it, whether there is a sync or not.
const writeAheadBytes = 1 << 20

// Append adds bytes at the end of a segment, which it makes if the offset is 0, and returns the segment's
// length. Bytes that are there already are compared: a writer may send again what it has had no answer to.
// What was added is on the disk after Sync or Seal.
func (s *Store) Append(id ID, epoch uint64, offset int64, data []byte) (int64, error) {
	if offset < 0 || len(data) > MaxRequestBytes {
		return 0, Failf(Invalid, "%d bytes at %d: at most %d are added at once, at the end", len(data), offset, MaxRequestBytes)
	}
	find := s.find
	if offset == 0 {
		find = func(id ID) (*held, error) { return s.findOrCreate(id, epoch) }
	}
	return s.change(id, epoch, find, func(segment *held) error {
		rest, err := segment.withoutKnown(offset, data)
		if err != nil || len(rest) == 0 {
			return err
		}
		if segment.sealed {
			return Failf(Sealed, "%s is sealed: nothing can be added", id)
		}
		if err := s.checkSpace(len(rest)); err != nil {
			return err
		}
		return segment.add(rest)
	})
}

// Sync has a segment on the disk, with its name, and returns its length.
func (s *Store) Sync(id ID, epoch uint64) (int64, error) {
	return s.change(id, epoch, s.find, func(segment *held) error {
		if segment.sealed {
			return segment.syncName()
		}
		return segment.sync()
	})
}

// Fence refuses writers with lower epochs from now on, and returns the segment's length.
func (s *Store) Fence(id ID, epoch uint64) (int64, error) {
	return s.change(id, epoch, s.find, func(*held) error { return nil })
}

// Seal cuts a segment off at a length, has it and its checksums on the disk, and ends it. One that is sealed
// with this length already is left as it is.
func (s *Store) Seal(id ID, epoch uint64, length int64) (int64, error) {
	find := s.find
	if length == 0 {
		// A slot that no byte has come to has no segment yet.
		find = func(id ID) (*held, error) { return s.findOrCreate(id, epoch) }
	}
	var changed *held
	length, err := s.change(id, epoch, find, func(segment *held) error {
		changed = segment
		return segment.sealAt(length)
	})
	if err == nil {
		s.holdAsSealed(changed)
	}
	return length, err
}

func (s *Store) holdAsSealed(segment *held) {
	s.finding.Lock()
	defer s.finding.Unlock()
	if s.open[segment.id] != segment {
		return
	}
	delete(s.open, segment.id)
	s.sealed.add(segment)
}

// change has a segment for itself while it does something to it.
func (s *Store) change(id ID, epoch uint64, find func(ID) (*held, error), do func(*held) error) (int64, error) {
	for {
		segment, err := find(id)
		if err != nil {
			return 0, err
		}
		length, again, err := segment.change(epoch, do)
		if !again {
			return length, err
		}
	}
}

func (h *held) change(epoch uint64, do func(*held) error) (length int64, again bool, err error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err := h.load(); err != nil {
		return 0, false, err
	}
	if h.closed {
		return 0, true, nil
	}
	if err := h.take(epoch); err != nil {
		return h.sums.length, false, err
	}
	err = do(h)
	return h.sums.length, false, err
}

// take compares the epoch of a writer with that of the segment, and has a higher one on the disk first.
func (h *held) take(epoch uint64) error {
	if epoch < h.epoch {
		return Failf(Fenced, "%s has a writer with epoch %d: one with %d is no longer its writer", h.id, h.epoch, epoch)
	}
	if h.sealed || epoch == h.epoch && !h.isFencing {
		return nil
	}
	before, after := h.path(fileName(h.id, h.epoch, false)), h.path(fileName(h.id, epoch, false))
	if err := os.Rename(before, after); err != nil {
		return ofDevice("fence", h.id, err)
	}
	h.epoch, h.named, h.isFencing = epoch, false, true
	if err := h.syncName(); err != nil {
		return err
	}
	h.isFencing = false
	return nil
}

// withoutKnown gives the part of what shall be added that is not there yet.
func (h *held) withoutKnown(offset int64, data []byte) ([]byte, error) {
	if offset > h.sums.length {
		return nil, Failf(Short, "%s has %d bytes: nothing can be added at %d", h.id, h.sums.length, offset)
	}
	known := data[:min(int64(len(data)), h.sums.length-offset)]
	if len(known) == 0 {
		return data, nil
	}
	there := make([]byte, len(known))
	if _, err := h.file.ReadAt(there, offset); err != nil {
		return nil, ofDevice("read", h.id, err)
	}
	if !bytes.Equal(there, known) {
		return nil, Failf(Different, "%s has other bytes from %d to %d than the writer", h.id, offset, offset+int64(len(known)))
	}
	return data[len(known):], nil
}

// add writes at the end. What is written in part, on a full disk, is cut off again.
func (h *held) add(data []byte) error {
	if _, err := h.file.WriteAt(data, h.sums.length); err != nil {
		return errors.Join(ofDevice("add to", h.id, err), h.file.Truncate(h.sums.length))
	}
	h.sums.add(data)
	if waiting := h.sums.length - h.writing; waiting >= writeAheadBytes {
		beginWriting(h.file, h.writing, waiting)
		h.writing = h.sums.length
	}
	return nil
}

func (h *held) sync() error {
	if err := h.syncContent(); err != nil {
		return ofDevice("sync", h.id, err)
	}
	return h.syncName()
}

// syncContent has all that was added on the disk, if it is not there. After a failure all of it is written again: the
// kernel takes for written what it could not write.
func (h *held) syncContent() error {
	if h.synced == h.sums.length {
		return nil
	}
	if h.hasFailed {
		if err := h.writeAgain(); err != nil {
			return err
		}
	}
	if err := syncData(h.file); err != nil {
		h.hasFailed = true
		return err
	}
	h.synced, h.hasFailed = h.sums.length, false
	return nil
}

// writeAgain writes what may not be on the disk, if it still is as it was added.
func (h *held) writeAgain() error {
	part := make([]byte, MaxRequestBytes)
	for offset := max(h.synced, 0) / PageBytes * PageBytes; offset < h.sums.length; {
		n, err := h.read(offset, part)
		if err != nil {
			return err
		}
		if _, err := h.file.WriteAt(part[:n], offset); err != nil {
			return err
		}
		offset += int64(n)
	}
	return nil
}

// syncName has the segment's name on the disk, which it may not be yet, also of one that was found there.
func (h *held) syncName() error {
	if h.named {
		return nil
	}
	err := h.parents.syncEntries(h.directory)
	if err == nil && !h.rooted {
		err = h.parents.sync(filepath.Dir(h.directory))
	}
	if err != nil {
		return ofDevice("sync", h.id, err)
	}
	h.named, h.rooted = true, true
	return nil
}

func (h *held) sealAt(length int64) error {
	switch {
	case h.sums.length < length:
		return Failf(Short, "%s has %d bytes, which are not the %d to seal it with", h.id, h.sums.length, length)
	case h.sealed && h.sums.length > length:
		return Failf(Sealed, "%s is sealed with %d bytes: it cannot be cut to %d", h.id, h.sums.length, length)
	case h.sealed:
		return h.syncName()
	}
	return h.seal(length)
}

// seal has the data and the checksums on the disk before the name that says that they are.
func (h *held) seal(length int64) error {
	if err := h.cut(length); err != nil {
		return err
	}
	sealedPath := h.path(fileName(h.id, h.epoch, true))
	err := h.syncWithSums(sealedPath + sumsSuffix)
	if err == nil {
		err = os.Rename(h.path(fileName(h.id, h.epoch, false)), sealedPath)
	}
	if err != nil {
		return ofDevice("seal", h.id, err)
	}
	h.sealed, h.named = true, false
	return h.syncName()
}

// syncWithSums has the disk do both at once.
func (h *held) syncWithSums(path string) error {
	written := make(chan error, 1)
	go func() { written <- writeThrough(path, h.sums.encode()) }()
	return errors.Join(h.syncContent(), <-written)
}

func (h *held) cut(length int64) error {
	if h.sums.length == length {
		return nil
	}
	isRotten, err := h.isCutInRottenPage(length)
	if err != nil {
		return err
	}
	h.synced = unknownSynced
	if err := h.file.Truncate(length); err != nil {
		return ofDevice("cut", h.id, err)
	}
	h.writing = min(h.writing, length)
	if err := h.addSumsFrom(h.file, h.sums.cut(length)); err != nil {
		return err
	}
	if isRotten {
		h.sums.spoilLast()
	}
	return nil
}

// isCutInRottenPage says whether a cut goes through a page that is not as it was added.
func (h *held) isCutInRottenPage(length int64) (bool, error) {
	if length%PageBytes == 0 {
		return false, nil
	}
	_, err := h.read(length, make([]byte, 1))
	if isReason(err, Corrupt) {
		return true, nil
	}
	return false, err
}

// writeThrough has a whole file on the disk, or none.
func writeThrough(path string, text []byte) error {
	file, err := os.OpenFile(path+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, ownerReadsWrites)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, syncData(file), file.Close()); err == nil {
		err = os.Rename(path+newSuffix, path)
	}
	if err != nil {
		_ = os.Remove(path + newSuffix)
	}
	return err
}

func (h *held) path(name string) string {
	return filepath.Join(h.directory, name)
}
