package host

import (
	"context"
	"sync"
	"time"

	"sluice.dev/control/internal/compaction/scratch"
)

// sweepAgainPeriod is how often it is tried again to remove what could not be removed, as while a file
// system is out of reach.
const sweepAgainPeriod = 10 * time.Second

// unswept are directories that are still to be removed.
type unswept struct {
	mutex sync.Mutex
	paths map[string]bool
}

func (u *unswept) add(path string) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.paths == nil {
		u.paths = make(map[string]bool)
	}
	u.paths[path] = true
}

// takeAll gives the directories, each to one caller.
func (u *unswept) takeAll() []string {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	var paths []string
	for path := range u.paths {
		paths = append(paths, path)
	}
	u.paths = nil
	return paths
}

// Tend removes, until its context ends, what could not be removed at once.
func (h *Host) Tend(ctx context.Context) {
	ticker := time.NewTicker(sweepAgainPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, path := range h.unswept.takeAll() {
				h.sweep(path)
			}
		}
	}
}

// clean ends and removes what an agent before this one has left.
func (h *Host) clean() {
	entries, err := h.journal.Entries()
	if err != nil {
		h.logger.Error("the journal of compactions cannot be read in full", "error", err)
	}
	for _, entry := range entries {
		h.cleanOne(entry)
	}
}

func (h *Host) cleanOne(entry scratch.Entry) {
	if err := entry.Worker.End(); err != nil {
		h.metrics.SweepFailed()
		h.logger.Error("a worker of an agent before this one was not ended: end it, and start the agent again",
			"worker", entry.Worker.PID, "output_path", entry.OutputPath, "error", err)
		return
	}
	h.logger.Info("what a compaction of an agent before this one has left is removed", "output_path", entry.OutputPath)
	h.sweep(entry.OutputPath)
}

func (h *Host) sweep(outputPath string) {
	if err := h.journal.Sweep(outputPath); err != nil {
		h.unswept.add(outputPath)
		h.metrics.SweepFailed()
		h.logger.Error("what a compaction has left was not removed, and is tried again",
			"output_path", outputPath, "error", err)
	}
}
