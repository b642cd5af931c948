package gateway

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/store"
)

const (
	// lockName is a file in a store's directory, open as long as the store's lease goes on: the next holder of the
	// lease ends all open files, by which a store whose agent was gone sees that there was one.
	lockName = ".sluice-session"
	// sealTime is how long what a store has written may take to be on the disks once the store is gone: longer than a server
	// may be silent. endTime is how long the metadata may take after that to have the lease back.
	sealTime = 20 * time.Second
	endTime  = 10 * time.Second
	// mostSealed is how many files are sealed at once then.
	mostSealed = 64
)

// session is a store's lease, and the files that it has open; or a view, without a lease.
type session struct {
	name   string
	volume string
	open   *openFiles

	// Those of a view are nil or empty.
	path  string
	files *files.Session
	// writing bounds what all sessions of the node write.
	writing places
	// isNested is of a lease that the holder of another one has given away, and may end at any time. It has no lock:
	// nobody goes on with it.
	isNested bool
	lock     *writer

	mutex sync.Mutex
	// writers are those of the files that are being written, by the path that each has now.
	writers map[string]*writer
}

func (s *Server) view(ctx context.Context, volume string) (*session, error) {
	view := files.View{
		Volume: volume, Metadata: s.pool.Metadata, Services: s.pool.Services, Options: s.pool.Options, Suspects: s.suspects, Logger: s.logger,
	}
	if _, err := view.Stat(ctx, entry.Root); err != nil {
		return nil, err
	}
	begun := &session{volume: volume, open: newOpenFiles(view)}
	s.keep(begun)
	return begun, nil
}

func (s *Server) attach(ctx context.Context, wanted message.AttachParams) (*session, error) {
	config := files.Config{
		Volume: wanted.Volume, Path: wanted.Path, Holder: fmt.Sprintf("%s of %s", wanted.Holder, s.node),
		TimeToLive: s.pool.TimeToLive, Servers: s.pool.Servers, Copies: s.pool.Copies, BlockBytes: s.pool.BlockBytes,
		Options: s.pool.Options, Suspects: s.suspects, Continues: (*layout.FileID)(wanted.Lock), OuterEpoch: wanted.OuterEpoch,
	}
	held, err := files.Attach(ctx, config, s.pool.Metadata, s.pool.Services, s.logger)
	if err != nil {
		return nil, err
	}
	begun := &session{
		volume: wanted.Volume, path: wanted.Path, files: held, isNested: wanted.OuterEpoch != 0,
		open: newOpenFiles(held), writers: make(map[string]*writer), writing: s.writing,
	}
	if err := begun.makeLock(ctx); err != nil {
		return nil, errors.Join(err, held.Detach(ctx))
	}
	s.keep(begun)
	return begun, nil
}

func (s *session) makeLock(ctx context.Context) (err error) {
	if !s.isNested {
		s.lock, err = s.newWriter(ctx, s.lockPath())
	}
	return err
}

func (s *session) lockPath() string {
	return path.Join(s.path, lockName)
}

// end has all that was written on the disks, as a file system would have it, and gives the lease back. It leaves the
// lock for a store that goes on later.
func (s *session) end(ctx context.Context, isForGood bool) error {
	all := s.open.close()
	if s.files == nil {
		return nil
	}
	problems := s.sealAll(ctx)
	for _, each := range all {
		each.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	problems = append(problems, s.endLock(ctx, isForGood), s.files.Detach(ctx))
	return errors.Join(slices.DeleteFunc(problems, s.isExpected)...)
}

// sealAll seals files at once: one after the other, each would wait for a server that is silent, and whoever is next with
// them.
func (s *session) sealAll(ctx context.Context) []error {
	ctx, cancel := context.WithTimeout(ctx, sealTime)
	defer cancel()
	left := s.takeWriters()
	failures := make(chan error, len(left))
	var sealing errgroup.Group
	sealing.SetLimit(mostSealed)
	for path, each := range left {
		sealing.Go(func() error {
			if err := each.Seal(ctx); err != nil {
				failures <- fmt.Errorf("end the file %s: %w", path, err)
			}
			return nil
		})
	}
	_ = sealing.Wait()
	close(failures)
	var problems []error
	for failure := range failures {
		problems = append(problems, failure)
	}
	return problems
}

func (s *session) endLock(ctx context.Context, isForGood bool) error {
	if s.lock == nil {
		return nil
	}
	s.lock.Close()
	if !isForGood {
		return nil
	}
	return s.files.Remove(ctx, s.lockPath())
}

// isExpected says of an error whether it is that the holder of the outer lease has ended a nested one before, and may
// have removed its files.
func (s *session) isExpected(err error) bool {
	if !s.isNested || err == nil {
		return false
	}
	reason := entry.ReasonOf(err)
	return reason == entry.Fenced || reason == entry.NotFound || segment.ReasonOf(err) == segment.Fenced
}

func (s *session) takeWriters() map[string]*writer {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	taken := s.writers
	// Nil tells create that the session is over.
	s.writers = nil
	return taken
}

// create begins a file, in place of one that has the path.
func (s *session) create(ctx context.Context, path string) (message.OpenResult, error) {
	if path == s.lockPath() {
		return message.OpenResult{}, store.Invalidf("%s is the agent's own", path).WithHint("Choose another name.")
	}
	begun, err := s.newWriter(ctx, path)
	if err != nil {
		return message.OpenResult{}, err
	}
	s.mutex.Lock()
	isOver := s.writers == nil
	if !isOver {
		s.writers[path] = begun
	}
	s.mutex.Unlock()
	if isOver {
		begun.Close()
		return message.OpenResult{}, errSessionOver()
	}
	number, err := s.open.addWriter(begun)
	if err != nil {
		begun.Close()
		s.forget(begun)
	}
	return message.OpenResult{File: number, ID: message.FileID(begun.ID())}, err
}

func errSessionOver() error {
	return store.Errorf(store.CodeRefused, "the session is over").WithHint("Begin another one.")
}

// forget is for a file that is not written any more.
func (s *session) forget(ended *writer) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for path, each := range s.writers {
		if each == ended {
			delete(s.writers, path)
		}
	}
}

// writerAt gives who writes the file of a path, nil if nobody does.
func (s *session) writerAt(path string) *writer {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.writers[path]
}

// moved notes the new paths of files that are being written.
func (s *session) moved(source, target string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	moved := make(map[string]*writer)
	for path, each := range s.writers {
		rest, isBelow := strings.CutPrefix(path, source+"/")
		switch {
		case path == source:
			moved[target] = each
		case isBelow:
			moved[target+"/"+rest] = each
		case path != target:
			moved[path] = each
		}
	}
	if s.writers != nil {
		s.writers = moved
	}
}

// removed notes that a path is gone. Its file may be written to its end all the same.
func (s *session) removed(path string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.writers, path)
}
