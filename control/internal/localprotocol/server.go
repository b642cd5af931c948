package localprotocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"sluice.dev/control/internal/accept"
	"sluice.dev/control/internal/store"
)

// Handler is what a Server serves; every store.Driver is one. A failure that is a *store.Error reaches
// the client with its code and hint.
type Handler interface {
	Describe(ctx context.Context) (store.Description, error)
	Snapshot(ctx context.Context) (store.Snapshot, error)
	Set(ctx context.Context, order store.Order) (store.Lease, error)
	Clear(ctx context.Context, selection store.Selection) (int, error)
	Start(ctx context.Context, order store.Order) error
	Abort(ctx context.Context, abortion store.Abortion) error
}

const (
	// maxConnections is far more than an agent and some operators need.
	maxConnections = 64
	// writeTimeout ends connections whose peer does not read its answers.
	writeTimeout = 10 * time.Second
)

// Server is the plug-in's half of the protocol.
type Server struct {
	handler Handler
	logger  *slog.Logger
}

// NewServer makes a server for a handler.
func NewServer(handler Handler, logger *slog.Logger) *Server {
	return &Server{handler: handler, logger: logger}
}

// Serve answers on a listener until the context ends; it then closes the listener and every
// connection, and waits for the requests in progress. It returns nil for this, else why the listener
// failed.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	return ServeConnections(ctx, listener, maxConnections, s.logger, s.serveConnection, s.turnAway)
}

// ServeConnections has connections served, each by itself, and those beyond a number turned away. Both
// functions close them. It ends as Serve does.
func ServeConnections(
	ctx context.Context, listener net.Listener, most int, logger *slog.Logger,
	serve func(context.Context, net.Conn), turnAway func(net.Conn),
) error {
	ctx, cancel := context.WithCancel(ctx)
	var connections sync.WaitGroup
	defer connections.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()

	slots := make(chan struct{}, most)
	for {
		connection, err := accept.Next(ctx, listener, logger)
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return errors.Join(fmt.Errorf("accept: %w", err), listener.Close())
		}
		select {
		case slots <- struct{}{}:
			connections.Go(func() {
				defer func() { <-slots }()
				serve(ctx, connection)
			})
		default:
			turnAway(connection)
		}
	}
}

func (s *Server) turnAway(connection net.Conn) {
	s.logger.Warn("connection refused", "open", maxConnections)
	TurnAway(connection, maxConnections, "Close some of them.")
}

// TurnAway closes a connection that is one too many, and says how many are open and what to do.
func TurnAway(connection net.Conn, open int, hint string) {
	defer func() { _ = connection.Close() }()
	failure := NewError(NumberUnavailable, fmt.Sprintf("%d connections are open already", open), hint)
	_ = WriteLine(connection, Unread(failure))
}

func (s *Server) serveConnection(ctx context.Context, connection net.Conn) {
	defer func() { _ = connection.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()

	reader := bufio.NewReaderSize(connection, ReadBufferBytes)
	for {
		line, err := ReadLine(reader)
		if errors.Is(err, ErrLineTooLong) {
			_ = WriteLine(connection, Unread(NewError(NumberRequest, err.Error(), "This connection is closed now.")))
		}
		if err != nil {
			s.logger.Debug("connection ended", "reason", err)
			return
		}
		if err := WriteLine(connection, s.respond(ctx, line)); err != nil {
			s.logger.Debug("connection ended", "reason", err)
			return
		}
	}
}

// WriteLine sends a line, to which it adds the newline.
func WriteLine(connection net.Conn, line []byte) error {
	if err := connection.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := connection.Write(append(line, '\n'))
	return err
}

// respond answers one line.
func (s *Server) respond(ctx context.Context, line []byte) []byte {
	parsed, failure := ParseRequest(line)
	if failure != nil {
		return Answer(parsed.ID, nil, failure, MaxLineBytes)
	}
	result, err := s.call(ctx, parsed.Method, parsed.Params)
	if err != nil {
		s.logger.Debug("request refused", "method", parsed.Method, "error", err)
	}
	return Answer(parsed.ID, result, err, MaxLineBytes)
}

// Answer puts the response to a request on a line. Where the result cannot be sent the response says so.
func Answer(id json.RawMessage, result any, err error, mostBytes int) []byte {
	if err != nil {
		return refusal(id, errorFrom(err))
	}
	line, err := json.Marshal(response{JSONRPC: jsonRPCVersion, ID: id, Result: result})
	switch {
	case err != nil:
		return refusal(id, NewError(NumberInternal, "the result cannot be sent: "+err.Error(), ""))
	case len(line) > mostBytes:
		return refusal(id, NewError(NumberInternal, fmt.Sprintf("the result takes %d bytes, a line holds %d", len(line), mostBytes), ""))
	}
	return line
}

func refusal(id json.RawMessage, failure *Error) []byte {
	line, err := json.Marshal(response{JSONRPC: jsonRPCVersion, ID: id, Error: failure})
	if err != nil {
		return Unread(NewError(NumberInternal, "the answer cannot be sent: "+err.Error(), ""))
	}
	return line
}

// Unread is the response to a request whose id could not be read.
func Unread(failure *Error) []byte {
	return Answer(nullID(), nil, failure, MaxLineBytes)
}

// call reads the params of a method and hands them to the handler.
func (s *Server) call(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case methodDescribe:
		return s.describe(ctx, params)
	case methodSnapshot:
		return s.snapshot(ctx, params)
	case methodSet:
		return s.set(ctx, params)
	case methodClear:
		return s.clear(ctx, params)
	case methodStart:
		return s.start(ctx, params)
	case methodAbort:
		return s.abort(ctx, params)
	default:
		return nil, NewError(NumberMethodNotFound, fmt.Sprintf("there is no method %q", method),
			"Methods: describe, snapshot, set, clear, start, abort.")
	}
}
