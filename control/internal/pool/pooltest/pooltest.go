// Package pooltest has servers of blocks for tests: real ones, over mutual TLS, which can be stopped, started
// again and cut off.
package pooltest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/blocks"
	"sluice.dev/control/internal/pool/payload"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/tests/process"
)

// Pool is a number of servers, and a client of each.
type Pool struct {
	// Authority is whose certificates all of the pool have.
	Authority *securitytest.Authority
	Servers   map[string]*Server
	clients   map[string]sluicev1.BlockServiceClient
}

// Server is one server of a pool. Its blocks outlast it.
type Server struct {
	Name      string
	Directory string

	t           testing.TB
	credentials *security.Credentials
	link        *link
	client      *grpc.ClientConn
	segments    *segment.Store
	blocks      *blocks.Server
	server      *grpc.Server
	served      chan error
}

// New starts so many servers, "pool1" and so on.
func New(t testing.TB, servers int) *Pool {
	t.Helper()
	authority := securitytest.NewAuthority(t, "test")
	own := authority.Open(t, security.RoleAgent, "client")
	pool := &Pool{Authority: authority, Servers: make(map[string]*Server), clients: make(map[string]sluicev1.BlockServiceClient)}
	for i := range servers {
		server := &Server{
			Name: fmt.Sprintf("pool%d", i+1), Directory: process.MemoryDirectory(t), t: t, link: newLink(t),
		}
		server.credentials = authority.Open(t, security.RoleAgent, server.Name)
		options := append(protocol.DialOptions(own, security.RoleAgent, server.Name), payload.DialOptions()...)
		connection, err := grpc.NewClient(server.link.address(), options...)
		if err != nil {
			t.Fatal(err)
		}
		server.client = connection
		server.Start()
		t.Cleanup(server.Stop)
		t.Cleanup(func() { _ = connection.Close() })
		pool.Servers[server.Name] = server
		pool.clients[server.Name] = sluicev1.NewBlockServiceClient(connection)
	}
	return pool
}

// Names are those of the servers.
func (p *Pool) Names() []string {
	names := make([]string, 0, len(p.Servers))
	for i := range p.Servers {
		names = append(names, i)
	}
	return names
}

// Service gives the client of a server.
func (p *Pool) Service(node string) (sluicev1.BlockServiceClient, error) {
	client := p.clients[node]
	if client == nil {
		return nil, fmt.Errorf("there is no server %q", node)
	}
	return client, nil
}

// Address is where the server is reached, also when it was started again.
func (s *Server) Address() string {
	return s.link.address()
}

// Start serves what is in the directory.
func (s *Server) Start() {
	s.t.Helper()
	var err error
	if s.segments, err = segment.OpenStore(s.Directory, segment.Options{}); err != nil {
		s.t.Fatal(err)
	}
	listener, err := protocol.Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.server = grpc.NewServer(append(protocol.ServerOptions(s.credentials), payload.ServerOptions()...)...)
	metrics := blocks.NewMetrics(prometheus.NewRegistry(), s.segments.Space)
	s.blocks = blocks.NewServer(s.segments, metrics)
	sluicev1.RegisterBlockServiceServer(s.server, s.blocks)
	s.served = make(chan error, 1)
	go func() { s.served <- s.server.Serve(listener) }()
	s.link.to(listener.Addr().String())
}

// Scrub reads all segments again and again, until the context ends.
func (s *Server) Scrub(ctx context.Context) {
	s.blocks.Scrub(ctx, blocks.Scrubbing{Period: time.Millisecond, BytesPerSecond: 1 << 40}, slog.New(slog.DiscardHandler))
}

// Stop ends the server and all connections to it at once, which the pool's client knows then: what it is asked for next is not
// lost on a connection that is gone.
func (s *Server) Stop() {
	if s.server == nil {
		return
	}
	s.link.to("")
	for s.client.GetState() == connectivity.Ready {
		s.client.WaitForStateChange(context.Background(), connectivity.Ready)
	}
	s.server.Stop()
	<-s.served
	s.server = nil
	if err := s.segments.Close(); err != nil {
		s.t.Error(err)
	}
}

// HeldBytes are those of the data of its segments.
func (s *Server) HeldBytes() (uint64, error) {
	paths, err := filepath.Glob(filepath.Join(s.Directory, "*", "*", "*.*[nd]"))
	var held uint64
	for _, path := range paths {
		info, statErr := os.Stat(path)
		if statErr == nil {
			held += uint64(info.Size())
		}
	}
	return held, err
}

// Cut has nothing get through to the server and from it any more, on connections that stay open.
func (s *Server) Cut() {
	s.link.cut()
}

// link is the network before a server: a port that stays the same.
type link struct {
	listener net.Listener

	mutex       sync.Mutex
	target      string
	connections map[net.Conn]bool
	// isCut is closed when nothing gets through any more.
	isCut chan struct{}
}

func newLink(t testing.TB) *link {
	t.Helper()
	listener, err := protocol.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{listener: listener, connections: make(map[net.Conn]bool), isCut: make(chan struct{})}
	go l.accept()
	t.Cleanup(func() {
		_ = listener.Close()
		l.to("")
	})
	return l
}

func (l *link) address() string {
	return l.listener.Addr().String()
}

// to ends all connections, and has new ones go to an address, or nowhere.
func (l *link) to(target string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.target = target
	for connection := range l.connections {
		_ = connection.Close()
	}
	clear(l.connections)
}

func (l *link) cut() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	close(l.isCut)
}

func (l *link) accept() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.connect(from)
	}
}

func (l *link) connect(from net.Conn) {
	l.mutex.Lock()
	target := l.target
	l.mutex.Unlock()
	var dialer net.Dialer
	to, err := dialer.DialContext(context.Background(), "tcp", target)
	if target == "" || err != nil {
		_ = from.Close()
		return
	}
	l.mutex.Lock()
	l.connections[from], l.connections[to] = true, true
	gone := l.target != target
	l.mutex.Unlock()
	if gone {
		_, _ = from.Close(), to.Close()
		return
	}
	go l.forward(from, to)
	l.forward(to, from)
}

func (l *link) forward(from, to net.Conn) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-l.isCut:
			continue
		default:
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
