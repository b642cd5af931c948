package segment

import (
	"errors"
	"os"
	"path/filepath"

	"sluice.dev/control/internal/pool/layout"
)

// Remove removes the segments of a file, and says how many there were. It is on the disk when it returns.
func (s *Store) Remove(file layout.FileID) (int, error) {
	s.finding.Lock()
	defer s.finding.Unlock()
	if err := s.checkOpen(); err != nil {
		return 0, err
	}
	directory := directoryOf(s.root, file)
	entries, err := os.ReadDir(directory)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, Failf(Device, "remove %s: %w", directory, err)
	}
	removed := 0
	for _, entry := range entries {
		id, _, _, ok := parseName(file, entry.Name())
		if !ok {
			continue
		}
		removed++
		if segment := s.open[id]; segment != nil {
			delete(s.open, id)
			_ = segment.close()
		}
		s.sealed.remove(id)
	}
	if err := errors.Join(os.RemoveAll(directory), s.parents.syncEntries(filepath.Dir(directory))); err != nil {
		return removed, Failf(Device, "remove %s: %w", directory, err)
	}
	return removed, nil
}

// RemoveOne removes a segment, unless it has seen that epoch or a higher one: what was written under an epoch
// outlasts all removals of that epoch. That there is none is no failure. It is on the disk when it returns.
func (s *Store) RemoveOne(id ID, epoch uint64) error {
	if err := id.check(); err != nil {
		return err
	}
	s.finding.Lock()
	defer s.finding.Unlock()
	segment, err := s.findLocked(id)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := segment.giveUp(epoch); err != nil {
		return err
	}
	delete(s.open, id)
	s.sealed.remove(id)
	return segment.unlink()
}

// giveUp closes a segment that has seen lower epochs alone.
func (h *held) giveUp(epoch uint64) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.epoch >= epoch {
		return Failf(Fenced, "%s has seen epoch %d, and one with %d is not to remove it", h.id, h.epoch, epoch)
	}
	if isOpened := !h.closed && h.file != nil; isOpened {
		_ = h.file.Close()
	}
	h.closed = true
	return nil
}

// unlink removes the data before the checksums: a segment that is there has them. The directory goes with its last
// segment.
func (h *held) unlink() error {
	data := h.path(fileName(h.id, h.epoch, h.sealed))
	err := os.Remove(data)
	if err == nil && h.sealed {
		err = os.Remove(data + sumsSuffix)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return ofDevice("remove", h.id, err)
	}
	changed := h.directory
	if os.Remove(h.directory) == nil {
		changed = filepath.Dir(h.directory)
	}
	if err := h.parents.syncEntries(changed); err != nil {
		return ofDevice("remove", h.id, err)
	}
	return nil
}
