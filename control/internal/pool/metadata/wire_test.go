package metadata_test

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// wire passes connections on to an address, unless it is cut.
type wire struct {
	to       string
	listener net.Listener

	mutex sync.Mutex
	isCut bool
	// isMute has nothing get through on connections that stay open.
	isMute bool
	// late is how long all takes that gets through.
	late time.Duration
	ends map[net.Conn]bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{to: to, listener: listener, ends: make(map[net.Conn]bool)}
	go w.pass()
	t.Cleanup(func() {
		listener.Close()
		w.set(true)
	})
	return w
}

func (w *wire) address() string { return w.listener.Addr().String() }

func (w *wire) set(isCut bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.isCut = isCut
	if !isCut {
		return
	}
	for end := range w.ends {
		end.Close()
	}
	clear(w.ends)
}

func (w *wire) mute(isMute bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.isMute = isMute
}

func (w *wire) delay(late time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.late = late
}

func (w *wire) lateness() time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.late
}

func (w *wire) swallows() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.isMute
}

func (w *wire) pass() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", w.to)
		if err != nil || !w.add(near, far) {
			near.Close()
			if far != nil {
				far.Close()
			}
			continue
		}
		go w.copy(near, far)
		go w.copy(far, near)
	}
}

func (w *wire) add(ends ...net.Conn) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.isCut {
		return false
	}
	for _, end := range ends {
		w.ends[end] = true
	}
	return true
}

func (w *wire) copy(to, from net.Conn) {
	_, _ = io.Copy(writerFunc(func(data []byte) (int, error) {
		if w.swallows() {
			return len(data), nil
		}
		time.Sleep(w.lateness())
		return to.Write(data)
	}), from)
	to.Close()
	from.Close()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.ends, to)
	delete(w.ends, from)
}

type writerFunc func(data []byte) (int, error)

func (f writerFunc) Write(data []byte) (int, error) { return f(data) }
