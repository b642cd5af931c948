// Package accepttest has a listener that fails for a while.
package accepttest

import (
	"net"
	"os"
	"syscall"
)

// Listener fails so often as a process does that has too many open files, and then gives the connections that come,
// until their channel is closed.
type Listener struct {
	Failures    int
	Connections chan net.Conn
}

// Accept is called by one at a time.
func (l *Listener) Accept() (net.Conn, error) {
	if l.Failures > 0 {
		l.Failures--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	connection, isOpen := <-l.Connections
	if !isOpen {
		return nil, net.ErrClosed
	}
	return connection, nil
}

// Close has no more connections come. It is called once.
func (l *Listener) Close() error {
	close(l.Connections)
	return nil
}

// Addr is none that could be reached.
func (l *Listener) Addr() net.Addr {
	return &net.TCPAddr{}
}
