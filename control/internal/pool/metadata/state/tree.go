package state

import (
	"slices"
	"strings"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
)

// checkPath refuses paths of no volume, and those that are none.
func (s *State) checkPath(volumeName, path string) error {
	if err := entry.CheckPath(path); err != nil {
		return err
	}
	if _, isThere := s.volumes.Get(volume{name: volumeName}); !isThere {
		return noVolume(volumeName)
	}
	return nil
}

// at gives what is at a path that checkPath has taken; the child of a volume's root is its number.
func (s *State) at(volumeName, path string) (named, error) {
	root, _ := s.volumes.Get(volume{name: volumeName})
	found := named{child: root.root}
	if path == entry.Root {
		return found, nil
	}
	var isThere bool
	for name := range strings.SplitSeq(path[1:], "/") {
		if found.child == 0 {
			return named{}, notDirectory(s.pathOf(found.location))
		}
		found, isThere = s.names.Get(named{location: location{found.child, name}})
		if !isThere {
			return named{}, noPath(path)
		}
	}
	return found, nil
}

// directoryAt gives the number of the directory at a path.
func (s *State) directoryAt(volumeName, path string) (uint64, error) {
	found, err := s.at(volumeName, path)
	if err != nil {
		return 0, err
	}
	if found.child == 0 {
		return 0, notDirectory(path)
	}
	return found.child, nil
}

// fileAt gives the file at a path.
func (s *State) fileAt(volumeName, path string) (*file, named, error) {
	found, err := s.at(volumeName, path)
	if err != nil {
		return nil, named{}, err
	}
	if found.child != 0 {
		return nil, named{}, isDirectory(path)
	}
	return s.file(found.file), found, nil
}

// file is one that is there.
func (s *State) file(id entry.FileID) *file {
	found, _ := s.files.Get(&file{File: entry.File{ID: id}})
	return found
}

// place gives the location of a path, and what is there, if anything is. Its directory must be there.
func (s *State) place(volumeName, path string) (location, *named, error) {
	if path == entry.Root {
		return location{}, nil, invalidf("%q is the volume's own directory, which always is there", path)
	}
	parent, name := entry.SplitPath(path)
	number, err := s.directoryAt(volumeName, parent)
	if err != nil {
		return location{}, nil, err
	}
	where := location{number, name}
	found, isThere := s.names.Get(named{location: where})
	if !isThere {
		return where, nil, nil
	}
	return where, &found, nil
}

// pathOf is the path of a name.
func (s *State) pathOf(where location) string {
	names := []string{where.name}
	for {
		above, _ := s.directories.Get(directory{number: where.directory})
		if above.at.directory == 0 {
			break
		}
		names = append(names, above.at.name)
		where = above.at
	}
	slices.Reverse(names)
	return entry.Root + strings.Join(names, "/")
}

func (s *State) isEmpty(number uint64) bool {
	isEmpty := true
	s.names.Ascend(named{location: location{directory: number}}, func(item named) bool {
		isEmpty = item.directory != number
		return false
	})
	return isEmpty
}

func (s *State) checkRoom() error {
	if s.names.Len() >= entry.MaxEntries {
		return limit("files and directories", entry.MaxEntries)
	}
	return nil
}

func (s *State) createVolume(name string) error {
	if err := entry.CheckVolume(name); err != nil {
		return err
	}
	if _, isThere := s.volumes.Get(volume{name: name}); isThere {
		return entry.Refusef(entry.Exists, "there is a volume %q", name).WithHint("Use it, or choose another name.")
	}
	if s.volumes.Len() >= entry.MaxVolumes {
		return limit("volumes", entry.MaxVolumes)
	}
	s.lastDirectory++
	s.volumes.Set(volume{name, s.lastDirectory})
	s.directories.Set(directory{number: s.lastDirectory, volume: name})
	return nil
}

func (s *State) removeVolume(name string) error {
	found, isThere := s.volumes.Get(volume{name: name})
	switch {
	case !isThere:
		return noVolume(name)
	case !s.isEmpty(found.root):
		return notEmpty(entry.Root)
	}
	if err := s.checkNoLease(name, entry.Root); err != nil {
		return err
	}
	s.volumes.Delete(found)
	s.directories.Delete(directory{number: found.root})
	return nil
}

func (s *State) createDirectory(change *sluicev1.CreateDirectoryChange) error {
	if err := s.checkEpoch(change.GetVolume(), change.GetPath(), change.GetEpoch()); err != nil {
		return err
	}
	where, found, err := s.place(change.GetVolume(), change.GetPath())
	if err != nil {
		return err
	}
	if found != nil {
		return exists(change.GetPath())
	}
	if err := s.checkRoom(); err != nil {
		return err
	}
	s.lastDirectory++
	s.directories.Set(directory{s.lastDirectory, change.GetVolume(), where})
	s.names.Set(named{location: where, child: s.lastDirectory})
	return nil
}

func (s *State) removeDirectory(change *sluicev1.RemoveDirectoryChange) error {
	if err := s.checkEpoch(change.GetVolume(), change.GetPath(), change.GetEpoch()); err != nil {
		return err
	}
	_, found, err := s.place(change.GetVolume(), change.GetPath())
	switch {
	case err != nil:
		return err
	case found == nil:
		return noPath(change.GetPath())
	case found.child == 0:
		return notDirectory(change.GetPath())
	case !s.isEmpty(found.child):
		return notEmpty(change.GetPath())
	}
	if err := s.checkNoLease(change.GetVolume(), change.GetPath()); err != nil {
		return err
	}
	s.dropDirectory(*found)
	return nil
}

func (s *State) dropDirectory(found named) {
	s.names.Delete(found)
	s.directories.Delete(directory{number: found.child})
}
