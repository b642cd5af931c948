package devices

import (
	"errors"
	"fmt"
	"sync"
)

// writeBackBytes are read from the fast device, and written to a slow one, at a time.
const writeBackBytes = 1 << 20

// writeBack copies to slow devices what was written to the fast one, while they have nothing else to do.
type writeBack struct {
	fast *device

	mutex   sync.Mutex
	changed *sync.Cond
	// pendingBytes were written to the fast device, and are not copied.
	pendingBytes, copiedBytes int64
	isEnding                  bool
	failure                   error
	copiers                   sync.WaitGroup
}

func startWriteBack(fast *device, slow []*device) *writeBack {
	w := &writeBack{fast: fast}
	w.changed = sync.NewCond(&w.mutex)
	for _, to := range slow {
		w.copiers.Go(func() { w.run(to) })
	}
	return w
}

// add says that bytes were written to the fast device.
func (w *writeBack) add(bytes int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.pendingBytes += bytes
	w.changed.Broadcast()
}

// end gives what was copied, and what was not.
func (w *writeBack) end() (copied, pending int64, err error) {
	w.mutex.Lock()
	w.isEnding = true
	w.changed.Broadcast()
	w.mutex.Unlock()
	w.copiers.Wait()
	return w.copiedBytes, w.pendingBytes, w.failure
}

func (w *writeBack) run(to *device) {
	buffer, err := aligned(writeBackBytes)
	if err != nil {
		w.note(err)
		return
	}
	defer release(buffer)
	for w.take() {
		w.note(w.copy(to, buffer))
	}
}

// take waits for enough to copy, and is false when there is nothing more to do.
func (w *writeBack) take() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for w.pendingBytes < writeBackBytes && !w.isEnding {
		w.changed.Wait()
	}
	if w.isEnding || w.failure != nil {
		return false
	}
	w.pendingBytes -= writeBackBytes
	return true
}

// copy reads from the fast device whatever lies there: which bytes they are is nobody's matter.
func (w *writeBack) copy(to *device, buffer []byte) error {
	w.fast.inFlight.Add(1)
	err := w.fast.read(buffer)
	w.fast.inFlight.Add(-1)
	if err != nil {
		return err
	}
	to.inFlight.Add(1)
	defer to.inFlight.Add(-1)
	return to.write(len(buffer))
}

func (w *writeBack) note(err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if err != nil {
		w.failure = errors.Join(w.failure, fmt.Errorf("writing back: %w", err))
		return
	}
	w.copiedBytes += writeBackBytes
}
