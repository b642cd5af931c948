package overwrite

import (
	"errors"
	"sync"
)

// tender has one goroutine do something in rounds, whenever there may be something to do.
type tender struct {
	mutex   sync.Mutex
	changed *sync.Cond
	// isWoken asks for a round. begun and ended count them.
	isWoken      bool
	begun, ended uint64
	failure      error
	isStopped    bool
	isOver       bool
}

func newTender() *tender {
	t := &tender{}
	t.changed = sync.NewCond(&t.mutex)
	return t
}

func (t *tender) wake() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.isWoken = true
	t.changed.Broadcast()
}

// await returns after a round that begins from now on, with why it has failed.
func (t *tender) await() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.isWoken = true
	t.changed.Broadcast()
	wanted := t.begun + 1
	for t.ended < wanted && !t.isOver {
		t.changed.Wait()
	}
	return t.failure
}

// stop returns when there will be no further round.
func (t *tender) stop() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.isStopped = true
	t.changed.Broadcast()
	for !t.isOver {
		t.changed.Wait()
	}
}

// run does rounds until it is stopped.
func (t *tender) run(round func() error, failed func(error)) {
	for t.begin() {
		err := round()
		if err != nil && !errors.Is(err, errClosed) {
			failed(err)
		}
		t.finish(err)
	}
}

func (t *tender) begin() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for !t.isWoken && !t.isStopped {
		t.changed.Wait()
	}
	if t.isStopped {
		t.isOver = true
		t.changed.Broadcast()
		return false
	}
	t.isWoken = false
	t.begun++
	return true
}

func (t *tender) finish(err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.ended, t.failure = t.begun, err
	t.changed.Broadcast()
}

func (t *tender) isEnding() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.isStopped
}
