package metadata

import (
	"context"
	"slices"
	"sync"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/state"
)

// windowSize is how far changes run ahead of the oldest one without an answer: less than there are answers kept, so
// that whatever is asked again finds its first answer.
const windowSize = state.AnswersPerClient / 2

// window numbers the changes of a client.
type window struct {
	client []byte

	mutex sync.Mutex
	last  uint64
	// pending are those without an answer, in their order.
	pending []uint64
	// moved is closed when one of them has ended.
	moved chan struct{}
}

func newWindow() window {
	return window{client: newClientID(), moved: make(chan struct{})}
}

// begin gives the id of the next change, once it is not too far ahead.
func (w *window) begin(ctx context.Context) (*sluicev1.MetadataRequestId, error) {
	for {
		id, moved := w.next()
		if id != nil {
			return id, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (w *window) next() (*sluicev1.MetadataRequestId, <-chan struct{}) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.pending) > 0 && w.last-w.pending[0] >= windowSize {
		return nil, w.moved
	}
	w.last++
	w.pending = append(w.pending, w.last)
	return &sluicev1.MetadataRequestId{Client: w.client, Serial: w.last}, nil
}

func (w *window) end(serial uint64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if at, isThere := slices.BinarySearch(w.pending, serial); isThere {
		w.pending = slices.Delete(w.pending, at, at+1)
	}
	close(w.moved)
	w.moved = make(chan struct{})
}
