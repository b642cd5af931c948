package files

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/stripe"
)

// Writer adds bytes to a new file.
type Writer struct {
	session *Session
	id      entry.FileID
	stripes *stripe.Writer

	// noting is held while a length is told to the metadata: lengths only grow.
	noting sync.Mutex
	noted  int64
}

// Create makes a file, in place of one that has the path. Others see it at once, and of it what was synced.
func (s *Session) Create(ctx context.Context, path string) (*Writer, error) {
	ctx, cancel := s.during(ctx)
	defer cancel()
	var id entry.FileID
	// It never fails: crypto/rand ends the program before.
	_, _ = rand.Read(id[:])
	servers, err := layout.Place(id, s.servers(), s.config.Copies)
	if err != nil {
		return nil, err
	}
	file := entry.File{ID: id, Layout: entry.Layout{BlockBytes: uint32(s.config.BlockBytes), Servers: servers}}
	replaced, err := s.metadata.CreateFile(ctx, metadata.NewFile{At: s.at(path), ID: id, Layout: file.Layout, Replace: true})
	if err != nil {
		return nil, s.explain(err)
	}
	s.sweeper.wake(replaced)
	writer, err := stripe.NewWriter(s.ctx, StripesOf(file), s.lease.Epoch, s.services, s.config.Options, s.lost(StripesOf(file)))
	if err != nil {
		return nil, err
	}
	return &Writer{session: s, id: id, stripes: writer}, nil
}

// servers are those of a new file: without those that would have it wait, and then go on without a copy.
func (s *Session) servers() []string {
	trusted := slices.DeleteFunc(slices.Clone(s.config.Servers), s.config.Suspects.Has)
	if len(trusted) < s.config.Copies {
		return s.config.Servers
	}
	return trusted
}

// ID is the file's.
func (w *Writer) ID() entry.FileID {
	return w.id
}

// Append adds bytes at the end, which are there for certain after Sync or Seal alone.
func (w *Writer) Append(data []byte) error {
	return w.session.explain(w.stripes.Append(data))
}

// Sync returns when all that was appended before is on the disks, and readers see it.
func (w *Writer) Sync(ctx context.Context) error {
	length, err := w.stripes.Sync()
	if err != nil {
		return w.session.explain(err)
	}
	w.noting.Lock()
	defer w.noting.Unlock()
	if length <= w.noted {
		return nil
	}
	ctx, cancel := w.session.during(ctx)
	defer cancel()
	if err := w.session.metadata.SetLength(ctx, w.id, w.session.lease.Epoch, uint64(length)); err != nil {
		return w.session.explain(err)
	}
	w.noted = length
	return nil
}

// Seal ends the file: it is on the disks, and never changes.
func (w *Writer) Seal(ctx context.Context) error {
	length, err := w.stripes.Seal()
	if err != nil {
		return w.session.explain(err)
	}
	ctx, cancel := w.session.during(ctx)
	defer cancel()
	return w.session.explain(w.session.metadata.SealFile(ctx, w.id, w.session.lease.Epoch, uint64(length)))
}

// Close gives the writer up; to be called after Seal as well. A file that is not sealed stays open.
func (w *Writer) Close() {
	w.stripes.Close()
}

// Open reads a file of the session's volume.
func (s *Session) Open(ctx context.Context, path string) (*Reader, error) {
	ctx, cancel := s.during(ctx)
	defer cancel()
	reader, err := s.view.Open(ctx, path)
	return reader, s.explain(err)
}

// Stat gives a file of the session's volume, nil for a directory.
func (s *Session) Stat(ctx context.Context, path string) (*entry.File, error) {
	ctx, cancel := s.during(ctx)
	defer cancel()
	file, err := s.view.Stat(ctx, path)
	return file, s.explain(err)
}

// List gives all that is in a directory of the session's volume, in the order of the names.
func (s *Session) List(ctx context.Context, path string) ([]entry.Name, error) {
	ctx, cancel := s.during(ctx)
	defer cancel()
	names, err := s.view.List(ctx, path)
	return names, s.explain(err)
}

// Remove removes a file; its blocks go when it has no other name.
func (s *Session) Remove(ctx context.Context, path string) error {
	return s.changeRemoving(ctx, func(ctx context.Context) (*entry.Removal, error) {
		return s.metadata.RemoveFile(ctx, s.at(path))
	})
}

// Rename gives a file or directory another path, in place of a file that has it.
func (s *Session) Rename(ctx context.Context, source, target string) error {
	return s.changeRemoving(ctx, func(ctx context.Context) (*entry.Removal, error) {
		return s.metadata.Rename(ctx, s.move(source, target))
	})
}

// Link gives a sealed file a second path.
func (s *Session) Link(ctx context.Context, source, target string) error {
	return s.changeRemoving(ctx, func(ctx context.Context) (*entry.Removal, error) {
		return nil, s.metadata.LinkFile(ctx, s.move(source, target))
	})
}

// MakeDirectory makes a directory; that there is one already is no error.
func (s *Session) MakeDirectory(ctx context.Context, path string) error {
	err := s.changeRemoving(ctx, func(ctx context.Context) (*entry.Removal, error) {
		return nil, s.metadata.CreateDirectory(ctx, s.at(path))
	})
	if err == nil || entry.ReasonOf(err) != entry.Exists {
		return err
	}
	if file, statErr := s.Stat(ctx, path); statErr != nil || file != nil {
		return errors.Join(err, statErr)
	}
	return nil
}

// RemoveDirectory removes an empty directory.
func (s *Session) RemoveDirectory(ctx context.Context, path string) error {
	return s.changeRemoving(ctx, func(ctx context.Context) (*entry.Removal, error) {
		return nil, s.metadata.RemoveDirectory(ctx, s.at(path))
	})
}

func (s *Session) changeRemoving(ctx context.Context, change func(context.Context) (*entry.Removal, error)) error {
	ctx, cancel := s.during(ctx)
	defer cancel()
	removal, err := change(ctx)
	s.sweeper.wake(removal)
	return s.explain(err)
}

func (s *Session) move(source, target string) metadata.Move {
	return metadata.Move{
		Volume: s.config.Volume, Source: source, Target: target, SourceEpoch: s.lease.Epoch, TargetEpoch: s.lease.Epoch,
	}
}
