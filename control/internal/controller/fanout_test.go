package controller

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestFanoutCallsEachOnce(t *testing.T) {
	for _, count := range []int{0, 1, 7, 1000} {
		calls := make([]atomic.Int32, count)
		fanout{workers: 16, patience: time.Hour}.each(count, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("call %d of %d was made %d times", i, count, got)
			}
		}
	}
}

func TestFanoutIsBounded(t *testing.T) {
	var running, most atomic.Int32
	fanout{workers: 4, patience: time.Hour}.each(200, func(int) {
		now := running.Add(1)
		for {
			seen := most.Load()
			if now <= seen || most.CompareAndSwap(seen, now) {
				break
			}
		}
		running.Add(-1)
	})
	if got := most.Load(); got > 4 {
		t.Errorf("%d calls were made at once, at most 4 were allowed", got)
	}
}

// The calls that hang end only when all others have been made.
func TestFanoutGoesOnBesideCallsThatHang(t *testing.T) {
	const count, hanging = 100, 30
	var others sync.WaitGroup
	others.Add(count - hanging)
	fanout{workers: 4, patience: time.Millisecond}.each(count, func(i int) {
		if i < hanging {
			others.Wait()
			return
		}
		others.Done()
	})
}
