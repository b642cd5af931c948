// Package gateway gives the stores of a node the files of a pool, through a Unix socket of the agent. A store
// has a session while its first connection lasts; docs/pool-files.md has the messages.
package gateway

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/store"
)

const (
	// maxConnections bounds the threads of all stores of a node that wait for the pool at once.
	maxConnections = 1024
	// answerTime ends connections of stores that do not read their answers.
	answerTime = 30 * time.Second
	// mostKeptBytes bounds what a connection keeps for its next request: a store has tens of them.
	mostKeptBytes = 256 << 10
	// tokenBytes is how long the name of a session is.
	tokenBytes = 16
)

// Pool is what the gateway gives access to.
type Pool struct {
	Metadata *metadata.Client
	Services stripe.Services
	Options  stripe.Options
	// Servers, Copies and BlockBytes are those of new files.
	Servers    []string
	Copies     int
	BlockBytes int64
	// TimeToLive of leases: so long after this agent is gone another one can have a store's directory.
	TimeToLive time.Duration
	// MostWritten bounds the files that the stores of the node write at once.
	MostWritten int
}

// Server is the agent's half of the protocol.
type Server struct {
	node     string
	pool     Pool
	suspects *stripe.Suspects
	writing  places
	logger   *slog.Logger

	mutex    sync.Mutex
	sessions map[string]*session
}

// NewServer makes a server of a pool's files for the stores of a node.
func NewServer(node string, pool Pool, logger *slog.Logger) *Server {
	return &Server{
		node: node, pool: pool, suspects: stripe.NewSuspects(time.Now), writing: make(places, pool.MostWritten), logger: logger,
		sessions: make(map[string]*session),
	}
}

// Serve answers on a listener until the context ends; sessions can be gone on with by a later server then. It
// returns nil for this, else why the listener failed.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	return localprotocol.ServeConnections(ctx, listener, maxConnections, s.logger, s.serveConnection, s.turnAway)
}

func (s *Server) turnAway(socket net.Conn) {
	s.logger.Warn("connection of a store to its pool refused", "open", maxConnections)
	localprotocol.TurnAway(socket, maxConnections, "")
}

func (s *Server) serveConnection(ctx context.Context, socket net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = socket.Close() })
	defer stop()
	c := &connection{server: s, socket: socket, reader: bufio.NewReaderSize(socket, localprotocol.ReadBufferBytes)}
	reason := c.serve(ctx)
	_ = socket.Close()
	s.logger.Debug("connection of a store to its pool ended", "reason", reason)
	if c.isOwner {
		s.end(ctx, c.session)
	}
}

// keep gives a session a name that others do not guess.
func (s *Server) keep(begun *session) {
	var token [tokenBytes]byte
	// It never fails: crypto/rand ends the program before.
	_, _ = rand.Read(token[:])
	begun.name = hex.EncodeToString(token[:])
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.sessions[begun.name] = begun
}

func (s *Server) sessionOf(name string) (*session, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found := s.sessions[name]
	if found == nil {
		return nil, store.Errorf(store.CodeNotFound, "there is no such session").WithHint("Its first connection has ended: begin another one.")
	}
	return found, nil
}

// LeaseOf gives where the lease of a store's session is, and its epoch. Only a store gives a part of its lease away: no
// session without a lease of its own, and none that is nested.
func (s *Server) LeaseOf(name string) (metadata.At, error) {
	found, err := s.sessionOf(name)
	if err != nil {
		return metadata.At{}, err
	}
	if found.files == nil || found.isNested {
		return metadata.At{}, store.Errorf(store.CodeRefused, "the session has no lease that a part could be given away of").
			WithHint("Begin one with attach, without outer_epoch.")
	}
	return metadata.At{Volume: found.volume, Path: found.path, Epoch: found.files.Epoch()}, nil
}

// end gives a lease back. Whether the store or this agent goes decides what becomes of the session's lock.
func (s *Server) end(ctx context.Context, ended *session) {
	s.mutex.Lock()
	delete(s.sessions, ended.name)
	s.mutex.Unlock()
	isForGood := ctx.Err() == nil
	if err := ended.end(context.WithoutCancel(ctx), isForGood); err != nil {
		s.logger.Warn("a store's lease on files of a pool could not be given back, and runs out", "volume", ended.volume, "error", err)
	}
}

// connection is one of a session.
type connection struct {
	server *Server
	socket net.Conn
	reader *bufio.Reader
	// payload is kept for the next request.
	payload []byte
	// session is nil before the first request. Who has begun it ends it.
	session *session
	isOwner bool
}

// unreadable is an error after which the next request cannot be told from what follows this one.
type unreadable struct{ error }

func (u unreadable) Unwrap() error { return u.error }

// serve answers one request after the other, and gives why there is no further one.
func (c *connection) serve(ctx context.Context) error {
	for {
		line, err := localprotocol.ReadLineUpTo(c.reader, message.MaxLineBytes)
		if errors.Is(err, localprotocol.ErrLineTooLong) {
			failure := localprotocol.NewError(localprotocol.NumberRequest, err.Error(), "This connection is closed now.")
			return errors.Join(err, c.send(localprotocol.Unread(failure), nil))
		}
		if err != nil {
			return err
		}
		request, failure := localprotocol.ParseRequest(line)
		if failure != nil {
			return errors.Join(failure, c.send(localprotocol.Answer(request.ID, nil, failure, message.MaxLineBytes), nil))
		}
		result, payload, err := c.call(ctx, request)
		if sendErr := c.send(localprotocol.Answer(request.ID, result, answered(err), message.MaxLineBytes), payload); sendErr != nil {
			return sendErr
		}
		if errors.As(err, new(unreadable)) {
			return err
		}
		if cap(c.payload) > mostKeptBytes {
			c.payload = nil
		}
	}
}

func (c *connection) send(line, payload []byte) error {
	if err := c.socket.SetWriteDeadline(time.Now().Add(answerTime)); err != nil {
		return err
	}
	parts := net.Buffers{append(line, '\n'), payload}
	_, err := parts.WriteTo(c.socket)
	return err
}

// room gives space for what follows a line.
func (c *connection) room(bytes int) []byte {
	if cap(c.payload) < bytes {
		c.payload = make([]byte, bytes)
	}
	return c.payload[:bytes]
}
