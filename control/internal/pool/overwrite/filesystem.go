package overwrite

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Options say how much is kept where. The zero value of each but the clock stands for what Defaults has.
type Options struct {
	// SegmentBytes is the length of a segment, of which up to three are in memory.
	SegmentBytes int
	// RecordBytes is the most data of a record.
	RecordBytes int
	// SendBytes is how much is collected before it is put into a file that nobody waits for.
	SendBytes int
	// SnapshotBytes of log are written between two snapshots: so much is read at most when it is started again.
	SnapshotBytes int64
	// SpareBytes are what may be dead beside as much as is live before segments are cleaned; with MostSpareBytes beside
	// twice as much, who changes something waits for that.
	SpareBytes, MostSpareBytes int64
	// UID and GID own the root of a new file system.
	UID, GID uint32
	Now      func() time.Time
	Logger   *slog.Logger
}

// Defaults are what has been tested most.
func Defaults(logger *slog.Logger) Options {
	const megabyte = 1 << 20
	return Options{
		SegmentBytes: 64 * megabyte, RecordBytes: megabyte, SendBytes: megabyte, SnapshotBytes: 256 * megabyte,
		SpareBytes: 256 * megabyte, MostSpareBytes: 1024 * megabyte, Now: time.Now, Logger: logger,
	}
}

// FileSystem is one that is open. Its methods may be called at the same time. Errors are those of system calls where
// the caller has asked for what cannot be, else those of Files.
type FileSystem struct {
	files   Files
	options Options
	logger  *slog.Logger
	log     *log
	tender  *tender

	ctx        context.Context
	end        context.CancelFunc
	background sync.WaitGroup

	mutex  sync.RWMutex
	tables *tables
	// segments are all that there are; head is the last one.
	segments map[uint64]*segment
	head     *segment
	// endedBytes is what all but the last one have.
	endedBytes int64
	// snapshot is the number of the snapshot that is there, and next the first segment that is not in it.
	snapshot, next uint64
}

// Close has everything on the disks, with a snapshot, so that the next start has nothing to read but that. After an
// error what was synced is there all the same.
func (f *FileSystem) Close() error {
	f.tender.stop()
	err := f.writeSnapshot()
	f.end()
	f.background.Wait()
	for _, each := range f.segments {
		each.close()
	}
	return err
}

// Sync returns when all that was changed before is on the disks.
func (f *FileSystem) Sync() error {
	return f.log.sync(f.log.last())
}

// Lost is closed once somebody else may have the directory: nothing is read or changed from then on.
func (f *FileSystem) Lost() <-chan struct{} {
	return f.log.isLost
}

// Err says why it is lost, nil if it is not.
func (f *FileSystem) Err() error {
	return f.log.lostBy()
}

// Usage is what the file system takes.
type Usage struct {
	// Inodes are files, directories and links.
	Inodes int
	// LiveBytes are those of parts of files; HeldBytes are what all segments have.
	LiveBytes, HeldBytes int64
}

// Usage says what it takes now.
func (f *FileSystem) Usage() Usage {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	return Usage{
		Inodes: f.tables.inodes.Len(), LiveBytes: f.tables.liveBytes, HeldBytes: f.endedBytes + f.log.lengthOf(f.head),
	}
}

// change makes a change that needs nothing but its record.
func (f *FileSystem) change(r *record) error {
	if err := f.admit(); err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.submit(r)
}

// admit has who changes something wait for memory and for cleaning.
func (f *FileSystem) admit() error {
	if err := f.log.room(); err != nil {
		return err
	}
	f.mutex.RLock()
	isBeyond := f.deadBytes() > 2*f.tables.liveBytes+f.options.MostSpareBytes
	f.mutex.RUnlock()
	if !isBeyond {
		return nil
	}
	return f.tender.await()
}

// deadBytes are those of ended segments that no file needs any more.
func (f *FileSystem) deadBytes() int64 {
	return f.endedBytes - f.tables.liveBytes
}

// submit adds a record to the log, and has the tables say the same. It is called under the lock.
func (f *FileSystem) submit(r *record) error {
	if err := f.tables.check(r); err != nil {
		return err
	}
	r.time = f.options.Now().UnixNano()
	at, begun := f.log.add(r)
	if begun != nil {
		f.goOnIn(begun)
	}
	f.tables.apply(r, at)
	return nil
}

// goOnIn notes a segment that the log has begun.
func (f *FileSystem) goOnIn(begun *segment) {
	f.endedBytes += f.log.lengthOf(f.head)
	f.segments[begun.number], f.head = begun, begun
	f.tender.wake()
}
