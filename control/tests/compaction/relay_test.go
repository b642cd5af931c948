package compaction

import (
	"io"
	"net"
	"sync"
	"testing"
)

// relay is the network between two nodes, which can be cut.
type relay struct {
	listener net.Listener
	to       string

	mutex       sync.Mutex
	isCut       bool
	connections []net.Conn
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener, to: to}
	go r.serve()
	t.Cleanup(func() {
		listener.Close()
		r.cut()
	})
	return r
}

func (r *relay) address() string { return r.listener.Addr().String() }

func (r *relay) serve() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.to)
		if err != nil {
			near.Close()
			continue
		}
		if r.add(near, far) {
			go r.copy(near, far)
			go r.copy(far, near)
		}
	}
}

// add is false while the network is cut.
func (r *relay) add(near, far net.Conn) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.isCut {
		near.Close()
		far.Close()
		return false
	}
	r.connections = append(r.connections, near, far)
	return true
}

func (r *relay) copy(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
	from.Close()
}

// cut closes all connections, and those that come.
func (r *relay) cut() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.isCut = true
	for _, connection := range r.connections {
		connection.Close()
	}
	r.connections = nil
}

// mend lets connections through again.
func (r *relay) mend() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.isCut = false
}
