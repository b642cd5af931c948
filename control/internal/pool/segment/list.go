package segment

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"

	"sluice.dev/control/internal/pool/layout"
)

// State is what is known of a segment.
type State struct {
	ID     ID
	Length int64
	Sealed bool
	Epoch  uint64
	// Damaged says that its checksums, or an open one itself, cannot be read; its length is that of its file then.
	Damaged bool
}

// List gives the states of all segments of up to so many files whose ids are greater than one, in the order
// of their ids, and whether there may be more. Directories without segments, as a crash leaves them, do not count: a
// page that is not the last has a file to go on after.
func (s *Store) List(after layout.FileID, files int) ([]State, bool, error) {
	var states []State
	listed := 0
	for file, err := range s.fileIDs(after) {
		if err != nil {
			return nil, false, err
		}
		if listed == files {
			return states, true, nil
		}
		of, err := s.ListFile(file)
		if err != nil {
			return nil, false, err
		}
		if len(of) > 0 {
			states = append(states, of...)
			listed++
		}
	}
	return states, false, nil
}

// fileIDs gives those that are greater than one, in their order. It reads no more directories than it is asked for: each
// page of a list begins anew.
func (s *Store) fileIDs(after layout.FileID) iter.Seq2[layout.FileID, error] {
	return func(yield func(layout.FileID, error) bool) {
		for first := int(after[0]); first <= math.MaxUint8; first++ {
			ids, err := idsIn(filepath.Join(s.root, fmt.Sprintf("%02x", first)))
			if err != nil {
				yield(layout.FileID{}, err)
				return
			}
			for _, id := range ids {
				if slices.Compare(id[:], after[:]) > 0 && !yield(id, nil) {
					return
				}
			}
		}
	}
}

// idsIn are the files whose directories are in a directory, in their order. What the disk does not give is not there.
func idsIn(directory string) ([]layout.FileID, error) {
	entries, err := os.ReadDir(directory)
	if errors.Is(err, os.ErrNotExist) || isUnreadable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, Failf(Device, "list %s: %w", directory, err)
	}
	var ids []layout.FileID
	for _, entry := range entries {
		if id, err := layout.ParseFileID(entry.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ListFile gives the states of the segments of a file, in the order of copies within slots.
func (s *Store) ListFile(file layout.FileID) ([]State, error) {
	directory := directoryOf(s.root, file)
	entries, err := os.ReadDir(directory)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Failf(Device, "list %s: %w", directory, err)
	}
	var states []State
	for _, entry := range entries {
		id, epoch, sealed, ok := parseName(file, entry.Name())
		if !ok {
			continue
		}
		state, err := s.Describe(id)
		if isReason(err, Corrupt) || isUnreadable(err) {
			state, err = damagedState(entry, State{ID: id, Sealed: sealed, Epoch: epoch})
		}
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		states = append(states, state)
	}
	slices.SortFunc(states, func(a, b State) int {
		if a.ID.Slot != b.ID.Slot {
			return a.ID.Slot - b.ID.Slot
		}
		return a.ID.Copy - b.ID.Copy
	})
	return slices.CompactFunc(states, func(a, b State) bool { return a.ID == b.ID }), nil
}

// damagedState is what the name and the file of a segment say, whose checksums do not.
func damagedState(file os.DirEntry, known State) (State, error) {
	info, err := file.Info()
	if errors.Is(err, os.ErrNotExist) {
		return State{}, Failf(NotFound, "%s was removed: %w", known.ID, err)
	}
	if err != nil {
		return State{}, ofDevice("look at", known.ID, err)
	}
	known.Length, known.Damaged = info.Size(), true
	return known, nil
}
