package overwrite

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// log adds records to segments. They are put into files by one goroutine, in their order; whoever wants some to be on
// the disks waits for it, so that all who wait at once share a sync. What no file has certainly is kept in memory: a
// file that is lost on the way is made anew.
type log struct {
	files        Files
	segmentBytes int
	sendBytes    int

	mutex   sync.Mutex
	changed *sync.Cond
	// pending are the segments that are not sealed, the oldest first. Records are added to the last one.
	pending []*segment
	// sequence is that of the last record; all up to durable are on the disks, and those up to wanted are waited for.
	sequence, durable, wanted uint64
	// isAsked says that somebody waits for room.
	isAsked bool
	// failures counts what has failed, the last time for failure; lost is set once nothing can be done any more.
	failures uint64
	failure  error
	lost     error
	isClosed bool
	// isLost is closed once lost is set.
	isLost chan struct{}
}

// maxPending bounds the segments in memory: one that is written to, and one that is being put into its file.
const maxPending = 2

// newLog goes on after a sequence, with a segment.
func newLog(files Files, options Options, sequence, next uint64) *log {
	l := &log{files: files, segmentBytes: options.SegmentBytes, sendBytes: options.SendBytes, sequence: sequence, durable: sequence}
	l.isLost = make(chan struct{})
	l.changed = sync.NewCond(&l.mutex)
	l.pending = []*segment{l.begin(next)}
	return l
}

// begin makes a segment, whose first record says which it is.
func (l *log) begin(number uint64) *segment {
	begun := &segment{number: number, buffer: make([]byte, 0, l.segmentBytes)}
	l.sequence++
	first := &record{kind: kindBegin, inode: number, sequence: l.sequence, durable: l.durable}
	begun.buffer = first.appendTo(begun.buffer)
	begun.length, begun.last = int64(len(begun.buffer)), l.sequence
	return begun
}

func (l *log) head() *segment {
	return l.pending[len(l.pending)-1]
}

// add gives where the data of a record are, and the segment that it has begun for that, if any.
func (l *log) add(r *record) (at place, begun *segment) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.head().buffer)+r.mostBytes() > l.segmentBytes {
		begun = l.roll()
	}
	head := l.head()
	l.sequence++
	r.sequence, r.durable = l.sequence, l.durable
	at = place{segment: head.number, position: int64(len(head.buffer) + overheadBytes)}
	head.buffer = r.appendTo(head.buffer)
	head.length, head.last = int64(len(head.buffer)), l.sequence
	if len(head.buffer)-head.sent >= l.sendBytes {
		l.changed.Broadcast()
	}
	return at, begun
}

// roll has what follows be in another segment.
func (l *log) roll() *segment {
	begun := l.begin(l.head().number + 1)
	l.pending = append(l.pending, begun)
	l.changed.Broadcast()
	return begun
}

// cut begins a segment, so that those before have all up to a sequence.
func (l *log) cut() (begun *segment, last uint64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	last = l.sequence
	return l.roll(), last
}

// lostBy gives why nothing can be done any more, nil while something can.
func (l *log) lostBy() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.lost
}

// lengthOf is what a segment has by now.
func (l *log) lengthOf(s *segment) int64 {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return s.length
}

// memory gives what a segment has in memory, nil once it is sealed.
func (l *log) memory(s *segment) []byte {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return s.buffer
}

func (l *log) isSealed(s *segment) bool {
	return l.memory(s) == nil
}

// last gives the sequence of the last record.
func (l *log) last() uint64 {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.sequence
}

// sync returns when all up to a sequence is on the disks.
func (l *log) sync(sequence uint64) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.wanted < sequence {
		l.wanted = sequence
	}
	return l.await(func() bool { return l.durable >= sequence })
}

// room returns when there is memory for more.
func (l *log) room() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	isThere := func() bool { return len(l.pending) <= maxPending }
	if !isThere() {
		l.isAsked = true
	}
	return l.await(isThere)
}

// await waits for what the goroutine does. If that fails meanwhile, it does too; who asks again has it tried again.
func (l *log) await(isDone func() bool) error {
	failures := l.failures
	l.changed.Broadcast()
	for !isDone() {
		switch {
		case l.lost != nil:
			return l.lost
		case l.failures != failures:
			return l.failure
		case l.isClosed:
			return errClosed
		}
		l.changed.Wait()
	}
	return l.lost
}

var errClosed = errors.New("the file system is not mounted any more")

// run puts segments into files until the context ends.
func (l *log) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, l.close)
	defer stop()
	for l.awaitWork() {
		if err := l.try(ctx); err != nil {
			l.fail(err)
		}
	}
	l.giveUp()
}

// try does a step. Where a file was lost it is made anew at once: nobody who waits need hear of it.
func (l *log) try(ctx context.Context) error {
	const mostTries = 3
	for tries := 1; ; tries++ {
		err := l.step(ctx)
		isForGood := errors.Is(err, ErrFull) || errors.Is(err, ErrLost) || ctx.Err() != nil
		if err == nil || isForGood || tries == mostTries {
			return err
		}
		l.loseOldest()
	}
}

func (l *log) loseOldest() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.pending[0].lose()
}

func (l *log) close() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.isClosed = true
	l.changed.Broadcast()
}

func (l *log) giveUp() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, each := range l.pending {
		each.lose()
	}
	l.changed.Broadcast()
}

// awaitWork says whether there is some.
func (l *log) awaitWork() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for !l.isClosed {
		if l.lost == nil && l.hasWork() {
			return true
		}
		l.changed.Wait()
	}
	return false
}

// hasWork is so after a failure only if somebody waits: nobody would hear of the next one.
func (l *log) hasWork() bool {
	if l.wanted > l.durable || l.isAsked {
		return true
	}
	oldest := l.pending[0]
	return l.failure == nil && (len(l.pending) > 1 || len(oldest.buffer)-oldest.sent >= l.sendBytes)
}

// fail has all that wait now hear of it.
func (l *log) fail(err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.pending[0].lose()
	l.failures++
	l.failure, l.wanted, l.isAsked = err, l.durable, false
	if errors.Is(err, ErrLost) {
		l.lost = err
		close(l.isLost)
	}
	l.changed.Broadcast()
}

// lose gives up the file of a segment.
func (s *segment) lose() {
	if s.file != nil {
		s.file.Close()
	}
	s.file, s.sent = nil, 0
}

// step does the next thing for the oldest segment.
func (l *log) step(ctx context.Context) error {
	l.mutex.Lock()
	oldest, isEnded := l.pending[0], len(l.pending) > 1
	data, last, wanted := oldest.buffer, oldest.last, l.wanted > l.durable
	l.mutex.Unlock()
	isAnew := oldest.file == nil && oldest.wasMade
	if err := l.send(ctx, oldest, data); err != nil {
		return err
	}
	if isAnew || wanted && !isEnded {
		if err := oldest.file.Sync(ctx); err != nil {
			return err
		}
	}
	if isAnew {
		name := segmentName(oldest.number)
		if err := l.files.Rename(ctx, name+newSuffix, name); err != nil {
			return err
		}
	}
	if isEnded {
		if err := oldest.file.Seal(ctx); err != nil {
			return err
		}
		oldest.file.Close()
	}
	l.done(oldest, last, isEnded, isAnew || wanted || isEnded)
	return nil
}

// send puts into the file what it lacks.
func (l *log) send(ctx context.Context, to *segment, data []byte) error {
	if to.file == nil {
		name := segmentName(to.number)
		if to.wasMade {
			name += newSuffix
		}
		file, err := l.files.Create(ctx, name)
		if err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		to.file, to.wasMade = file, true
	}
	const most = 1 << 20
	for to.sent < len(data) {
		part := data[to.sent:min(to.sent+most, len(data))]
		if err := to.file.Append(ctx, part); err != nil {
			return err
		}
		l.mutex.Lock()
		to.sent += len(part)
		l.mutex.Unlock()
	}
	return nil
}

func (l *log) done(with *segment, last uint64, isEnded, isSynced bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.failure = nil
	if isSynced {
		l.durable = max(l.durable, last)
	}
	if isEnded {
		with.buffer, with.file = nil, nil
		l.pending = l.pending[1:]
		l.isAsked = l.isAsked && len(l.pending) > maxPending
	}
	l.changed.Broadcast()
}
