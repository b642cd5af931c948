package overwrite

import (
	"context"
	"errors"
)

// Files are those of one directory, in which nobody else changes anything. Changes of names are on the disks when they
// return. Errors wrap ErrLost or ErrFull where it is one of them.
type Files interface {
	// List gives all files, those that are being written too.
	List(ctx context.Context) ([]Listed, error)
	// Create begins a file, in place of one that has the name.
	Create(ctx context.Context, name string) (Appender, error)
	// Open reads a file that is sealed.
	Open(ctx context.Context, name string) (Reader, error)
	// Rename takes the place of a file. One that is being written is written on.
	Rename(ctx context.Context, from, to string) error
	Remove(ctx context.Context, name string) error
}

// Listed is a file of a list.
type Listed struct {
	Name   string
	Length int64
	// Synced is how much of it was certainly synced by whoever has written it; the rest may be anything.
	Synced int64
}

// Appender adds bytes to a file. Its methods are called one at a time.
type Appender interface {
	Append(ctx context.Context, data []byte) error
	// Sync returns when all that was appended is on the disks.
	Sync(ctx context.Context) error
	// Seal ends the file; it is on the disks.
	Seal(ctx context.Context) error
	// Close gives it up as it is. It is called after Seal as well.
	Close()
}

// Reader reads a file; its methods may be called at the same time.
type Reader interface {
	// ReadAt fills the buffer, or fails.
	ReadAt(ctx context.Context, buffer []byte, offset int64) error
	Close()
}

var (
	// ErrLost is an error after which nothing may be changed any more: somebody else may have the directory.
	ErrLost = errors.New("the directory may be somebody else's")
	// ErrFull is an error of disks without room.
	ErrFull = errors.New("the disks are full")
	// ErrCorrupt is an error of files that do not hold what was synced.
	ErrCorrupt = errors.New("what was synced is not there any more")
)
