// Package admission says which jobs a node takes: as many as it has slots, memory and temporary space for,
// and no queue. Whoever is refused is told so at once, and compacts by itself.
package admission

import (
	"sync"

	"sluice.dev/control/internal/compaction"
)

// Limits are what all jobs of a node may take together.
type Limits struct {
	Slots uint32
	// MemoryBytes is for all jobs, JobMemoryBytes what each of them may allocate.
	MemoryBytes, JobMemoryBytes uint64
	// TemporaryBytes is what all jobs may write, FreeBytes what they must leave free on the file system.
	TemporaryBytes, FreeBytes uint64
}

// spareTemporaryBytes is for what a job writes besides the files that it makes of its input.
const spareTemporaryBytes = 64 << 20

// TemporaryBytesOf is what a job may write: what it reads, a tenth, and some for logs. The output of a
// compaction is its input without what was overwritten; other compression may make it longer.
func TemporaryBytesOf(inputBytes uint64) uint64 {
	return inputBytes + inputBytes/10 + spareTemporaryBytes
}

// Ledger has what the jobs that run have been given.
type Ledger struct {
	limits Limits

	mutex sync.Mutex
	used  Usage
	// changed is closed when the usage changes.
	changed chan struct{}
}

// Usage is what jobs have been given together.
type Usage struct {
	Jobs                        uint32
	MemoryBytes, TemporaryBytes uint64
}

// NewLedger makes a ledger without jobs.
func NewLedger(limits Limits) *Ledger {
	return &Ledger{limits: limits, changed: make(chan struct{})}
}

// Request is what is asked for a job.
type Request struct {
	InputBytes uint64
}

// Grant is what one job was given.
type Grant struct {
	MemoryBytes, TemporaryBytes uint64
	// Release gives it back. It may be called again.
	Release func()

	ledger *Ledger
}

// Admit gives a job what it needs, or says what is missing. It looks at no file system, so that it never
// waits for one: CheckFree does, once there is a slot for the job to wait in.
func (l *Ledger) Admit(request Request) (Grant, *compaction.Failure) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	temporary := TemporaryBytesOf(request.InputBytes)
	if failure := l.missing(temporary); failure != nil {
		return Grant{}, failure
	}
	l.used.Jobs++
	l.used.MemoryBytes += l.limits.JobMemoryBytes
	l.used.TemporaryBytes += temporary
	l.tell()
	release := sync.OnceFunc(func() { l.release(temporary) })
	return Grant{MemoryBytes: l.limits.JobMemoryBytes, TemporaryBytes: temporary, Release: release, ledger: l}, nil
}

func (l *Ledger) missing(temporary uint64) *compaction.Failure {
	switch {
	case l.used.Jobs >= l.limits.Slots:
		return compaction.Failuref(compaction.Busy, "all %d slots are taken", l.limits.Slots)
	case l.used.MemoryBytes+l.limits.JobMemoryBytes > l.limits.MemoryBytes:
		return compaction.Failuref(compaction.Busy, "%d of %d bytes of memory are taken, a job needs %d",
			l.used.MemoryBytes, l.limits.MemoryBytes, l.limits.JobMemoryBytes)
	case l.used.TemporaryBytes+temporary > l.limits.TemporaryBytes:
		return compaction.Failuref(compaction.Busy, "%d of %d bytes of temporary space are taken, the job needs %d",
			l.used.TemporaryBytes, l.limits.TemporaryBytes, temporary)
	}
	return nil
}

// CheckFree says whether the file system of a job's output has room for all that was given to jobs, this
// one among them. freeBytes looks at what it has left.
//
// What was given counts as of before that look: the output of a job that ends meanwhile is then in one of
// the two, or in both. What running jobs have written already is in both: that errs on the side of the store.
func (g Grant) CheckFree(freeBytes func() (uint64, error)) *compaction.Failure {
	given, kept := g.ledger.Usage().TemporaryBytes, g.ledger.limits.FreeBytes
	free, err := freeBytes()
	if err != nil {
		return compaction.Failuref(compaction.Path, "%v", err)
	}
	if free < kept+given {
		return compaction.Failuref(compaction.Busy,
			"%d bytes are free on the file system, of which %d are to stay so, and %d are given to jobs, %d of them to this one",
			free, kept, given, g.TemporaryBytes)
	}
	return nil
}

func (l *Ledger) release(temporary uint64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.used.Jobs--
	l.used.MemoryBytes -= l.limits.JobMemoryBytes
	l.used.TemporaryBytes -= temporary
	l.tell()
}

func (l *Ledger) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Changed is closed when the usage changes from what it is now.
func (l *Ledger) Changed() <-chan struct{} {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.changed
}

// Usage is what the jobs that run have been given.
func (l *Ledger) Usage() Usage {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.used
}

// FreeSlots is how many more jobs would be taken, as far as slots and memory go.
func (l *Ledger) FreeSlots() uint32 {
	used := l.Usage()
	byMemory := (l.limits.MemoryBytes - used.MemoryBytes) / l.limits.JobMemoryBytes
	return uint32(min(uint64(l.limits.Slots-used.Jobs), byMemory))
}
