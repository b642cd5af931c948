package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"sluice.dev/control/internal/localprotocol"
)

const (
	// maxConnections bounds the clients of a node.
	maxConnections = 256
	// silentTime ends the connection of a client that reports nothing, as a live one does once a second.
	silentTime = time.Minute
)

// Server is the agent's half of the protocol.
type Server struct {
	collector *Collector
	logger    *slog.Logger
}

// NewServer makes a server of a collector.
func NewServer(collector *Collector, logger *slog.Logger) *Server {
	return &Server{collector: collector, logger: logger}
}

// Serve answers on a listener until the context ends. It returns nil for this, else why the listener failed.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	return localprotocol.ServeConnections(ctx, listener, maxConnections, s.logger, s.serveConnection, s.turnAway)
}

func (s *Server) turnAway(connection net.Conn) {
	s.logger.Warn("connection of a client refused", "open", maxConnections)
	localprotocol.TurnAway(connection, maxConnections, "Share one connection in each process.")
}

// session is the connection of a client.
type session struct{ server *Server }

func (s *Server) serveConnection(ctx context.Context, connection net.Conn) {
	defer func() { _ = connection.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	from := &session{s}
	defer s.collector.leave(from)
	reader := bufio.NewReaderSize(connection, localprotocol.ReadBufferBytes)
	for {
		if err := from.answer(connection, reader); err != nil {
			s.logger.Debug("connection of a client ended", "reason", err)
			return
		}
	}
}

// answer answers one request.
func (f *session) answer(connection net.Conn, reader *bufio.Reader) error {
	if err := connection.SetReadDeadline(time.Now().Add(silentTime)); err != nil {
		return err
	}
	line, err := localprotocol.ReadLine(reader)
	if errors.Is(err, localprotocol.ErrLineTooLong) {
		failure := localprotocol.NewError(localprotocol.NumberRequest, err.Error(), "This connection is closed now.")
		_ = localprotocol.WriteLine(connection, localprotocol.Unread(failure))
	}
	if err != nil {
		return err
	}
	return localprotocol.WriteLine(connection, f.respond(line))
}

func (f *session) respond(line []byte) []byte {
	request, failure := localprotocol.ParseRequest(line)
	if failure != nil {
		return localprotocol.Answer(request.ID, nil, failure, localprotocol.MaxLineBytes)
	}
	result, err := f.call(request.Method, request.Params)
	if err != nil {
		f.server.logger.Debug("report of a client refused", "method", request.Method, "error", err)
	}
	return localprotocol.Answer(request.ID, result, err, localprotocol.MaxLineBytes)
}

func (f *session) call(method string, params json.RawMessage) (any, error) {
	if method != methodReport {
		return nil, localprotocol.NewError(localprotocol.NumberMethodNotFound,
			fmt.Sprintf("there is no method %q", method), "Methods: report.")
	}
	report, err := ParseReport(params)
	if err != nil {
		return nil, err
	}
	if err := f.server.collector.take(f, report); err != nil {
		return nil, err
	}
	return reportResult{CurrentVersion()}, nil
}
