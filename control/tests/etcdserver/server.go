// Package etcdserver runs Debian's etcd for tests.
package etcdserver

import (
	"testing"

	"sluice.dev/control/tests/process"
)

// Server is an etcd of one member, that can be killed and started again with its data.
type Server struct {
	*process.Process
	// Endpoint is the URL for clients.
	Endpoint string

	program, directory, peer string
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		Endpoint:  "http://" + process.FreeAddress(t),
		program:   process.Require(t, "etcd", "etcd-server"),
		directory: process.MemoryDirectory(t),
		peer:      "http://" + process.FreeAddress(t),
	}
	s.Restart(t)
	return s
}

// Restart starts the server again with its data, after it was killed.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Process = process.Start(t, s.program, "--name=test", "--data-dir="+s.directory,
		"--listen-client-urls="+s.Endpoint, "--advertise-client-urls="+s.Endpoint,
		"--listen-peer-urls="+s.peer, "--initial-advertise-peer-urls="+s.peer,
		"--initial-cluster=test="+s.peer, "--log-level=warn")
}
