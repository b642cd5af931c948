package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// file keeps the document in a file, of which this process is the only writer.
type file struct {
	path  string
	mutex sync.Mutex
}

// NewFile keeps service levels in a file. Its folder must be there.
func NewFile(path string) Store {
	return &file{path: path}
}

func (f *file) Load(context.Context) (Set, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.load()
}

func (f *file) load() (Set, error) {
	text, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Set{}, nil
	case err != nil:
		return Set{}, f.failed("read", err)
	default:
		return decode(text, 0)
	}
}

func (f *file) Swap(_ context.Context, from Set, objects []servicelevel.Object) (Set, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	is, err := f.load()
	if err != nil {
		return Set{}, err
	}
	if is.Revision != from.Revision {
		return Set{}, changedMeanwhile()
	}
	next, text, err := encode(from, objects)
	if err != nil {
		return Set{}, err
	}
	if err := replace(f.path, text); err != nil {
		return Set{}, f.failed("write", err)
	}
	return next, nil
}

func (f *file) Close() error { return nil }

func (f *file) failed(what string, err error) error {
	return store.Errorf(store.CodeUnavailable, "%s the service levels: %w", what, err).
		WithHint("service_levels.state_file must be a file in a folder that the controller may write to.")
}

// replace puts a text in the place of a file, so that whatever happens the old one is there or the new one, and the
// new one stays once this has returned.
func replace(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-")
	if err != nil {
		return err
	}
	err = errors.Join(writeOut(temporary, text), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

func writeOut(to *os.File, text []byte) error {
	if _, err := to.Write(text); err != nil {
		return err
	}
	return to.Sync()
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	return nil
}
