// Package segment keeps segments of a pool's files on a file system: a file for each, to which bytes are
// only added until it is sealed, and checksums of its pages. Names of files and the order of syncs are such
// that every state in which a process or machine can stop is one that OpenStore takes up.
package segment

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Options are what a store is told beside its directory.
type Options struct {
	// FreeBytes of the file system are left to others: what would go below is refused as Full.
	FreeBytes int64
}

// MaxRequestBytes is the most that is read or added at once.
const MaxRequestBytes = 1 << 20

// Store is a directory with segments. Its methods may be called at the same time.
type Store struct {
	root    string
	options Options
	parents parents
	// lock keeps other processes from the directory.
	lock *os.File

	// finding is held while a segment is looked for, made or removed, so that each open one is held once.
	finding  sync.Mutex
	open     map[ID]*held
	sealed   *recent
	isClosed bool
}

// OpenStore takes a directory, which it makes, and removes what was not made to its end. Only one process may
// have a store.
func OpenStore(root string, options Options) (*Store, error) {
	const onlyOwner = 0o700
	if err := os.MkdirAll(root, onlyOwner); err != nil {
		return nil, fmt.Errorf("directory of blocks: %w", err)
	}
	lock, err := lockDirectory(root)
	if err != nil {
		return nil, err
	}
	store := &Store{root: root, options: options, lock: lock, open: make(map[ID]*held)}
	if err := store.prepare(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return store, nil
}

func lockDirectory(root string) (*os.File, error) {
	directory, err := os.Open(root)
	if err != nil {
		return nil, fmt.Errorf("directory of blocks: %w", err)
	}
	if err := unix.Flock(int(directory.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another process has the blocks of %s: end it, or give each a directory of its own: %w", root, err),
			directory.Close())
	}
	return directory, nil
}

func (s *Store) prepare() error {
	err := s.tidy()
	if err != nil {
		return err
	}
	s.sealed, err = newRecent()
	return err
}

// Close closes the files. Nothing is written: what was synced or sealed is on the disk. Whoever comes later is refused. Only
// then another process may have the directory.
func (s *Store) Close() error {
	s.finding.Lock()
	defer s.finding.Unlock()
	s.isClosed = true
	var problems []error
	for _, segment := range slices.Concat(slices.Collect(maps.Values(s.open)), s.sealed.all()) {
		problems = append(problems, segment.close())
	}
	return errors.Join(append(problems, s.lock.Close())...)
}

// checkOpen refuses what comes after the end, as a request that had waited for the disk until then.
func (s *Store) checkOpen() error {
	if s.isClosed {
		return Failf(Device, "the blocks of %s are not served any more", s.root)
	}
	return nil
}

// Space is the size of the file system, and what the store may still take of it, in bytes.
func (s *Store) Space() (total, free int64, err error) {
	var figures unix.Statfs_t
	if err := unix.Statfs(s.root, &figures); err != nil {
		return 0, 0, Failf(Device, "size of the file system of %s: %w", s.root, err)
	}
	available := int64(figures.Bavail) * figures.Bsize
	return int64(figures.Blocks) * figures.Bsize, max(available-s.options.FreeBytes, 0), nil
}

// isUnreadable says of a failure that the disk does not give what is there: one such segment must not hide all others.
func isUnreadable(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EUCLEAN)
}

func isGone(err error) bool {
	return isReason(err, NotFound)
}

func isReason(err error, reason Reason) bool {
	var failure *Failure
	return errors.As(err, &failure) && failure.Reason == reason
}

// find gives a segment that is there.
func (s *Store) find(id ID) (*held, error) {
	if err := id.check(); err != nil {
		return nil, err
	}
	s.finding.Lock()
	defer s.finding.Unlock()
	return s.findLocked(id)
}

func (s *Store) findLocked(id ID) (*held, error) {
	if err := s.checkOpen(); err != nil {
		return nil, err
	}
	if segment := s.open[id]; segment != nil {
		return segment, nil
	}
	if segment, found := s.sealed.get(id); found {
		return segment, nil
	}
	name, err := s.nameOf(id)
	if err != nil {
		return nil, err
	}
	_, epoch, sealed, _ := parseName(id.File, name)
	segment := &held{
		id: id, directory: directoryOf(s.root, id.File), parents: &s.parents, epoch: epoch, sealed: sealed, synced: unknownSynced,
	}
	s.hold(segment)
	return segment, nil
}

func (s *Store) hold(segment *held) {
	if segment.sealed {
		s.sealed.add(segment)
		return
	}
	s.open[segment.id] = segment
}

// nameOf looks for the file of a segment. Of an open one and a sealed one, which a crash between the two
// names of a seal cannot leave, there is never more than one.
func (s *Store) nameOf(id ID) (string, error) {
	entries, err := os.ReadDir(directoryOf(s.root, id.File))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", Failf(Device, "look for %s: %w", id, err)
	}
	prefix := fmt.Sprintf("%d.%d.", id.Slot, id.Copy)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		if _, _, _, ok := parseName(id.File, entry.Name()); ok {
			return entry.Name(), nil
		}
	}
	return "", Failf(NotFound, "there is no segment %s", id)
}

// findOrCreate makes a segment that is not there.
func (s *Store) findOrCreate(id ID, epoch uint64) (*held, error) {
	if err := id.check(); err != nil {
		return nil, err
	}
	s.finding.Lock()
	defer s.finding.Unlock()
	segment, err := s.findLocked(id)
	if !isGone(err) {
		return segment, err
	}
	if err := s.checkSpace(0); err != nil {
		return nil, err
	}
	if segment, err = createHeld(directoryOf(s.root, id.File), &s.parents, id, epoch); err != nil {
		return nil, err
	}
	s.hold(segment)
	return segment, nil
}

func (s *Store) checkSpace(bytes int) error {
	_, free, err := s.Space()
	if err != nil {
		return err
	}
	if free <= int64(bytes) {
		return Failf(Full, "the file system of %s has no more for the pool than %d bytes: remove files, or add servers", s.root, free)
	}
	return nil
}
