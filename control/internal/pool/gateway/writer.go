package gateway

import (
	"context"
	"sync"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/store"
)

// places are those of the files that the stores of a node write at once. Each file has a stream to each server: one too
// many would wait for ever, and all that the node reads with it.
type places chan struct{}

// take gives a place, and what gives it back.
func (p places) take() (release func(), err error) {
	select {
	case p <- struct{}{}:
		return sync.OnceFunc(func() { <-p }), nil
	default:
		return nil, store.Errorf(store.CodeRefused, "the stores of this node write %d files of the pool already, as many as can be", cap(p)).
			WithHint("Seal or close some of them, or have some of the stores on other nodes.")
	}
}

// writer is a file that is being written.
type writer struct {
	*files.Writer
	release func()

	mutex  sync.Mutex
	length int64
}

// newWriter begins a file, if there is a place for one more.
func (s *session) newWriter(ctx context.Context, path string) (*writer, error) {
	release, err := s.writing.take()
	if err != nil {
		return nil, err
	}
	created, err := s.files.Create(ctx, path)
	if err != nil {
		release()
		return nil, err
	}
	return &writer{Writer: created, release: release}, nil
}

// Close gives the writer up, with its place.
func (w *writer) Close() {
	w.Writer.Close()
	w.release()
}

func (w *writer) append(data []byte) (int64, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if err := w.Append(data); err != nil {
		return 0, err
	}
	w.length += int64(len(data))
	return w.length, nil
}

func (w *writer) bytes() int64 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.length
}
