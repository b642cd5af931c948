package client

import (
	"context"
	"errors"
	"io"

	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/store"
)

// List gives the files in the session's directory.
func (s *Session) List(ctx context.Context) ([]message.Name, error) {
	lane, err := s.take(ctx, 0)
	if err != nil {
		return nil, err
	}
	names, err := list(ctx, lane, s.config.Path)
	s.giveBack(lane, err)
	return names, err
}

// FreeBytes is how much room there is for files.
func (s *Session) FreeBytes(ctx context.Context) (int64, error) {
	var found message.SpaceResult
	err := s.ask(ctx, message.MethodSpace, struct{}{}, &found)
	return found.FreeBytes, err
}

// Rename takes the place of a file. An error may be that the answer was lost: then it may have been done.
func (s *Session) Rename(ctx context.Context, from, to string) error {
	params := message.MoveParams{Source: s.path(from), Target: s.path(to)}
	return s.once(ctx, 0, request{method: message.MethodRename, params: params}, &message.EmptyResult{}, nil)
}

// Remove removes a file; that it is not there is no error.
func (s *Session) Remove(ctx context.Context, name string) error {
	err := s.ask(ctx, message.MethodRemove, message.PathParams{Path: s.path(name)}, &message.EmptyResult{})
	if reasonOf(err) == string(entry.NotFound) {
		return nil
	}
	return err
}

// File is one that is open, until the session is begun anew.
type File struct {
	session    *Session
	generation uint64
	number     uint64
	// ID names it for as long as it exists.
	ID message.FileID
	// LengthBytes is how long it was when it was opened.
	LengthBytes int64
}

// Create begins a file, in place of one that has the name.
func (s *Session) Create(ctx context.Context, name string) (*File, error) {
	return s.open(ctx, message.MethodCreate, name)
}

// Open reads a file.
func (s *Session) Open(ctx context.Context, name string) (*File, error) {
	return s.open(ctx, message.MethodOpen, name)
}

// open is done again where there was no answer: to make a file takes the place of one that was made.
func (s *Session) open(ctx context.Context, method, name string) (*File, error) {
	file, err := s.openOnce(ctx, method, name)
	if errors.Is(err, errBroken) && ctx.Err() == nil {
		return s.openOnce(ctx, method, name)
	}
	return file, err
}

func (s *Session) openOnce(ctx context.Context, method, name string) (*File, error) {
	var opened message.OpenResult
	file := &File{session: s}
	keep := func(used *lane) error {
		file.generation = used.generation
		return nil
	}
	asked := request{method: method, params: message.PathParams{Path: s.path(name)}}
	if err := s.once(ctx, 0, asked, &opened, keep); err != nil {
		return nil, err
	}
	file.number, file.ID, file.LengthBytes = opened.File, opened.ID, opened.LengthBytes
	return file, nil
}

// IsFormer says of an error that the file has to be opened, or made, anew.
func IsFormer(err error) bool {
	return errors.Is(err, errFormer) || errors.Is(err, errBroken)
}

// IsFull says of an error that the servers have no room.
func IsFull(err error) bool {
	const full = "full"
	return reasonOf(err) == full
}

// MayBeOver says of an error of a living agent that the session may have lost its lease.
func MayBeOver(err error) bool {
	isUnavailable := codeOf(err) == store.CodeUnavailable && !IsFull(err) && !errors.Is(err, errBroken)
	return isUnavailable || reasonOf(err) == string(entry.Fenced)
}

// Append adds bytes to a file that was created.
func (f *File) Append(ctx context.Context, data []byte) error {
	for len(data) > 0 {
		part := data[:min(len(data), message.MaxPayloadBytes)]
		asked := request{method: message.MethodAppend, params: message.AppendParams{File: f.number, Bytes: len(part)}, payload: part}
		if err := f.session.once(ctx, f.generation, asked, &message.LengthResult{}, nil); err != nil {
			return err
		}
		data = data[len(part):]
	}
	return nil
}

// Sync returns when all that was added is on the disks.
func (f *File) Sync(ctx context.Context) error {
	return f.do(ctx, message.MethodSync, &message.LengthResult{})
}

// Seal ends the file; it is on the disks, and closed.
func (f *File) Seal(ctx context.Context) error {
	return f.do(ctx, message.MethodSeal, &message.LengthResult{})
}

// Close gives it up. What was added stays as it is.
func (f *File) Close(ctx context.Context) {
	// A session that is over has no files any more, and a file that was sealed is closed.
	_ = f.do(ctx, message.MethodClose, &message.EmptyResult{})
}

func (f *File) do(ctx context.Context, method string, result any) error {
	return f.session.once(ctx, f.generation, request{method: method, params: message.FileParams{File: f.number}}, result, nil)
}

// ReadAt fills the buffer, or fails: with io.ErrUnexpectedEOF where the file ends.
func (f *File) ReadAt(ctx context.Context, buffer []byte, offset int64) error {
	for len(buffer) > 0 {
		n, err := f.read(ctx, buffer[:min(len(buffer), message.MaxPayloadBytes)], offset)
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		buffer, offset = buffer[n:], offset+int64(n)
	}
	return nil
}

func (f *File) read(ctx context.Context, buffer []byte, offset int64) (int, error) {
	asked := request{method: message.MethodRead, params: message.ReadParams{File: f.number, OffsetBytes: offset, LengthBytes: len(buffer)}}
	var found message.ReadResult
	follow := func(used *lane) error {
		if found.Bytes > len(buffer) {
			return errBroken
		}
		return used.receivePayload(buffer[:found.Bytes])
	}
	err := f.session.once(ctx, f.generation, asked, &found, follow)
	return found.Bytes, err
}
