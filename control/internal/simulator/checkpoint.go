package simulator

import "sluice.dev/control/internal/store"

// glideShare is the part of the way to the bound that a task has whose lease has ended: the next one
// keeps as much.
const glideShare = 0.45

// Checkpoints is a store whose requests write a log, and whose background task writes the pages that
// they have changed, so that the log can be cut off behind it.
type Checkpoints struct {
	// PageCount pages are changed by requests, each as likely as the other.
	PageCount float64
	PageBytes float64
	// RecordBytes is what a request writes to the log; ImageBytes comes on top with the first change of a
	// page since a checkpoint began.
	RecordBytes, ImageBytes float64
	// LimitBytes bounds the log since the last checkpoint that has ended.
	LimitBytes float64
	// CompletionTarget is the share of the time to the next checkpoint over which one is spread by the
	// store itself; it also decides when one is due.
	CompletionTarget float64
}

// checkpointWork is the state of such a store.
type checkpointWork struct {
	Checkpoints
	log float64
	// redo is where the log is cut off, begun where the last checkpoint began.
	redo, begun float64
	// touched is the share of pages changed since then.
	touched     float64
	isRunning   bool
	done, total float64
	// glideDone and glideLog are where the lease ended, glideRoom the log that may come until the end.
	isGliding                      bool
	glideDone, glideLog, glideRoom float64
}

func (w *checkpointWork) kind() store.Kind { return store.Checkpoint }

func (w *checkpointWork) arrive(requests float64) float64 {
	images := min(requests*(1-w.touched), (1-w.touched)*w.PageCount)
	w.touched += images / w.PageCount
	written := requests*w.RecordBytes + images*w.ImageBytes
	w.log += written
	return written
}

func (w *checkpointWork) triggerBytes() float64 {
	return w.LimitBytes / (1 + w.CompletionTarget)
}

func (w *checkpointWork) debt() store.Debt {
	return store.Debt{
		Kind: store.Checkpoint, Bytes: uint64(w.log - w.redo), LimitBytes: uint64(w.LimitBytes),
		TriggerBytes: uint64(w.begun - w.redo + w.triggerBytes()), EstimatedRecovery: -1,
	}
}

func (w *checkpointWork) isAtLimit() bool {
	return w.log-w.redo >= w.LimitBytes
}

func (w *checkpointWork) start() {
	if w.isRunning {
		return
	}
	w.isRunning, w.isGliding = true, false
	w.begun, w.done = w.log, 0
	w.total = w.touched * w.PageCount * w.PageBytes
	w.touched = 0
}

func (w *checkpointWork) leaseEnded() {
	if !w.isRunning {
		return
	}
	w.isGliding = true
	w.glideDone, w.glideLog = w.done, w.log
	w.glideRoom = max(1, (w.LimitBytes-(w.log-w.redo))*glideShare)
}

// unordered is what the store itself would write now: on schedule if the share done keeps up with the log.
func (w *checkpointWork) unordered() float64 {
	if w.isAtLimit() {
		return w.total
	}
	due := w.total * min(1, (w.log-w.begun)/(w.CompletionTarget*w.triggerBytes()))
	if w.isGliding {
		due = w.glideDone + (w.total-w.glideDone)*min(1, (w.log-w.glideLog)/w.glideRoom)
	}
	return max(0, due-w.done)
}

func (w *checkpointWork) isDue() bool {
	return w.log-w.begun >= w.triggerBytes()
}

func (w *checkpointWork) hasTask() bool { return w.isRunning }

func (w *checkpointWork) left() float64 { return w.total - w.done }

func (w *checkpointWork) write(bytes float64) {
	w.done += bytes
	if w.done >= w.total {
		w.redo, w.isRunning, w.isGliding = w.begun, false, false
	}
}

func (w *checkpointWork) task() store.Task {
	return store.Task{ID: "checkpoint", Kind: store.Checkpoint, BytesDone: uint64(w.done), BytesTotal: uint64(w.total)}
}
