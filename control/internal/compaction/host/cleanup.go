package host

import (
	"context"
	"sync"
	"time"

	"sluice.dev/control/internal/compaction/scratch"
)

// cleanAgainPeriod is how often it is tried again to remove what could not be removed, as while a file
// system is out of reach.
const cleanAgainPeriod = 10 * time.Second

// folders are the directories that jobs write to, or that are still to be removed: each is one job's.
type folders struct {
	mutex   sync.Mutex
	claimed map[string]bool
}

// claim is false for a directory that somebody has; else release gives it back.
func (f *folders) claim(path string) (release func(), isFree bool) {
	path = scratch.Resolve(path)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.claimed[path] {
		return nil, false
	}
	if f.claimed == nil {
		f.claimed = make(map[string]bool)
	}
	f.claimed[path] = true
	return func() {
		f.mutex.Lock()
		defer f.mutex.Unlock()
		delete(f.claimed, path)
	}, true
}

// leftOver is what is to be removed; release gives back what the job had, once that is done.
type leftOver struct {
	scratch.Entry
	release func()
}

// leftOvers are those that could not be removed at once. Jobs keep their slots meanwhile, so that there
// are never many.
type leftOvers struct {
	mutex sync.Mutex
	list  []leftOver
}

func (l *leftOvers) add(left leftOver) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.list = append(l.list, left)
}

// takeAll gives them, each to one caller.
func (l *leftOvers) takeAll() []leftOver {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	taken := l.list
	l.list = nil
	return taken
}

// Tend ends and removes what an agent before this one has left, and then, until its context ends, what
// could not be removed at once. It is to be called once. It waits for disks, however long they take.
func (h *Host) Tend(ctx context.Context) {
	h.cleanUpBefore()
	close(h.cleaned)
	ticker := time.NewTicker(cleanAgainPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, left := range h.left.takeAll() {
				h.cleanUp(left)
			}
		}
	}
}

// Cleaned is closed when nothing stands in the way of jobs that an agent before this one has left. What
// could not be removed is tried again, and no job gets the directory meanwhile.
func (h *Host) Cleaned() <-chan struct{} {
	return h.cleaned
}

func (h *Host) cleanUpBefore() {
	entries, err := h.journal.Entries()
	if err != nil {
		h.logger.Error("the journal of compactions cannot be read in full", "error", err)
	}
	for _, entry := range entries {
		release, isFree := h.folders.claim(entry.OutputPath)
		if !isFree {
			release = func() {} // Another entry for the same directory has it.
		}
		h.logger.Info("what a compaction of an agent before this one has left is removed", "output_path", entry.OutputPath)
		h.cleanUp(leftOver{entry, release})
	}
	h.cleanUpUnnoted()
}

// cleanUpUnnoted removes the directories for temporary files that the agent before has made, and not come to note.
func (h *Host) cleanUpUnnoted() {
	paths, err := scratch.Made(h.config.ScratchDirectory)
	if err != nil {
		h.logger.Error("the directories for temporary files of compactions cannot be listed", "error", err)
	}
	for _, path := range paths {
		if release, isFree := h.folders.claim(path); isFree {
			h.cleanUp(leftOver{scratch.Entry{OutputPath: path}, release})
		}
	}
}

// cleanUp ends the worker, if it may still be there, and removes what it has written.
func (h *Host) cleanUp(left leftOver) {
	err := left.Worker.End()
	if err == nil {
		err = h.journal.Sweep(left.OutputPath)
	}
	if err != nil {
		h.left.add(left)
		h.metrics.SweepFailed()
		h.logger.Error("what a compaction has left was not removed, and is tried again",
			"output_path", left.OutputPath, "worker", left.Worker.PID, "error", err)
		return
	}
	left.release()
}
