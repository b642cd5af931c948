package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/store"
)

// call does what a request asks for. Payload follows the result.
func (c *connection) call(ctx context.Context, request localprotocol.Request) (result any, payload []byte, err error) {
	params := request.Params
	switch request.Method {
	case message.MethodAttach:
		result, err = with(ctx, params, message.ParseAttach, c.attach)
	case message.MethodJoin:
		result, err = with(ctx, params, message.ParseJoin, c.join)
	case message.MethodView:
		result, err = with(ctx, params, message.ParseView, c.view)
	case message.MethodAppend:
		result, err = c.append(params)
	case message.MethodRead:
		return c.read(ctx, params)
	case message.MethodOpen:
		result, err = with(ctx, params, message.ParsePath, c.reading(c.open))
	case message.MethodStat:
		result, err = with(ctx, params, message.ParsePath, c.reading(c.stat))
	case message.MethodList:
		result, err = with(ctx, params, message.ParseList, c.list)
	case message.MethodClose:
		result, err = with(ctx, params, message.ParseFile, c.close)
	case message.MethodSpace:
		result, err = c.space(ctx)
	default:
		result, err = c.change(ctx, request)
	}
	return result, nil, err
}

// change does what needs a session.
func (c *connection) change(ctx context.Context, request localprotocol.Request) (any, error) {
	params := request.Params
	switch request.Method {
	case message.MethodCreate:
		return with(ctx, params, message.ParsePath, c.writing(func(ctx context.Context, s *session, path string) (any, error) {
			return s.create(ctx, path)
		}))
	case message.MethodSync:
		return with(ctx, params, message.ParseFile, c.sync)
	case message.MethodSeal:
		return with(ctx, params, message.ParseFile, c.seal)
	case message.MethodRemove:
		return with(ctx, params, message.ParsePath, c.writing(c.remove))
	case message.MethodMakeDirectory:
		return with(ctx, params, message.ParsePath, c.writing(func(ctx context.Context, s *session, path string) (any, error) {
			return message.EmptyResult{}, s.files.MakeDirectory(ctx, path)
		}))
	case message.MethodRemoveDirectory:
		return with(ctx, params, message.ParsePath, c.writing(func(ctx context.Context, s *session, path string) (any, error) {
			return message.EmptyResult{}, s.files.RemoveDirectory(ctx, path)
		}))
	case message.MethodRelease:
		return with(ctx, params, message.ParsePath, c.writing(func(ctx context.Context, s *session, path string) (any, error) {
			return message.EmptyResult{}, s.files.Release(ctx, path)
		}))
	case message.MethodRename:
		return with(ctx, params, message.ParseMove, c.rename)
	case message.MethodLink:
		return with(ctx, params, message.ParseMove, c.link)
	default:
		return nil, unreadable{localprotocol.NewError(localprotocol.NumberMethodNotFound,
			fmt.Sprintf("there is no method %q", request.Method), "docs/pool-files.md has them. This connection is closed now.")}
	}
}

// with parses params and does something with them.
func with[P any](
	ctx context.Context, params json.RawMessage, parse func(json.RawMessage) (P, error), do func(context.Context, P) (any, error),
) (any, error) {
	read, err := parse(params)
	if err != nil {
		return nil, err
	}
	return do(ctx, read)
}

// reading gives what reads to a method for a path.
func (c *connection) reading(do func(context.Context, string) (any, error)) func(context.Context, message.PathParams) (any, error) {
	return func(ctx context.Context, params message.PathParams) (any, error) {
		if c.session == nil {
			return nil, errNothingBegun()
		}
		return do(ctx, params.Path)
	}
}

// writing gives the session to a method for a path.
func (c *connection) writing(
	do func(context.Context, *session, string) (any, error),
) func(context.Context, message.PathParams) (any, error) {
	return func(ctx context.Context, params message.PathParams) (any, error) {
		if err := c.mayChange(); err != nil {
			return nil, err
		}
		return do(ctx, c.session, params.Path)
	}
}

func errNothingBegun() error {
	return store.Errorf(store.CodeRefused, "this connection is of no session").WithHint("Begin with attach, join or view.")
}

// mayChange refuses what only the holder of a lease may do.
func (c *connection) mayChange() error {
	switch {
	case c.session == nil:
		return errNothingBegun()
	case c.session.files == nil:
		return store.Errorf(store.CodeRefused, "a view may not change anything").WithHint("Begin a session with attach.")
	default:
		return nil
	}
}

func (c *connection) attach(ctx context.Context, wanted message.AttachParams) (any, error) {
	begun, err := c.begin(func() (*session, error) { return c.server.attach(ctx, wanted) })
	if err != nil {
		return nil, err
	}
	result := message.AttachResult{ProtocolVersion: message.CurrentVersion(), Session: begun.name}
	if begun.lock != nil {
		result.Lock = new(message.FileID(begun.lock.ID()))
	}
	return result, nil
}

func (c *connection) view(ctx context.Context, wanted message.ViewParams) (any, error) {
	begun, err := c.begin(func() (*session, error) { return c.server.view(ctx, wanted.Volume) })
	if err != nil {
		return nil, err
	}
	return message.AttachResult{ProtocolVersion: message.CurrentVersion(), Session: begun.name}, nil
}

// begin has the connection's end be that of a new session.
func (c *connection) begin(session func() (*session, error)) (*session, error) {
	if c.session != nil {
		return nil, errHasBegun()
	}
	begun, err := session()
	if err != nil {
		return nil, err
	}
	c.session, c.isOwner = begun, true
	return begun, nil
}

func errHasBegun() error {
	return store.Errorf(store.CodeRefused, "this connection is of a session already").WithHint("Use another connection.")
}

func (c *connection) join(_ context.Context, wanted message.JoinParams) (any, error) {
	if c.session != nil {
		return nil, errHasBegun()
	}
	shared, err := c.server.sessionOf(wanted.Session)
	if err != nil {
		return nil, err
	}
	c.session = shared
	return message.JoinResult{ProtocolVersion: message.CurrentVersion()}, nil
}

// append reads what follows the line in any case, since the next request comes after it.
func (c *connection) append(params json.RawMessage) (any, error) {
	wanted, err := message.ParseAppend(params)
	if err != nil {
		return nil, unreadable{err}
	}
	data := c.room(wanted.Bytes)
	if _, err := io.ReadFull(c.reader, data); err != nil {
		return nil, unreadable{err}
	}
	if err := c.mayChange(); err != nil {
		return nil, err
	}
	writer, err := c.session.open.writer(wanted.File)
	if err != nil {
		return nil, err
	}
	length, err := writer.append(data)
	return message.LengthResult{LengthBytes: length}, err
}

func (c *connection) sync(ctx context.Context, params message.FileParams) (any, error) {
	if err := c.mayChange(); err != nil {
		return nil, err
	}
	writer, err := c.session.open.writer(params.File)
	if err != nil {
		return nil, err
	}
	length := writer.bytes()
	return message.LengthResult{LengthBytes: length}, writer.Sync(ctx)
}

// seal ends a file, which is closed with that.
func (c *connection) seal(ctx context.Context, params message.FileParams) (any, error) {
	if err := c.mayChange(); err != nil {
		return nil, err
	}
	writer, err := c.session.open.writer(params.File)
	if err != nil {
		return nil, err
	}
	if err := writer.Seal(ctx); err != nil {
		return nil, err
	}
	return message.LengthResult{LengthBytes: writer.bytes()}, c.forget(params.File)
}

// close gives up a file. What has been written of it stays as it is.
func (c *connection) close(_ context.Context, params message.FileParams) (any, error) {
	if c.session == nil {
		return nil, errNothingBegun()
	}
	return message.EmptyResult{}, c.forget(params.File)
}

func (c *connection) forget(number uint64) error {
	written, err := c.session.open.remove(number)
	if err != nil || written == nil {
		return err
	}
	written.Close()
	c.session.forget(written)
	return nil
}

func (c *connection) rename(ctx context.Context, params message.MoveParams) (any, error) {
	if err := c.mayChange(); err != nil {
		return nil, err
	}
	err := c.session.files.Rename(ctx, params.Source, params.Target)
	if err == nil {
		c.session.moved(params.Source, params.Target)
	}
	return message.EmptyResult{}, err
}

func (c *connection) link(ctx context.Context, params message.MoveParams) (any, error) {
	if err := c.mayChange(); err != nil {
		return nil, err
	}
	return message.EmptyResult{}, c.session.files.Link(ctx, params.Source, params.Target)
}

func (c *connection) remove(ctx context.Context, s *session, path string) (any, error) {
	err := s.files.Remove(ctx, path)
	if err == nil {
		s.removed(path)
	}
	return message.EmptyResult{}, err
}

// open reads all that was appended so far, as with a file system, of which a part may be on no disk yet.
func (c *connection) open(ctx context.Context, path string) (any, error) {
	if writer := c.session.writerAt(path); writer != nil {
		if err := writer.Sync(ctx); err != nil {
			return nil, err
		}
	}
	reader, err := c.session.open.source.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	number, err := c.session.open.addReader(reader)
	return message.OpenResult{File: number, ID: message.FileID(reader.ID), LengthBytes: reader.Length}, err
}

// read answers with less where the file ends.
func (c *connection) read(ctx context.Context, params json.RawMessage) (result any, payload []byte, err error) {
	wanted, err := message.ParseRead(params)
	if err != nil {
		return nil, nil, err
	}
	if c.session == nil {
		return nil, nil, errNothingBegun()
	}
	reader, err := c.session.open.reader(wanted.File)
	if err != nil {
		return nil, nil, err
	}
	into := c.room(wanted.LengthBytes)
	n, err := reader.ReadAt(ctx, into, wanted.OffsetBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return message.ReadResult{Bytes: n}, into[:n], nil
}

func (c *connection) stat(ctx context.Context, path string) (any, error) {
	file, err := c.session.open.source.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return message.StatResult{Kind: message.KindDirectory}, nil
	}
	return message.StatResult{
		Kind: message.KindFile, ID: new(message.FileID(file.ID)), LengthBytes: c.length(path, file), Links: &file.Links,
	}, nil
}

// length counts what has been appended, whether it is on the disks or not.
func (c *connection) length(path string, file *entry.File) *int64 {
	length := int64(file.LengthBytes)
	if writer := c.session.writerAt(path); writer != nil && writer.ID() == file.ID {
		length = max(length, writer.bytes())
	}
	return &length
}

// list leaves out the session's lock, which is no file of the store.
func (c *connection) list(ctx context.Context, params message.ListParams) (any, error) {
	if c.session == nil {
		return nil, errNothingBegun()
	}
	all, err := c.session.open.source.List(ctx, params.Path)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(name entry.Name) bool { return name.Name <= params.After || name.Name == lockName })
	listed := message.ListResult{Names: []message.Name{}, More: len(all) > message.MaxNames}
	for _, name := range all[:min(len(all), message.MaxNames)] {
		listed.Names = append(listed.Names, c.named(params.Path, name))
	}
	return listed, nil
}

func (c *connection) named(directory string, name entry.Name) message.Name {
	if name.File == nil {
		return message.Name{Name: name.Name, Kind: message.KindDirectory}
	}
	path := directory + "/" + name.Name
	if directory == entry.Root {
		path = directory + name.Name
	}
	return message.Name{Name: name.Name, Kind: message.KindFile, LengthBytes: c.length(path, name.File), Sealed: new(name.File.Sealed)}
}

// answered has an error say why in a word, by which a store decides what to do.
func answered(err error) error {
	var ready *localprotocol.Error
	if err == nil || errors.As(err, &ready) {
		return err
	}
	var failure *store.Error
	if !errors.As(err, &failure) {
		return localprotocol.NewError(localprotocol.NumberUnavailable, err.Error(), "").WithReason(reasonOf(err))
	}
	return localprotocol.NewError(localprotocol.NumberOf(failure.Code), failure.Message, failure.Hint).WithReason(reasonOf(err))
}

// full is the reason that the metadata does not have.
const full = "full"

func reasonOf(err error) string {
	var refusal *entry.Refusal
	if errors.As(err, &refusal) {
		return string(refusal.Reason)
	}
	if segment.ReasonOf(err) == segment.Full {
		return full
	}
	return ""
}
