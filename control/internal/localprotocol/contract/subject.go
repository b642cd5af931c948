package contract

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/store"
)

// DefaultPatience is how long an answer may take on a machine that has not much else to do; it should take a millisecond.
const DefaultPatience = 5 * time.Second

// subject is the plug-in that is examined.
type subject struct {
	socketPath string
	// patience is how long an answer may take.
	patience time.Duration
	// description is set by the check that comes first.
	description description
}

// The messages below are written out again, apart from those of the implementation that this package
// examines: a mistake there must not hide the same one here.

type description struct {
	ProtocolVersion struct {
		Major int `json:"major"`
		Minor int `json:"minor"`
	} `json:"protocol_version"`
	Store                string       `json:"store"`
	Instance             string       `json:"instance"`
	Capabilities         []capability `json:"capabilities"`
	MaxTimeToLiveSeconds float64      `json:"max_time_to_live_seconds"`
}

type capability struct {
	Kind     store.Kind          `json:"kind"`
	Settings []store.SettingName `json:"settings"`
	CanStart bool                `json:"can_start"`
	Variants []string            `json:"variants"`
	CanAbort bool                `json:"can_abort"`
}

type task struct {
	ID    string      `json:"id"`
	Kind  store.Kind  `json:"kind"`
	State store.State `json:"state"`
}

type lease struct {
	Kind            store.Kind     `json:"kind"`
	Scope           string         `json:"scope"`
	Setting         map[string]any `json:"setting"`
	Owner           string         `json:"owner"`
	TimeLeftSeconds float64        `json:"time_left_seconds"`
}

type latency struct {
	Class string `json:"class"`
}

// members are the members of a JSON object.
type members map[string]any

// answer is what came back: a result or a failure.
type answer struct {
	id      json.RawMessage
	result  json.RawMessage
	failure *localprotocol.Error
}

// connection is a connection on which anything can be sent.
type connection struct {
	*net.UnixConn
	reader   *bufio.Reader
	patience time.Duration
}

// dial makes a connection, which lasts as long as its next answer may take.
func (s *subject) dial(ctx context.Context) (*connection, error) {
	dialer := net.Dialer{Timeout: s.patience}
	dialed, err := dialer.DialContext(ctx, "unix", s.socketPath)
	if err != nil {
		return nil, err
	}
	unix, isUnix := dialed.(*net.UnixConn)
	if !isUnix {
		return nil, errors.Join(fmt.Errorf("%s is not a Unix socket", s.socketPath), dialed.Close())
	}
	made := &connection{unix, bufio.NewReader(unix), s.patience}
	if err := made.wait(); err != nil {
		return nil, errors.Join(err, unix.Close())
	}
	return made, nil
}

// wait has the time for what comes next begin.
func (c *connection) wait() error {
	return c.SetDeadline(time.Now().Add(c.patience))
}

// receive reads one answer and makes sure of its form.
func (c *connection) receive() (answer, error) {
	if err := c.wait(); err != nil {
		return answer{}, err
	}
	line, err := localprotocol.ReadLine(c.reader)
	switch {
	case errors.Is(err, io.EOF):
		return answer{}, errors.New("the connection was closed instead of an answer")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return answer{}, fmt.Errorf("there was no answer within %v: %w", c.patience, err)
	case err != nil:
		return answer{}, fmt.Errorf("there was no answer: %w", err)
	}
	if err := localprotocol.Validate("response", line); err != nil {
		return answer{}, fmt.Errorf("the answer %.200q does not match proto/local/response.schema.json: %w", line, err)
	}
	var read struct {
		ID     json.RawMessage      `json:"id"`
		Result json.RawMessage      `json:"result"`
		Error  *localprotocol.Error `json:"error"`
	}
	if err := json.Unmarshal(line, &read); err != nil {
		return answer{}, err
	}
	failure := read.Error
	if failure != nil && failure.Data != nil && failure.Data.Code != failure.Number.Code() {
		return answer{}, fmt.Errorf("the error has the code %d but the word %q, not %q",
			failure.Number, failure.Data.Code, failure.Number.Code())
	}
	return answer{read.ID, read.Result, failure}, nil
}

// sendLine sends one line on a connection of its own and returns the answer.
func (s *subject) sendLine(ctx context.Context, line []byte) (answer, error) {
	connection, err := s.dial(ctx)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = connection.Close() }()
	if _, err := connection.Write(append(line, '\n')); err != nil {
		return answer{}, err
	}
	return connection.receive()
}

// request makes the line of a request.
func request(id any, method string, params any) ([]byte, error) {
	return json.Marshal(members{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

// call sends one request on a connection of its own.
func (s *subject) call(ctx context.Context, method string, params any) (answer, error) {
	const id = "7"
	line, err := request(json.RawMessage(id), method, params)
	if err != nil {
		return answer{}, err
	}
	got, err := s.sendLine(ctx, line)
	if err == nil && !bytes.Equal(got.id, []byte(id)) {
		return answer{}, fmt.Errorf("the answer to %s has the id %s, not %s", method, got.id, id)
	}
	return got, err
}

// callAccepted sends a request that must be accepted, and reads its result.
func (s *subject) callAccepted(ctx context.Context, method string, params, result any) error {
	got, err := s.call(ctx, method, params)
	if err != nil {
		return err
	}
	if err := accepted(got, method); err != nil {
		return err
	}
	return json.Unmarshal(got.result, result)
}

// callRefused sends a request that must be refused.
func (s *subject) callRefused(ctx context.Context, method string, params any, numbers ...localprotocol.Number) error {
	got, err := s.call(ctx, method, params)
	if err != nil {
		return err
	}
	return refused(got, numbers...)
}

func (s *subject) set(ctx context.Context, order members) (lease, error) {
	var result struct {
		Lease lease `json:"lease"`
	}
	err := s.callAccepted(ctx, "set", order, &result)
	return result.Lease, err
}

func (s *subject) clear(ctx context.Context, params members) (int, error) {
	var result struct {
		Cleared int `json:"cleared"`
	}
	err := s.callAccepted(ctx, "clear", params, &result)
	return result.Cleared, err
}

// clearAll ends what the checks have given, if the plug-in still does anything.
func (s *subject) clearAll(ctx context.Context) {
	for _, owner := range []string{firstOwner, secondOwner} {
		_, _ = s.clear(ctx, members{"owner": owner})
	}
}

// leases returns those that the checks have given: others may come and go.
func (s *subject) leases(ctx context.Context) ([]lease, error) {
	var snapshot struct {
		Leases []lease `json:"leases"`
	}
	if err := s.callAccepted(ctx, "snapshot", members{}, &snapshot); err != nil {
		return nil, err
	}
	var own []lease
	for _, each := range snapshot.Leases {
		if each.Owner == firstOwner || each.Owner == secondOwner {
			own = append(own, each)
		}
	}
	return own, nil
}
