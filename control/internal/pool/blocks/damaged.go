package blocks

import (
	"sync"

	"sluice.dev/control/internal/pool/segment"
)

// damaged are the segments that scrubbing has found damaged: who repairs the pool is told of them. A segment that was
// made anew has another epoch, and so is not one of them.
type damaged struct {
	mutex  sync.Mutex
	epochs map[segment.ID]uint64
}

func newDamaged() damaged {
	return damaged{epochs: make(map[segment.ID]uint64)}
}

func (d *damaged) add(state segment.State) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.epochs[state.ID] = state.Epoch
}

func (d *damaged) has(state segment.State) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	epoch, isThere := d.epochs[state.ID]
	return isThere && epoch == state.Epoch
}

// remove forgets one that was read to its end, or is gone.
func (d *damaged) remove(id segment.ID) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.epochs, id)
}
