// Package client is a store's half of the protocol of files of a pool, which docs/pool-files.md describes: a session
// with the lease on a directory, that is gone on with once its agent is back.
package client

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"time"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/store"
)

const (
	// pause is how long it takes to look again for an agent, or a lease.
	pause = 100 * time.Millisecond
	// mostIdle connections are kept for later.
	mostIdle = 32
	// neededMinor is the version that knows which files are sealed, and how much room there is.
	neededMinor = 2
)

// Config says where a session is.
type Config struct {
	// Socket is that of the agent, at pool.client.socket.
	Socket       string
	Volume, Path string
	// Holder is who is told to others that want the lease.
	Holder string
	// Wait is how long an agent that is gone, or a lease that somebody else has, is waited for.
	Wait time.Duration
	// GoesOn says whether the directory is as this process has left it, of a session that was begun anew; nil for yes.
	// It is given the files, and who gives the id of one by its name.
	GoesOn func(files []message.Name, id func(name string) (message.FileID, error)) error
}

// Session holds the lease. Its methods may be called at the same time.
type Session struct {
	config Config
	// left is how much of each file the holder before had synced, of those that it has left open.
	left map[string]int64

	mutex sync.Mutex
	// first is the connection that the session lasts as long as; nil if there is none.
	first      *lane
	idle       []*lane
	name       string
	generation uint64
	// goneSince is when it was first seen that there is no session, zero while there is one.
	goneSince time.Time
	lost      error
	isEnded   bool
}

// ErrLost is an error after which a session is never gone on with: somebody else has had its directory.
var ErrLost = errors.New("somebody else has had the directory meanwhile")

// errFormer is of files that a session has opened before it was begun anew.
var errFormer = errors.New("the file is of a former session")

// Attach takes the lease.
func Attach(ctx context.Context, config Config) (*Session, error) {
	s := &Session{config: config}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s, s.begin(ctx)
}

// Left gives how much of each file the holder before had certainly synced, of those that it has left open.
func (s *Session) Left() map[string]int64 {
	return s.left
}

// End gives the lease back.
func (s *Session) End() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.isEnded = true
	s.forget()
}

func (s *Session) forget() {
	for _, each := range s.idle {
		each.close()
	}
	if s.first != nil {
		s.first.close()
	}
	s.first, s.idle = nil, nil
}

// Renew has the next call begin the session anew, after one that a living agent could not do: its lease may be lost.
func (s *Session) Renew() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.forget()
}

// begin begins the session, as often as it takes.
func (s *Session) begin(ctx context.Context) error {
	if s.goneSince.IsZero() {
		s.goneSince = time.Now()
	}
	for {
		err := s.tryToBegin(ctx)
		if err == nil {
			s.goneSince = time.Time{}
			return nil
		}
		if !mayPass(err) || time.Since(s.goneSince) >= s.config.Wait {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// mayPass says of an error whether the same may be done a little later.
func mayPass(err error) bool {
	if errors.Is(err, errBroken) {
		return true
	}
	reason := reasonOf(err)
	return reason == string(entry.LeaseHeld) || codeOf(err) == store.CodeUnavailable
}

// tryToBegin asks first what is synced of each file: to attach ends them.
func (s *Session) tryToBegin(ctx context.Context) error {
	left, err := s.look(ctx)
	if err != nil {
		return err
	}
	first, err := dial(ctx, s.config.Socket)
	if err != nil {
		return err
	}
	wanted := message.AttachParams{
		ProtocolVersion: message.CurrentVersion(), Volume: s.config.Volume, Path: s.config.Path, Holder: s.config.Holder,
	}
	var begun message.AttachResult
	if err := first.exchange(ctx, request{method: message.MethodAttach, params: wanted}, &begun); err != nil {
		first.close()
		return err
	}
	if err := s.confirm(ctx, first); err != nil {
		first.close()
		return err
	}
	s.forget()
	s.first, s.name = first, begun.Session
	s.generation++
	if s.generation == 1 {
		s.left = left
	}
	return nil
}

// look reads the directory without a lease.
func (s *Session) look(ctx context.Context) (map[string]int64, error) {
	lane, err := dial(ctx, s.config.Socket)
	if err != nil {
		return nil, err
	}
	defer lane.close()
	var begun message.AttachResult
	wanted := message.ViewParams{ProtocolVersion: message.CurrentVersion(), Volume: s.config.Volume}
	if err := lane.exchange(ctx, request{method: message.MethodView, params: wanted}, &begun); err != nil {
		return nil, err
	}
	if begun.ProtocolVersion.Minor < neededMinor {
		return nil, store.Errorf(store.CodeIncompatible, "the agent speaks version %v of the protocol of files of a pool, 1.%d is needed",
			begun.ProtocolVersion, neededMinor).WithHint("Upgrade the package of the agent.")
	}
	names, err := list(ctx, lane, s.config.Path)
	if err != nil {
		return nil, err
	}
	left := make(map[string]int64)
	for _, each := range names {
		if each.Kind == message.KindFile && each.Sealed != nil && !*each.Sealed {
			left[each.Name] = *each.LengthBytes
		}
	}
	return left, nil
}

// confirm ends the session for good if it cannot be gone on with.
func (s *Session) confirm(ctx context.Context, first *lane) error {
	if s.generation == 0 || s.config.GoesOn == nil {
		return nil
	}
	names, err := list(ctx, first, s.config.Path)
	if err != nil {
		return err
	}
	idOf := func(name string) (message.FileID, error) {
		var found message.StatResult
		asked := request{method: message.MethodStat, params: message.PathParams{Path: s.path(name)}}
		if err := first.exchange(ctx, asked, &found); err != nil {
			return message.FileID{}, err
		}
		if found.ID == nil {
			return message.FileID{}, store.Errorf(store.CodeNotFound, "%s is no file", name)
		}
		return *found.ID, nil
	}
	err = s.config.GoesOn(names, idOf)
	if errors.Is(err, ErrLost) {
		s.lost = err
	}
	return err
}

// list gives all names of a directory.
func list(ctx context.Context, lane *lane, directory string) ([]message.Name, error) {
	var all []message.Name
	params := message.ListParams{Path: directory}
	for {
		var page message.ListResult
		if err := lane.exchange(ctx, request{method: message.MethodList, params: params}, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Names...)
		if !page.More || len(page.Names) == 0 {
			return all, nil
		}
		params.After = page.Names[len(page.Names)-1].Name
	}
}

func (s *Session) path(name string) string {
	return path.Join(s.config.Path, name)
}

// take gives a connection of the session, which is begun if there is none. With a generation it must be that one.
func (s *Session) take(ctx context.Context, generation uint64) (*lane, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.isEnded || s.lost != nil {
		return nil, errors.Join(s.lost, errEnded)
	}
	if generation != 0 && (generation != s.generation || s.first == nil) {
		return nil, errFormer
	}
	if s.first == nil {
		if err := s.begin(ctx); err != nil {
			return nil, err
		}
	}
	if n := len(s.idle); n > 0 {
		taken := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return taken, nil
	}
	return s.join(ctx)
}

var errEnded = errors.New("the session is over")

func (s *Session) join(ctx context.Context) (*lane, error) {
	joined, err := dial(ctx, s.config.Socket)
	if err != nil {
		return nil, err
	}
	joined.generation = s.generation
	wanted := message.JoinParams{ProtocolVersion: message.CurrentVersion(), Session: s.name}
	var answered message.JoinResult
	if err := joined.exchange(ctx, request{method: message.MethodJoin, params: wanted}, &answered); err != nil {
		joined.close()
		return nil, err
	}
	return joined, nil
}

// giveBack keeps a connection for later, or notes that the session is over with it.
func (s *Session) giveBack(used *lane, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case used.generation != s.generation || s.first == nil || len(s.idle) >= mostIdle && !errors.Is(err, errBroken):
		used.close()
	case errors.Is(err, errBroken):
		used.close()
		s.forget()
	default:
		s.idle = append(s.idle, used)
	}
}

// ask does what can be done again, and so is done again where there was no answer.
func (s *Session) ask(ctx context.Context, method string, params, result any) error {
	err := s.once(ctx, 0, request{method: method, params: params}, result, nil)
	if errors.Is(err, errBroken) && ctx.Err() == nil {
		return s.once(ctx, 0, request{method: method, params: params}, result, nil)
	}
	return err
}

// once asks for something. Then reads on, with the connection.
func (s *Session) once(ctx context.Context, generation uint64, asked request, result any, then func(*lane) error) error {
	lane, err := s.take(ctx, generation)
	if err != nil {
		return err
	}
	if err = lane.exchange(ctx, asked, result); err == nil && then != nil {
		err = then(lane)
	}
	if ctx.Err() != nil && asked.onlyReads() {
		// Its caller may not have waited for the answer. That says nothing of the agent, and nothing was changed.
		lane.close()
		return err
	}
	s.giveBack(lane, err)
	return err
}

func reasonOf(err error) string {
	var refused *localprotocol.Error
	if errors.As(err, &refused) && refused.Data != nil {
		return refused.Data.Reason
	}
	return ""
}

func codeOf(err error) store.Code {
	var refused *localprotocol.Error
	if errors.As(err, &refused) {
		return refused.Number.Code()
	}
	return ""
}

// Explain gives an error of a session as one for people, with what to do about it.
func Explain(err error) error {
	var refused *localprotocol.Error
	switch {
	case errors.As(err, &refused):
		return refused.StoreError()
	case errors.Is(err, errBroken):
		return store.Errorf(store.CodeUnavailable, "%w", err).
			WithHint("Start the agent of this node, with pool.client.socket in its configuration.")
	default:
		return fmt.Errorf("files of a pool: %w", err)
	}
}
