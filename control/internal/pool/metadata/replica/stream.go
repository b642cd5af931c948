package replica

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"sluice.dev/control/internal/accept"
	"sluice.dev/control/internal/security"
)

// handshakeTime bounds how long somebody who reaches the port can keep a connection without a certificate.
const handshakeTime = 10 * time.Second

// stream has the connections between voters: mutual TLS with the certificates of the cluster, of agents alone, and of
// voters alone. raft knows each of them by the name of its node; where that is, is in this node's configuration.
type stream struct {
	node        string
	addresses   map[string]string
	credentials *security.Credentials
	server      credentials.TransportCredentials
	listener    net.Listener
	logger      *slog.Logger

	accepted chan net.Conn
	closing  context.Context
	close    context.CancelFunc
	loops    sync.WaitGroup
}

func newStream(config Config, listener net.Listener, credentials *security.Credentials, logger *slog.Logger) *stream {
	s := &stream{
		node: config.Node, addresses: make(map[string]string), credentials: credentials,
		server: credentials.ServerTransport(), listener: listener, logger: logger, accepted: make(chan net.Conn),
	}
	for _, voter := range config.Voters {
		s.addresses[voter.Node] = voter.Address
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.loops.Go(s.listen)
	return s
}

// nodeAddress is a node's name in the place of an address.
type nodeAddress string

func (nodeAddress) Network() string  { return "node" }
func (a nodeAddress) String() string { return string(a) }

// Addr is the name of this node.
func (s *stream) Addr() net.Addr { return nodeAddress(s.node) }

// Dial connects to a voter, whose name raft has for its address.
func (s *stream) Dial(node raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	address, isVoter := s.addresses[string(node)]
	if !isVoter {
		return nil, fmt.Errorf("%q is no voter in this node's configuration", node)
	}
	ctx, cancel := context.WithTimeout(s.closing, timeout)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	conn, _, err := s.credentials.ClientTransport(security.RoleAgent, string(node)).ClientHandshake(ctx, "", raw)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return s.untilClose(conn), nil
}

// untilClose has a connection end with the stream.
func (s *stream) untilClose(conn net.Conn) net.Conn {
	return &closingConn{conn, context.AfterFunc(s.closing, func() { _ = conn.Close() })}
}

// closingConn forgets the end of the stream when it is closed before.
type closingConn struct {
	net.Conn
	forget func() bool
}

func (c *closingConn) Close() error {
	c.forget()
	return c.Conn.Close()
}

// Accept gives the next connection of another voter.
func (s *stream) Accept() (net.Conn, error) {
	select {
	case conn := <-s.accepted:
		return conn, nil
	case <-s.closing.Done():
		return nil, net.ErrClosed
	}
}

// Close ends listening, and waits for handshakes that are under way.
func (s *stream) Close() error {
	s.close()
	err := s.listener.Close()
	s.loops.Wait()
	return err
}

func (s *stream) listen() {
	for {
		raw, err := accept.Next(s.closing, s.listener, s.logger)
		if err != nil {
			if s.closing.Err() == nil {
				s.logger.Error("the metadata's port takes no more connections", "error", err)
			}
			return
		}
		s.loops.Go(func() { s.admit(raw) })
	}
}

func (s *stream) admit(raw net.Conn) {
	conn, err := s.handshake(raw)
	if err != nil {
		_ = raw.Close()
		return
	}
	select {
	case s.accepted <- s.untilClose(conn):
	case <-s.closing.Done():
		_ = conn.Close()
	}
}

func (s *stream) handshake(raw net.Conn) (net.Conn, error) {
	forget := context.AfterFunc(s.closing, func() { _ = raw.Close() })
	defer forget()
	if err := raw.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, err
	}
	// It logs whom it refuses.
	conn, info, err := s.server.ServerHandshake(raw)
	if err != nil {
		return nil, err
	}
	if err := s.checkPeer(raw, info); err != nil {
		s.logger.Warn("connection for the metadata's log refused", "peer", raw.RemoteAddr().String(), "error", err)
		_ = conn.Close()
		return nil, err
	}
	return conn, raw.SetDeadline(time.Time{})
}

func (s *stream) checkPeer(raw net.Conn, info credentials.AuthInfo) error {
	ctx := peer.NewContext(context.Background(), &peer.Peer{Addr: raw.RemoteAddr(), AuthInfo: info})
	caller, err := security.FromContext(ctx)
	if err != nil {
		return err
	}
	if _, isVoter := s.addresses[caller.Name]; caller.Role != security.RoleAgent || !isVoter {
		return fmt.Errorf("%s is no agent of a voter: name it in pool.metadata.voters if it is one", caller)
	}
	return nil
}
