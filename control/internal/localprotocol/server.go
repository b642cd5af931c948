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
	ctx, cancel := context.WithCancel(ctx)
	var connections sync.WaitGroup
	defer connections.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()

	slots := make(chan struct{}, maxConnections)
	for {
		connection, err := listener.Accept()
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
				s.serveConnection(ctx, connection)
			})
		default:
			s.turnAway(connection)
		}
	}
}

func (s *Server) turnAway(connection net.Conn) {
	defer func() { _ = connection.Close() }()
	s.logger.Warn("connection refused", "open", maxConnections)
	failure := newError(NumberUnavailable,
		fmt.Sprintf("%d connections are open already", maxConnections), "Close some of them.")
	_ = writeLine(connection, answer(nullID(), nil, failure))
}

func (s *Server) serveConnection(ctx context.Context, connection net.Conn) {
	defer func() { _ = connection.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()

	reader := bufio.NewReaderSize(connection, readBufferBytes)
	for {
		line, err := ReadLine(reader)
		if errors.Is(err, ErrLineTooLong) {
			failure := newError(NumberRequest, ErrLineTooLong.Error(), "This connection is closed now.")
			_ = writeLine(connection, answer(nullID(), nil, failure))
		}
		if err != nil {
			s.logger.Debug("connection ended", "reason", err)
			return
		}
		if err := writeLine(connection, s.respond(ctx, line)); err != nil {
			s.logger.Debug("connection ended", "reason", err)
			return
		}
	}
}

func writeLine(connection net.Conn, line []byte) error {
	if err := connection.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := connection.Write(append(line, '\n'))
	return err
}

// respond answers one line.
func (s *Server) respond(ctx context.Context, line []byte) []byte {
	parsed, failure := parseRequest(line)
	if failure != nil {
		return answer(parsed.ID, nil, failure)
	}
	result, err := s.call(ctx, parsed.Method, parsed.Params)
	if err == nil {
		return answer(parsed.ID, result, nil)
	}
	s.logger.Debug("request refused", "method", parsed.Method, "error", err)
	if !errors.As(err, &failure) {
		failure = errorFrom(err)
	}
	return answer(parsed.ID, nil, failure)
}

// answer puts a response on a line. Where the result cannot be sent the response says so.
func answer(id json.RawMessage, result any, failure *Error) []byte {
	sent := response{JSONRPC: jsonRPCVersion, ID: id, Error: failure}
	if failure == nil {
		text, err := json.Marshal(result)
		if err != nil {
			return answer(id, nil, newError(NumberInternal, "the result cannot be sent: "+err.Error(), ""))
		}
		sent.Result = text
	}
	line, err := json.Marshal(sent)
	if err != nil {
		return answer(nullID(), nil, newError(NumberInternal, "the answer cannot be sent: "+err.Error(), ""))
	}
	if len(line) > MaxLineBytes {
		return answer(id, nil, newError(NumberInternal,
			fmt.Sprintf("the result takes %d bytes, a line holds %d", len(line), MaxLineBytes), ""))
	}
	return line
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
		return nil, newError(NumberMethodNotFound, fmt.Sprintf("there is no method %q", method),
			"Methods: describe, snapshot, set, clear, start, abort.")
	}
}
