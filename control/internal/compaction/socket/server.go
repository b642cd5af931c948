// Package socket serves the Unix socket through which the plug-ins of a node's stores have compactions run
// elsewhere: JSON-RPC 2.0, one object a line. docs/remote-compaction.md has the messages.
package socket

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/message"
	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/store"
)

// maxConnections bounds the jobs that the stores of a node can offer at once: each takes a connection.
const maxConnections = 256

// Running is a job that runs elsewhere.
type Running interface {
	// Node is where it runs.
	Node() string
	Progress() compaction.Progress
	// Done is closed when it has ended, and End then says how.
	Done() <-chan struct{}
	End() (compaction.Result, *compaction.Failure)
	// Cancel ends it soon.
	Cancel()
}

// Place has a job run elsewhere, or says at once, or soon, why it is not.
type Place func(ctx context.Context, job compaction.Job) (Running, *compaction.Failure)

// Server is the agent's half of the protocol.
type Server struct {
	place  Place
	logger *slog.Logger
}

// NewServer makes a server of what places jobs.
func NewServer(place Place, logger *slog.Logger) *Server {
	return &Server{place: place, logger: logger}
}

// Serve answers on a listener until the context ends, and cancels the jobs of all connections then. It
// returns nil for this, else why the listener failed.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	return localprotocol.ServeConnections(ctx, listener, maxConnections, s.logger, s.serveConnection, s.turnAway)
}

func (s *Server) turnAway(connection net.Conn) {
	s.logger.Warn("connection of a store refused", "open", maxConnections)
	localprotocol.TurnAway(connection, maxConnections, "Compact in the store.")
}

// serveConnection answers the requests of a connection one by one. It reads on meanwhile, to see when the
// store no longer wants its job: a connection that is closed cancels it.
func (s *Server) serveConnection(ctx context.Context, connection net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Also where it is this end that gives it up, for which nothing has ended the context.
	defer func() { _ = connection.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	lines := make(chan []byte)
	go func() {
		defer cancel()
		s.read(ctx, connection, lines)
	}()
	session := &session{server: s}
	defer session.end()
	for {
		select {
		case <-ctx.Done():
			return
		case <-session.silent():
			s.logger.Warn("a store does not ask for its compaction any more, which is cancelled", "job", session.id)
			return
		case line := <-lines:
			if err := localprotocol.WriteLine(connection, session.respond(ctx, line)); err != nil {
				return
			}
		}
	}
}

func (s *Server) read(ctx context.Context, connection net.Conn, lines chan<- []byte) {
	reader := bufio.NewReaderSize(connection, localprotocol.ReadBufferBytes)
	for {
		line, err := localprotocol.ReadLineUpTo(reader, message.MaxLineBytes)
		if errors.Is(err, localprotocol.ErrLineTooLong) {
			failure := localprotocol.NewError(localprotocol.NumberRequest, err.Error(), "This connection is closed now.")
			_ = localprotocol.WriteLine(connection, localprotocol.Unread(failure))
		}
		if err != nil {
			s.logger.Debug("connection of a store ended", "reason", err)
			return
		}
		select {
		case lines <- line:
		case <-ctx.Done():
			return
		}
	}
}

// session is one connection, with the job that it has.
type session struct {
	server *Server
	id     string
	job    Running
	asked  *time.Timer
}

// silent says when the store has not asked for its job for too long.
func (s *session) silent() <-chan time.Time {
	if s.job == nil {
		return nil
	}
	return s.asked.C
}

func (s *session) end() {
	if s.job != nil {
		s.job.Cancel()
		s.asked.Stop()
		s.job = nil
	}
}

func (s *session) respond(ctx context.Context, line []byte) []byte {
	request, failure := localprotocol.ParseRequest(line)
	if failure != nil {
		return localprotocol.Answer(request.ID, nil, failure, message.MaxLineBytes)
	}
	result, err := s.call(ctx, request.Method, request.Params)
	return localprotocol.Answer(request.ID, result, err, message.MaxLineBytes)
}

func (s *session) call(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case message.MethodRun:
		return s.run(ctx, params)
	case message.MethodWait:
		return s.wait(ctx, params)
	default:
		return nil, localprotocol.NewError(localprotocol.NumberMethodNotFound,
			fmt.Sprintf("there is no method %q", method), "Methods: run, wait.")
	}
}

func (s *session) run(ctx context.Context, params json.RawMessage) (any, error) {
	job, err := message.ParseRun(params)
	if err != nil {
		return nil, err
	}
	if s.job != nil {
		return nil, store.Errorf(store.CodeConflict, "this connection has the job %s", s.id).
			WithHint("Wait for its end, or use another connection.")
	}
	result := message.RunResult{ProtocolVersion: message.CurrentVersion()}
	running, failure := s.server.place(ctx, job)
	if failure != nil {
		result.Placement, result.Reason, result.Detail = message.Local, failure.Reason, &failure.Detail
		return result, nil
	}
	s.job, s.id, s.asked = running, job.ID, time.NewTimer(compaction.Expiry)
	result.Placement, result.Node = message.Remote, running.Node()
	return result, nil
}

func (s *session) wait(ctx context.Context, params json.RawMessage) (any, error) {
	if err := message.ParseWait(params); err != nil {
		return nil, err
	}
	if s.job == nil {
		return nil, store.Errorf(store.CodeNotFound, "this connection has no job").WithHint("Begin one with run.")
	}
	defer s.asked.Reset(compaction.Expiry)
	select {
	case <-s.job.Done():
		return s.ended(), nil
	case <-time.After(compaction.Heartbeat):
	case <-ctx.Done():
	}
	progress := s.job.Progress()
	return message.WaitResult{State: message.Running, Node: s.job.Node(), Progress: &progress}, nil
}

// ended makes the connection free for another job.
func (s *session) ended() message.WaitResult {
	result, failure := s.job.End()
	node := s.job.Node()
	s.job = nil
	if failure != nil {
		return message.WaitResult{State: message.Local, Reason: failure.Reason, Detail: &failure.Detail}
	}
	return message.WaitResult{State: message.Done, Node: node, Result: result.Blob}
}
