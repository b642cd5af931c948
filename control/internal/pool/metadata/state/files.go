package state

import (
	"slices"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

func (s *State) createFile(change *sluicev1.CreateFileChange) (*sluicev1.ChangeMetadataResponse, error) {
	id, err := message.DecodeFileID(change.GetFileId())
	if err != nil {
		return nil, err
	}
	layout, err := message.DecodeLayout(change.GetLayout())
	if err != nil {
		return nil, err
	}
	if err := s.checkEpoch(change.GetVolume(), change.GetPath(), change.GetEpoch()); err != nil {
		return nil, err
	}
	where, found, err := s.place(change.GetVolume(), change.GetPath())
	if err != nil {
		return nil, err
	}
	if err := s.checkFree(change, found, id); err != nil {
		return nil, err
	}
	removal := s.unlink(found)
	s.setFile(&file{
		File: entry.File{
			Volume: change.GetVolume(), ID: id, Layout: s.shared(layout), Epoch: change.GetEpoch(), Links: 1,
		},
		names: []location{where},
	})
	s.names.Set(named{location: where, file: id})
	return &sluicev1.ChangeMetadataResponse{Removal: message.EncodeRemoval(removal)}, nil
}

// checkFree refuses a file where it may not be; found is what is there.
func (s *State) checkFree(change *sluicev1.CreateFileChange, found *named, id entry.FileID) error {
	_, isRemoved := s.removals.Get(&entry.Removal{ID: id})
	switch {
	case found != nil && found.child != 0:
		return isDirectory(change.GetPath())
	case found != nil && !change.GetReplace():
		return exists(change.GetPath())
	case isRemoved || s.file(id) != nil:
		return entry.Refusef(entry.Exists, "there is a file with the id %s, or its blocks are still there", id).
			WithHint("Choose other random bytes.")
	case found == nil:
		return s.checkRoom()
	}
	return s.checkRemovals()
}

func (s *State) checkRemovals() error {
	if s.removals.Len() >= entry.MaxRemovals {
		return limit("removals to be confirmed", entry.MaxRemovals)
	}
	return nil
}

// shared has each name of a server in memory once.
func (s *State) shared(layout entry.Layout) entry.Layout {
	for _, servers := range layout.Servers {
		for i, server := range servers {
			if _, isThere := s.servers[server]; !isThere {
				s.servers[server] = server
			}
			servers[i] = s.servers[server]
		}
	}
	return layout
}

// setFile puts a file in the place of what had its id.
func (s *State) setFile(f *file) {
	s.files.Set(f)
	if f.Sealed {
		s.open.Delete(f)
		return
	}
	s.open.Set(f)
}

// unlink takes a name away from its file, and gives what is to be removed if it was the last one. Nil has none.
func (s *State) unlink(found *named) *entry.Removal {
	if found == nil {
		return nil
	}
	s.names.Delete(*found)
	f := s.file(found.file)
	if len(f.names) > 1 {
		s.setNames(f, slices.DeleteFunc(slices.Clone(f.names), func(name location) bool { return name == found.location }))
		return nil
	}
	s.files.Delete(f)
	s.open.Delete(f)
	removal := &entry.Removal{Volume: f.Volume, ID: f.ID, Layout: f.Layout, LengthBytes: f.LengthBytes}
	s.removals.Set(removal)
	return removal
}

func (s *State) setNames(f *file, names []location) {
	slices.SortFunc(names, compareLocations)
	changed := *f
	changed.names, changed.Links = names, uint32(len(names))
	s.setFile(&changed)
}

func (s *State) removeFile(change *sluicev1.RemoveFileChange) (*sluicev1.ChangeMetadataResponse, error) {
	if err := s.checkEpoch(change.GetVolume(), change.GetPath(), change.GetEpoch()); err != nil {
		return nil, err
	}
	_, found, err := s.fileAt(change.GetVolume(), change.GetPath())
	if err != nil {
		return nil, err
	}
	if err := s.checkRemovals(); err != nil {
		return nil, err
	}
	return &sluicev1.ChangeMetadataResponse{Removal: message.EncodeRemoval(s.unlink(&found))}, nil
}

// fileOf gives the file of an id.
func (s *State) fileOf(encoded []byte) (*file, error) {
	id, err := message.DecodeFileID(encoded)
	if err != nil {
		return nil, err
	}
	found := s.file(id)
	if found == nil {
		return nil, noFile(id)
	}
	return found, nil
}

func (s *State) setLength(change *sluicev1.SetLengthChange) error {
	found, err := s.fileOf(change.GetFileId())
	if err != nil {
		return err
	}
	if err := s.checkFileEpoch(found, change.GetEpoch()); err != nil {
		return err
	}
	if found.Sealed {
		return sealed(found.ID)
	}
	return s.grow(found, change.GetLengthBytes(), false)
}

func (s *State) sealFile(change *sluicev1.SealFileChange) error {
	found, err := s.fileOf(change.GetFileId())
	if err != nil {
		return err
	}
	if err := s.checkFileEpoch(found, change.GetEpoch()); err != nil {
		return err
	}
	if found.Sealed && found.LengthBytes != change.GetLengthBytes() {
		return sealed(found.ID)
	}
	return s.grow(found, change.GetLengthBytes(), true)
}

func (s *State) grow(found *file, lengthBytes uint64, isSealed bool) error {
	if err := entry.CheckLength(lengthBytes); err != nil {
		return err
	}
	if lengthBytes < found.LengthBytes {
		return entry.Refusef(entry.Shorter, "the file %s has %d bytes on the disks, and cannot have %d", found.ID, found.LengthBytes, lengthBytes).
			WithHint("Keep what was synced, or write another file.")
	}
	changed := *found
	changed.LengthBytes, changed.Sealed = lengthBytes, isSealed
	s.setFile(&changed)
	return nil
}

func (s *State) confirmRemoval(change *sluicev1.ConfirmRemovalChange) error {
	id, err := message.DecodeFileID(change.GetFileId())
	if err != nil {
		return err
	}
	if s.file(id) != nil {
		return entry.Refusef(entry.Exists, "the file %s has a path", id).WithHint("Remove its paths before its blocks.")
	}
	s.removals.Delete(&entry.Removal{ID: id})
	return nil
}
