package segment

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sluice.dev/control/internal/pool/layout"
)

// tidy removes what was not made or removed to its end, while nobody else has the store.
func (s *Store) tidy() error {
	directories, err := filepath.Glob(filepath.Join(s.root, "*", "*"))
	if err != nil {
		return err
	}
	for _, directory := range directories {
		if err := s.tidyDirectory(directory); err != nil {
			return fmt.Errorf("remove what was not made to its end: %w", err)
		}
	}
	return nil
}

func (s *Store) tidyDirectory(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil // It is none, or one that whoever needs it fails at.
	}
	names := make(map[string]bool, len(entries))
	for _, entry := range entries {
		names[entry.Name()] = true
	}
	for name := range names {
		if !strings.HasSuffix(name, newSuffix) {
			continue
		}
		if err := os.Remove(filepath.Join(directory, name)); err != nil {
			return err
		}
	}
	if file, err := layout.ParseFileID(filepath.Base(directory)); err == nil {
		s.removeSums(directory, sumsWithoutSegment(file, names))
	}
	return nil
}

// sumsWithoutSegment are the names of checksums of no segment: it was removed, or is still open, under the same epoch or
// a later one. An open one has no checksums on the disk, and new ones are written when it is sealed.
func sumsWithoutSegment(file layout.FileID, names map[string]bool) []string {
	var without []string
	for name := range names {
		data, isSums := strings.CutSuffix(name, sumsSuffix)
		if _, _, isSealed, ok := parseName(file, data); isSums && ok && isSealed && !names[data] {
			without = append(without, name)
		}
	}
	return without
}

// removeSums removes checksums, and the directory with the last name in it. That there is no segment of theirs is on the
// disk before: after a loss of power it must not be back without them. What fails is left to the next start, as it harms
// nobody until then.
func (s *Store) removeSums(directory string, names []string) {
	if len(names) == 0 || s.parents.syncEntries(directory) != nil {
		return
	}
	for _, name := range names {
		_ = os.Remove(filepath.Join(directory, name))
	}
	// It is kept where there is a segment.
	_ = os.Remove(directory)
}
