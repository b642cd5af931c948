package segment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"sluice.dev/control/internal/pool/layout"
)

// Remove removes the segments of a file, and says how many there were. It is on the disk when it returns.
func (s *Store) Remove(file layout.FileID) (int, error) {
	directory := directoryOf(s.root, file)
	removed, err := s.removeAll(file, directory)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err == nil {
		err = s.parents.syncEntries(filepath.Dir(directory))
	}
	if err != nil {
		return removed, Failf(Device, "remove %s: %w", directory, err)
	}
	return removed, nil
}

// removeAll removes the directory of a file. The disk is waited for after it, so that nobody else waits meanwhile.
func (s *Store) removeAll(file layout.FileID, directory string) (int, error) {
	s.finding.Lock()
	defer s.finding.Unlock()
	if err := s.checkOpen(); err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		return 0, err
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
	return removed, os.RemoveAll(directory)
}

// RemoveOne removes a segment, unless it has seen that epoch or a higher one: what was written under an epoch
// outlasts all removals of that epoch. That there is none is no failure. It is on the disk when it returns.
func (s *Store) RemoveOne(id ID, epoch uint64) error {
	if err := id.check(); err != nil {
		return err
	}
	changed, err := s.removeOne(id, epoch)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	err = s.parents.syncEntries(changed)
	if errors.Is(err, os.ErrNotExist) {
		// Somebody else has removed the last segment in it.
		err = s.parents.syncEntries(filepath.Dir(changed))
	}
	if err != nil {
		return ofDevice("remove", id, err)
	}
	return nil
}

// removeOne gives the directory that is changed by it, and then is to be on the disk.
func (s *Store) removeOne(id ID, epoch uint64) (changed string, err error) {
	s.finding.Lock()
	defer s.finding.Unlock()
	segment, err := s.findLocked(id)
	if err != nil {
		return "", err
	}
	if err := segment.giveUp(epoch); err != nil {
		return "", err
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
// segment. It gives the directory that is changed.
func (h *held) unlink() (changed string, err error) {
	err = os.Remove(h.path(fileName(h.id, h.epoch, h.sealed)))
	if err == nil || errors.Is(err, os.ErrNotExist) {
		err = h.unlinkSums()
	}
	if err != nil {
		return "", ofDevice("remove", h.id, err)
	}
	if os.Remove(h.directory) == nil {
		return filepath.Dir(h.directory), nil
	}
	return h.directory, nil
}

// unlinkSums removes all checksums of a segment: an open one has some too, of whatever epoch, where it could not be sealed.
func (h *held) unlinkSums() error {
	entries, err := os.ReadDir(h.directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		data, isSums := strings.CutSuffix(entry.Name(), sumsSuffix)
		if id, _, _, ok := parseName(h.id.File, data); !isSums || !ok || id != h.id {
			continue
		}
		if err := os.Remove(h.path(entry.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
