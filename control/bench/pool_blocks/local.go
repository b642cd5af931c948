package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// local is a file on one device.
type local struct {
	*os.File
}

func createLocal(folder string) (kept, error) {
	file, err := os.Create(filepath.Join(folder, "local"))
	if err != nil {
		return nil, err
	}
	return local{file}, nil
}

func (l local) finish() error {
	return unix.Fdatasync(int(l.Fd()))
}

func (l local) scan(context.Context) (io.ReadCloser, error) {
	return os.Open(l.Name())
}

func (l local) readAt(_ context.Context, buffer []byte, offset int64) error {
	// As RocksDB has it for reads of single blocks.
	if err := unix.Fadvise(int(l.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
		return err
	}
	_, err := l.ReadAt(buffer, offset)
	return err
}

func (l local) remove(context.Context) error {
	if err := l.Close(); err != nil {
		return err
	}
	return os.Remove(l.Name())
}
