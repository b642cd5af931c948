package controller

import (
	"sync"
	"sync/atomic"
	"time"
)

// fanout makes many calls at once, but not all: each call in flight holds a stack and buffers.
type fanout struct {
	// workers is how many calls are in flight, not counting those that hang.
	workers int
	// patience is after what time a call is taken to hang. Another worker then goes on in its place, so
	// that nodes that are gone without a word cannot keep the others waiting.
	patience time.Duration
}

// each calls a function with 0 to count-1 and returns when all calls have.
func (f fanout) each(count int, call func(int)) {
	run := fanoutRun{fanout: f, count: count, call: call}
	for range min(f.workers, count) {
		run.active.Go(run.work)
	}
	run.active.Wait()
}

type fanoutRun struct {
	fanout
	count  int
	call   func(int)
	next   atomic.Int64
	active sync.WaitGroup
}

// work makes calls until there are none left, or until another worker has taken its place.
func (r *fanoutRun) work() {
	var substitute *time.Timer
	for {
		index := int(r.next.Add(1)) - 1
		if index >= r.count {
			return
		}
		r.active.Add(1)
		if substitute == nil {
			substitute = time.AfterFunc(r.patience, r.substitute)
		} else {
			substitute.Reset(r.patience)
		}
		r.call(index)
		if !substitute.Stop() {
			return
		}
		r.active.Done()
	}
}

// substitute was counted as active when its timer was set, so that each cannot return before it.
func (r *fanoutRun) substitute() {
	defer r.active.Done()
	r.work()
}
