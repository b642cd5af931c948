package simulator

import "sluice.dev/control/internal/store"

// Compactions is a store in which requests leave work behind that falls as it is done.
type Compactions struct {
	RecordBytes float64
	// Amplification is how many bytes of work each byte leaves behind.
	Amplification float64
	// TriggerBytes of work start a task, which ends when none is left; LimitBytes is the store's bound.
	TriggerBytes, LimitBytes float64
	// OwnBytesPerSecond is the store's own pace.
	OwnBytesPerSecond float64
}

type compactionWork struct {
	Compactions
	pending   float64
	isRunning bool
	done      float64
}

func (w *compactionWork) kind() store.Kind { return store.Compaction }

func (w *compactionWork) arrive(requests float64) float64 {
	written := requests * w.RecordBytes
	w.pending += written * w.Amplification
	return written
}

func (w *compactionWork) debt() store.Debt {
	return store.Debt{
		Kind: store.Compaction, Bytes: uint64(w.pending), TriggerBytes: uint64(w.TriggerBytes),
		LimitBytes: uint64(w.LimitBytes), EstimatedRecovery: -1,
	}
}

func (w *compactionWork) isAtLimit() bool { return w.pending >= w.LimitBytes }

func (w *compactionWork) start() {
	if !w.isRunning {
		w.isRunning, w.done = true, 0
	}
}

// leaseEnded changes nothing: the store's own pace has no schedule to catch up with.
func (w *compactionWork) leaseEnded() {}

func (w *compactionWork) unordered() float64 {
	if w.isAtLimit() {
		return w.pending
	}
	return w.OwnBytesPerSecond * stepLength.Seconds()
}

func (w *compactionWork) isDue() bool { return w.pending >= w.TriggerBytes }

func (w *compactionWork) hasTask() bool { return w.isRunning }

func (w *compactionWork) left() float64 { return w.pending }

func (w *compactionWork) write(bytes float64) {
	w.done += bytes
	w.pending -= bytes
	if w.pending < 1 {
		w.isRunning = false
	}
}

func (w *compactionWork) task() store.Task {
	return store.Task{
		ID: "compaction", Kind: store.Compaction, BytesDone: uint64(w.done), BytesTotal: uint64(w.done + w.pending),
	}
}
