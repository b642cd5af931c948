package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/pool/gateway/message"
)

// answerTime is far longer than the agent takes for anything: it waits itself for what may be gone.
const answerTime = 2 * time.Minute

// lane is one connection, on which one request is answered after the other.
type lane struct {
	generation uint64

	socket net.Conn
	reader *bufio.Reader
	lastID uint64
}

// request is what is asked for. The payload follows the line.
type request struct {
	method  string
	params  any
	payload []byte
}

func (r request) onlyReads() bool {
	return r.method == message.MethodRead || r.method == message.MethodOpen
}

func dial(ctx context.Context, path string) (*lane, error) {
	var dialer net.Dialer
	socket, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return &lane{socket: socket, reader: bufio.NewReaderSize(socket, localprotocol.ReadBufferBytes)}, nil
}

func (l *lane) close() {
	_ = l.socket.Close()
}

// errBroken is of connections: whether the request was done is not known.
var errBroken = errors.New("the agent does not answer")

// response is an answer as far as it does not depend on the method.
type response struct {
	ID     json.RawMessage      `json:"id"`
	Result json.RawMessage      `json:"result"`
	Error  *localprotocol.Error `json:"error"`
}

// exchange gives a *localprotocol.Error of what is refused, and errBroken of what was not answered.
func (l *lane) exchange(ctx context.Context, asked request, result any) error {
	if err := l.socket.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	// After the deadline, which would take its place in a context that ends just now.
	stop := context.AfterFunc(ctx, func() { _ = l.socket.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := l.encode(asked)
	if err != nil {
		return fmt.Errorf("%w to %s: %w", errBroken, asked.method, err)
	}
	parts := net.Buffers{line, asked.payload}
	_, sendErr := parts.WriteTo(l.socket)
	// An agent that turns a connection away says why, and closes it without waiting for a request.
	answered, err := l.receive()
	if sendErr != nil && !errors.As(err, new(*localprotocol.Error)) {
		err = sendErr
	}
	if err != nil {
		return fmt.Errorf("%w to %s: %w", errBroken, asked.method, err)
	}
	if answered.Error != nil {
		return answered.Error
	}
	if err := json.Unmarshal(answered.Result, result); err != nil {
		return fmt.Errorf("%w to %s in a form that is known: %w", errBroken, asked.method, err)
	}
	return nil
}

func (l *lane) encode(asked request) ([]byte, error) {
	l.lastID++
	params, err := json.Marshal(asked.params)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", l.lastID, asked.method, params), nil
}

// receive gives what the connection is ended for as a *localprotocol.Error: it is the answer to no request.
func (l *lane) receive() (response, error) {
	line, err := localprotocol.ReadLineUpTo(l.reader, message.MaxLineBytes)
	if err != nil {
		return response{}, err
	}
	var read response
	if err := json.Unmarshal(line, &read); err != nil {
		return response{}, err
	}
	if read.Error != nil && bytes.Equal(read.ID, []byte("null")) {
		return response{}, read.Error
	}
	if !bytes.Equal(read.ID, fmt.Append(nil, l.lastID)) {
		return response{}, fmt.Errorf("the answer is to %s", read.ID)
	}
	return read, nil
}

// receivePayload reads what follows the answer to read.
func (l *lane) receivePayload(into []byte) error {
	if _, err := io.ReadFull(l.reader, into); err != nil {
		return fmt.Errorf("%w to read: %w", errBroken, err)
	}
	return nil
}
