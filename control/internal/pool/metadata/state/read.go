package state

import (
	"slices"

	"sluice.dev/control/internal/pool/metadata/entry"
)

// filling is a page that is being filled.
type filling[T any] struct {
	items       []T
	limit, left int
	more        bool
}

func fill[T any](limit int) *filling[T] {
	if limit <= 0 || limit > entry.MaxPageEntries {
		limit = entry.MaxPageEntries
	}
	return &filling[T]{limit: limit, left: entry.MaxPageBytes}
}

// add takes one more, and says whether to go on.
func (f *filling[T]) add(item T, bytes int) bool {
	if len(f.items) == f.limit || f.left < 0 {
		f.more = true
		return false
	}
	f.left -= bytes
	f.items = append(f.items, item)
	return true
}

// What an entry takes in a message, beside its texts.
const (
	entryBytes  = 128
	serverBytes = 2
	placeBytes  = 8
)

func bytesOf(layout entry.Layout) int {
	bytes := entryBytes
	for _, servers := range layout.Servers {
		for _, server := range servers {
			bytes += len(server) + serverBytes
		}
	}
	return bytes
}

func bytesOfFile(f entry.File) int {
	return bytesOf(f.Layout) + placeBytes*len(f.Missing) + len(f.Volume)
}

// shown gives a file with nothing of it that a reader could change.
func (f *file) shown() entry.File {
	shown := f.File
	shown.Layout, shown.Missing = f.Layout.Clone(), slices.Clone(f.Missing)
	return shown
}

// Volumes lists volumes in the order of their names.
func (s *State) Volumes(page entry.Page[string]) (names []string, more bool) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	filled := fill[string](page.Limit)
	s.volumes.Ascend(volume{name: page.After}, func(item volume) bool {
		return item.name == page.After || filled.add(item.name, len(item.name))
	})
	return filled.items, filled.more
}

// Stat gives the file at a path, nil for a directory.
func (s *State) Stat(volumeName, path string) (*entry.File, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if err := s.checkPath(volumeName, path); err != nil {
		return nil, err
	}
	found, err := s.at(volumeName, path)
	if err != nil || found.child != 0 {
		return nil, err
	}
	shown := s.file(found.file).shown()
	return &shown, nil
}

// Directory lists what is in a directory in the order of the names.
func (s *State) Directory(volumeName, path string, page entry.Page[string]) (names []entry.Name, more bool, err error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if err := s.checkPath(volumeName, path); err != nil {
		return nil, false, err
	}
	number, err := s.directoryAt(volumeName, path)
	if err != nil {
		return nil, false, err
	}
	filled := fill[entry.Name](page.Limit)
	s.names.Ascend(named{location: location{number, page.After}}, func(item named) bool {
		if item.directory != number {
			return false
		}
		return item.name == page.After || s.addName(filled, item)
	})
	return filled.items, filled.more, nil
}

func (s *State) addName(filled *filling[entry.Name], item named) bool {
	if item.child != 0 {
		return filled.add(entry.Name{Name: item.name}, len(item.name))
	}
	shown := s.file(item.file).shown()
	return filled.add(entry.Name{Name: item.name, File: &shown}, len(item.name)+bytesOfFile(shown))
}

// OpenFiles lists the files below a directory that are not sealed, in the order of their ids.
func (s *State) OpenFiles(volumeName, path string, page entry.Page[*entry.FileID]) (files []entry.OpenFile, more bool, err error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if err := s.checkPath(volumeName, path); err != nil {
		return nil, false, err
	}
	filled := fill[entry.OpenFile](page.Limit)
	after(s.open, page.After, func(item *file) bool {
		at := s.pathOf(item.names[0])
		if item.Volume != volumeName || !entry.Covers(path, at) {
			return true
		}
		return filled.add(entry.OpenFile{Path: at, File: item.shown()}, len(at)+bytesOfFile(item.File))
	})
	return filled.items, filled.more, nil
}

// FilesOn lists the files that have a part on a server, or all files if it has no name, in the order of their ids.
func (s *State) FilesOn(server string, page entry.Page[*entry.FileID]) (found []entry.File, more bool) {
	// It may have to go through all files, and must not keep changes waiting for so long.
	s.mutex.Lock()
	files := s.files.Copy()
	s.mutex.Unlock()
	filled := fill[entry.File](page.Limit)
	after(files, page.After, func(item *file) bool {
		return server != "" && !item.Layout.IsOn(server) || filled.add(item.shown(), bytesOfFile(item.File))
	})
	return filled.items, filled.more
}

// after goes through files with a greater id; nil has all.
func after(files interface {
	Ascend(pivot *file, iter func(item *file) bool)
}, id *entry.FileID, visit func(item *file) bool) {
	pivot := &file{}
	if id != nil {
		pivot.ID = *id
	}
	files.Ascend(pivot, func(item *file) bool {
		return id != nil && item.ID == *id || visit(item)
	})
}

// Leases lists the leases of a volume in the order of their paths.
func (s *State) Leases(volumeName string, page entry.Page[string]) (leases []entry.Lease, more bool, err error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if _, isThere := s.volumes.Get(volume{name: volumeName}); !isThere {
		return nil, false, noVolume(volumeName)
	}
	filled := fill[entry.Lease](page.Limit)
	s.leases.Ascend(entry.Lease{Volume: volumeName, Path: page.After}, func(item entry.Lease) bool {
		if item.Volume != volumeName {
			return false
		}
		return item.Path == page.After || filled.add(item, entryBytes+len(item.Path)+len(item.Holder))
	})
	return filled.items, filled.more, nil
}

// Removals lists what is to be removed in the order of the ids.
func (s *State) Removals(page entry.Page[*entry.FileID]) (removals []entry.Removal, more bool) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	pivot := &entry.Removal{}
	if page.After != nil {
		pivot.ID = *page.After
	}
	filled := fill[entry.Removal](page.Limit)
	s.removals.Ascend(pivot, func(item *entry.Removal) bool {
		if page.After != nil && item.ID == *page.After {
			return true
		}
		shown := *item
		shown.Layout = item.Layout.Clone()
		return filled.add(shown, bytesOf(item.Layout)+len(item.Volume))
	})
	return filled.items, filled.more
}

// CheckLease gives the lease on a path if the epoch is its own.
func (s *State) CheckLease(volumeName, path string, epoch uint64) (entry.Lease, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if err := s.checkPath(volumeName, path); err != nil {
		return entry.Lease{}, err
	}
	lease, isThere := s.leases.Get(entry.Lease{Volume: volumeName, Path: path})
	if !isThere || lease.Epoch != epoch {
		return entry.Lease{}, fenced(path, epoch, s.covering(volumeName, path))
	}
	return lease, nil
}

// AllLeases gives the leases of all volumes.
func (s *State) AllLeases() []entry.Lease {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return s.leases.Items()
}

// Counts are how much there is.
type Counts struct {
	Volumes, Directories, Files, OpenFiles, Leases, Removals int
}

// Counts says how much there is; the roots of volumes are no directories of it.
func (s *State) Counts() Counts {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return Counts{
		Volumes: s.volumes.Len(), Directories: s.directories.Len() - s.volumes.Len(), Files: s.files.Len(),
		OpenFiles: s.open.Len(), Leases: s.leases.Len(), Removals: s.removals.Len(),
	}
}
