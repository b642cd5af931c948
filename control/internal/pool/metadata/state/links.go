package state

import (
	"slices"
	"strings"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

// move is a change of two paths.
type move interface {
	GetVolume() string
	GetSource() string
	GetSourceEpoch() uint64
	GetTarget() string
	GetTargetEpoch() uint64
}

func (s *State) checkEpochs(change move) error {
	if err := s.checkEpoch(change.GetVolume(), change.GetSource(), change.GetSourceEpoch()); err != nil {
		return err
	}
	return s.checkEpoch(change.GetVolume(), change.GetTarget(), change.GetTargetEpoch())
}

func (s *State) linkFile(change *sluicev1.LinkFileChange) error {
	if err := s.checkEpochs(change); err != nil {
		return err
	}
	source, _, err := s.fileAt(change.GetVolume(), change.GetSource())
	if err != nil {
		return err
	}
	where, found, err := s.place(change.GetVolume(), change.GetTarget())
	switch {
	case err != nil:
		return err
	case found != nil:
		return exists(change.GetTarget())
	case !source.Sealed:
		return entry.Refusef(entry.Open, "the file %s is open", source.ID).WithHint("Seal it first.")
	case len(source.names) >= entry.MaxLinks:
		return limit("paths of the file", entry.MaxLinks)
	}
	if err := s.checkRoom(); err != nil {
		return err
	}
	s.names.Set(named{location: where, file: source.ID})
	s.setNames(source, append(slices.Clone(source.names), where))
	return nil
}

func (s *State) rename(change *sluicev1.RenameChange) (*sluicev1.ChangeMetadataResponse, error) {
	if err := s.checkEpochs(change); err != nil {
		return nil, err
	}
	_, source, err := s.place(change.GetVolume(), change.GetSource())
	if err != nil {
		return nil, err
	}
	if source == nil {
		return nil, noPath(change.GetSource())
	}
	where, target, err := s.place(change.GetVolume(), change.GetTarget())
	if err != nil {
		return nil, err
	}
	if isSame(*source, target) {
		return &sluicev1.ChangeMetadataResponse{}, nil
	}
	if err := s.mayMove(change, *source, target); err != nil {
		return nil, err
	}
	if source.child != 0 {
		s.moveDirectory(*source, where, target)
		return &sluicev1.ChangeMetadataResponse{}, nil
	}
	removal := s.unlink(target)
	s.moveFile(*source, where)
	return &sluicev1.ChangeMetadataResponse{Removal: message.EncodeRemoval(removal)}, nil
}

// isSame says whether two names are of the same file or directory, where a rename changes nothing, as in POSIX.
func isSame(source named, target *named) bool {
	return target != nil && source.child == target.child && source.file == target.file
}

func (s *State) mayMove(change *sluicev1.RenameChange, source named, target *named) error {
	for _, path := range []string{change.GetSource(), change.GetTarget()} {
		if err := s.checkNoLease(change.GetVolume(), path); err != nil {
			return err
		}
	}
	if source.child == 0 {
		if target == nil {
			return nil
		}
		if target.child != 0 {
			return isDirectory(change.GetTarget())
		}
		return s.checkRemovals()
	}
	switch {
	case entry.Covers(change.GetSource(), change.GetTarget()):
		return invalidf("the directory %q cannot move to below itself", change.GetSource())
	case target != nil && target.child == 0:
		return notDirectory(change.GetTarget())
	case target != nil && !s.isEmpty(target.child):
		return notEmpty(change.GetTarget())
	}
	return s.checkBelow(source.child, change.GetTarget())
}

// checkBelow refuses paths that would get too long by the move of their directory.
func (s *State) checkBelow(number uint64, path string) error {
	if len(path) > entry.MaxPathBytes || strings.Count(path, "/") > entry.MaxDepth {
		return invalidf("the path %q would be too long", path)
	}
	var err error
	s.names.Ascend(named{location: location{directory: number}}, func(item named) bool {
		if item.directory != number {
			return false
		}
		below := entry.JoinPath(path, item.name)
		if err = entry.CheckPath(below); err == nil && item.child != 0 {
			err = s.checkBelow(item.child, below)
		}
		return err == nil
	})
	return err
}

func (s *State) moveDirectory(source named, where location, target *named) {
	if target != nil {
		s.dropDirectory(*target)
	}
	s.names.Delete(source)
	s.names.Set(named{location: where, child: source.child})
	moved, _ := s.directories.Get(directory{number: source.child})
	moved.at = where
	s.directories.Set(moved)
}

func (s *State) moveFile(source named, where location) {
	s.names.Delete(source)
	s.names.Set(named{location: where, file: source.file})
	f := s.file(source.file)
	names := slices.Clone(f.names)
	names[slices.Index(names, source.location)] = where
	s.setNames(f, names)
}
