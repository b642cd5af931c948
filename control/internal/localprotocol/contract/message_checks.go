package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"sluice.dev/control/internal/localprotocol"
)

func messageChecks() []check {
	return []check{
		{"malformed-json", "Answer a line that is not JSON in UTF-8 with -32700 and the id null, and go on with the next line.", checkMalformed},
		{"invalid-request", "Answer with -32600 what is JSON but no request: batches, no object, no id or an id of another type, no method, another version of JSON-RPC.", checkInvalidRequest},
		{"unknown-method", "Answer a method that there is not with -32601.", checkUnknownMethod},
		{"id-echo", "Repeat the id of the request in the answer: whole numbers up to 2^53-1 and texts of up to 64 characters.", checkIDEcho},
		{"longest-line", "Read lines of up to 1 MiB (1,048,576 bytes without the newline).", checkLongestLine},
		{"oversized-line", "Answer a longer line with -32600 and the id null and close that connection; do not read it into memory to its end.", checkOversizedLine},
	}
}

const snapshotLine = `{"jsonrpc":"2.0","id":1,"method":"snapshot","params":{}}`

func checkMalformed(ctx context.Context, s *subject) error {
	lines := []string{
		"", "hello", "{", `{"jsonrpc":"2.0","id":1,`, `{"jsonrpc":"2.0","id":1,"method":"snapshot","params":{}`,
		snapshotLine + "}", snapshotLine + snapshotLine, `{'jsonrpc':'2.0'}`,
		`{"jsonrpc":"2.0","id":1,"method":"snapshot","params":{"x":NaN}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"snapshot\"}",
		strings.Repeat("[", 100000),
	}
	connection, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	for _, line := range lines {
		if err := connection.exchangeRefused(line, localprotocol.NumberParse); err != nil {
			return fmt.Errorf("line %.60q: %w", line, err)
		}
	}
	return connection.exchangeAccepted(snapshotLine)
}

func checkInvalidRequest(ctx context.Context, s *subject) error {
	lines := []string{
		"[]", "[" + snapshotLine + "]", "7", `"snapshot"`, "null", "{}",
		`{"jsonrpc":"2.0","method":"snapshot","params":{}}`,
		`{"jsonrpc":"2.0","id":null,"method":"snapshot","params":{}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"snapshot","params":{}}`,
		`{"jsonrpc":"2.0","id":-1,"method":"snapshot","params":{}}`,
		`{"jsonrpc":"2.0","id":{},"method":"snapshot","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":7,"params":{}}`,
		`{"jsonrpc":"1.0","id":1,"method":"snapshot","params":{}}`,
		`{"id":1,"method":"snapshot","params":{}}`,
	}
	connection, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	for _, line := range lines {
		if err := connection.exchangeRefused(line, localprotocol.NumberRequest); err != nil {
			return fmt.Errorf("line %.80q: %w", line, err)
		}
	}
	return connection.exchangeAccepted(snapshotLine)
}

// exchangeRefused sends a line that must be refused. Of a line that cannot be read the id is null.
func (c *connection) exchangeRefused(line string, number localprotocol.Number) error {
	got, err := c.exchange(line)
	if err != nil {
		return err
	}
	if err := refused(got, number); err != nil {
		return err
	}
	if number == localprotocol.NumberParse && !bytes.Equal(got.id, []byte("null")) {
		return fmt.Errorf("the id of the answer is %s, not null", got.id)
	}
	return nil
}

func (c *connection) exchangeAccepted(line string) error {
	got, err := c.exchange(line)
	if err != nil {
		return fmt.Errorf("a good request on the same connection: %w", err)
	}
	return accepted(got, "snapshot")
}

func (c *connection) exchange(line string) (answer, error) {
	// Since it was dialed others may have been waited for.
	if err := c.wait(); err != nil {
		return answer{}, err
	}
	if _, err := c.Write([]byte(line + "\n")); err != nil {
		return answer{}, err
	}
	return c.receive()
}

func checkUnknownMethod(ctx context.Context, s *subject) error {
	for _, method := range []string{"", "explode", "Snapshot", "snapshot ", "rpc.discover"} {
		if err := s.callRefused(ctx, method, members{}, localprotocol.NumberMethodNotFound); err != nil {
			return fmt.Errorf("method %q: %w", method, err)
		}
	}
	return nil
}

func checkIDEcho(ctx context.Context, s *subject) error {
	ids := []any{0, 1, 1<<53 - 1, "", "a", "µ \" \\ \n", strings.Repeat("z", 64)}
	for _, id := range ids {
		line, err := request(id, "snapshot", members{})
		if err != nil {
			return err
		}
		got, err := s.sendLine(ctx, line)
		if err != nil {
			return fmt.Errorf("id %v: %w", id, err)
		}
		if err := sameJSON(got.id, id); err != nil {
			return err
		}
	}
	return nil
}

// sameJSON compares values, however they are written.
func sameJSON(got json.RawMessage, want any) error {
	wanted, err := json.Marshal(want)
	if err != nil {
		return err
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(got, &a), json.Unmarshal(wanted, &b)); err != nil {
		return err
	}
	if a != b {
		return fmt.Errorf("the request had the id %s, the answer has %s", wanted, got)
	}
	return nil
}

func checkLongestLine(ctx context.Context, s *subject) error {
	line := snapshotLine + strings.Repeat(" ", localprotocol.MaxLineBytes-len(snapshotLine))
	got, err := s.sendLine(ctx, []byte(line))
	if err != nil {
		return err
	}
	return accepted(got, "snapshot")
}

func checkOversizedLine(ctx context.Context, s *subject) error {
	connection, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	line := snapshotLine + strings.Repeat(" ", localprotocol.MaxLineBytes-len(snapshotLine)+1) + "\n"
	// The plug-in may have closed the connection before it has got everything.
	_, writeError := connection.Write([]byte(line + snapshotLine + "\n"))
	got, err := connection.receive()
	if err != nil {
		return errors.Join(err, writeError)
	}
	if err := refused(got, localprotocol.NumberRequest); err != nil {
		return err
	}
	if !bytes.Equal(got.id, []byte("null")) {
		return fmt.Errorf("the id of the answer is %s, not null", got.id)
	}
	if _, err := connection.receive(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("the connection was not closed")
	}
	var result json.RawMessage
	return s.callAccepted(ctx, "snapshot", members{}, &result)
}
