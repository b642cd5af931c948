package localprotocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"sluice.dev/control/internal/store"
)

// ErrClosed is the error of calls on a Client that was closed.
var ErrClosed = errors.New("the client is closed")

// Client is the agent's half of the protocol: one connection, which is made when it is first needed
// and made anew by the call after one that failed. It is safe for concurrent use; calls take turns.
//
// An error is an *Error if the plug-in answered with one or is of another major version; any other
// means that there was no answer that could be understood. A call is never repeated by itself: the
// plug-in may have obeyed it before the answer was lost.
type Client struct {
	socketPath string
	// turn holds one token, which is the right to use the fields below.
	turn       chan struct{}
	closed     bool
	connection net.Conn
	reader     *bufio.Reader
	lastID     uint64
	// plugin is the version that the plug-in behind the connection speaks.
	plugin Version
}

// NewClient makes a client of the plug-in that serves a socket. Nothing is sent yet.
func NewClient(socketPath string) *Client {
	client := &Client{socketPath: socketPath, turn: make(chan struct{}, 1)}
	client.turn <- struct{}{}
	return client
}

// Describe asks what the store is.
func (c *Client) Describe(ctx context.Context) (store.Description, error) {
	return call(ctx, c, question{method: methodDescribe, params: ownDescribeParams()}, readDescription)
}

// Snapshot asks for the state of the store. It counts as taken when the request was sent, so that it
// never seems younger than it is.
func (c *Client) Snapshot(ctx context.Context) (store.Snapshot, error) {
	takenAt := time.Now()
	snapshot, err := call(ctx, c, question{method: methodSnapshot, params: snapshotParams{}}, readSnapshot)
	if err != nil {
		return store.Snapshot{}, err
	}
	snapshot.TakenAt = takenAt
	return snapshot, nil
}

// Set gives, renews or replaces a lease.
func (c *Client) Set(ctx context.Context, order store.Order) (store.Lease, error) {
	return call(ctx, c, question{method: methodSet, params: newOrderParams(order)}, readGiven)
}

// Clear ends leases before their time and returns how many.
func (c *Client) Clear(ctx context.Context, selection store.Selection) (int, error) {
	return call(ctx, c, question{method: methodClear, params: clearParams(selection)}, readCleared)
}

// Start starts a task.
func (c *Client) Start(ctx context.Context, order store.Order) error {
	start := question{method: methodStart, params: newOrderParams(order)}
	if order.Variant != "" {
		start.sinceMinor, start.what = ordersOfTasks, "a start with a variant"
	}
	_, err := call(ctx, c, start, readNothing)
	return err
}

// Abort tells a task to end.
func (c *Client) Abort(ctx context.Context, abortion store.Abortion) error {
	abort := question{
		method: methodAbort, params: abortParams(abortion), sinceMinor: ordersOfTasks, what: "to abort a task",
	}
	_, err := call(ctx, c, abort, readNothing)
	return err
}

// Close waits for the call in progress and closes the connection. Calls fail with ErrClosed after it.
func (c *Client) Close() error {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	c.closed = true
	return c.disconnect()
}

func ownDescribeParams() describeParams {
	return describeParams{ProtocolVersion: newVersion(CurrentVersion())}
}

// question is a request that is not sent to a plug-in whose minor version is before that which knows it.
type question struct {
	method     string
	params     any
	sinceMinor uint64
	what       string
}

// call takes its turn, connects if need be, and exchanges one request for one result.
func call[Result any](
	ctx context.Context, c *Client, asked question, read func(*members) Result,
) (Result, error) {
	var nothing Result
	method := asked.method
	select {
	case <-ctx.Done():
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	}
	// Nothing is sent for a context that has ended, also where it was this call's turn by then.
	if err := ctx.Err(); err != nil {
		return nothing, fmt.Errorf("%s: %w", method, err)
	}
	if err := c.connect(ctx); err != nil {
		return nothing, fmt.Errorf("%s: %w", method, err)
	}
	if c.plugin.Minor < asked.sinceMinor {
		return nothing, tooOld(c.plugin, asked.sinceMinor, asked.what)
	}
	result, err := exchange(ctx, c, method, asked.params, read)
	if err != nil {
		return nothing, fmt.Errorf("%s: %w", method, err)
	}
	return result, nil
}

// connect makes sure that there is a connection to a plug-in of the same major version. The plug-in
// behind a new connection may be another one than before.
func (c *Client) connect(ctx context.Context) error {
	if c.closed {
		return ErrClosed
	}
	if c.connection != nil {
		return nil
	}
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "unix", c.socketPath)
	if err != nil {
		return err
	}
	c.connection = connection
	c.reader = bufio.NewReaderSize(connection, ReadBufferBytes)
	c.plugin, err = exchange(ctx, c, methodDescribe, ownDescribeParams(), readPluginVersion)
	if err != nil {
		return errors.Join(err, c.disconnect())
	}
	return nil
}

func (c *Client) disconnect() error {
	if c.connection == nil {
		return nil
	}
	err := c.connection.Close()
	c.connection, c.reader = nil, nil
	return err
}

// exchange sends a request and returns the result. The connection is given up unless what came back is
// a proper answer.
func exchange[Result any](
	ctx context.Context, c *Client, method string, params any, read func(*members) Result,
) (Result, error) {
	var result Result
	document, err := c.roundTrip(ctx, method, params)
	var answered *Error
	if errors.As(err, &answered) {
		return result, err
	}
	if err == nil {
		result, err = readResult(method, document, read)
	}
	if err != nil {
		return result, errors.Join(err, c.disconnect())
	}
	return result, nil
}

func (c *Client) roundTrip(ctx context.Context, method string, params any) (map[string]any, error) {
	c.lastID++
	line, err := requestLine(c.lastID, method, params)
	if err != nil {
		return nil, err
	}
	answer, err := c.exchangeLines(ctx, line)
	if err != nil {
		return nil, err
	}
	return parseResponse(answer, c.lastID)
}

func requestLine(id uint64, method string, params any) ([]byte, error) {
	line, err := json.Marshal(sentRequest{JSONRPC: jsonRPCVersion, ID: id, Method: method, Params: params})
	if err != nil {
		return nil, err
	}
	if len(line) > MaxLineBytes {
		return nil, NewError(NumberInvalid, fmt.Sprintf("the order takes %d bytes, a line holds %d", len(line), MaxLineBytes), "")
	}
	return append(line, '\n'), nil
}

// exchangeLines ends with its context, whose error it then returns.
func (c *Client) exchangeLines(ctx context.Context, line []byte) ([]byte, error) {
	connection := c.connection
	stop := context.AfterFunc(ctx, func() { _ = connection.SetDeadline(time.Unix(1, 0)) })
	answer, err := c.writeAndRead(line)
	// Once the context has ended the deadline may be in force, and the connection of no more use.
	if !stop() {
		return nil, ctx.Err()
	}
	return answer, err
}

func (c *Client) writeAndRead(line []byte) ([]byte, error) {
	_, writeErr := c.connection.Write(line)
	answer, err := ReadLine(c.reader)
	switch {
	case writeErr == nil && err == nil:
		return answer, nil
	case err == nil:
		// Who turns a connection away says why, and closes it without waiting for a request.
		_ = c.disconnect()
		return answer, nil
	case writeErr != nil:
		return nil, writeErr
	default:
		return nil, fmt.Errorf("no answer: %w", err)
	}
}
