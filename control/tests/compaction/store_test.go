package compaction

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/message"
)

// patience is how long an answer may take on a loaded machine. Stores have less: see docs/remote-compaction.md.
const patience = 2 * time.Minute

// store is a plug-in with a connection for one job.
type store struct {
	t          *testing.T
	connection net.Conn
	reader     *bufio.Reader
	id         int
	// answered is when the last call was.
	answered time.Time
}

func connect(t *testing.T, socket string) (*store, error) {
	connection, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { connection.Close() })
	return &store{t: t, connection: connection, reader: bufio.NewReaderSize(connection, message.MaxLineBytes)}, nil
}

func mustConnect(t *testing.T, socket string) *store {
	t.Helper()
	s, err := connect(t, socket)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// call gives an error only where the connection is lost.
func (s *store) call(method string, params, result any) error {
	s.t.Helper()
	s.id++
	if err := s.connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.connection.Write(append(line, '\n')); err != nil {
		return err
	}
	answer, err := s.reader.ReadBytes('\n')
	if err != nil {
		return err
	}
	s.answered = time.Now()
	var response struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(answer, &response); err != nil || response.Error != nil {
		s.t.Fatalf("%s: %s, %v", method, answer, err)
	}
	if err := json.Unmarshal(response.Result, result); err != nil {
		s.t.Fatal(err)
	}
	return nil
}

func (s *store) run(job compaction.Job) message.RunResult {
	s.t.Helper()
	job.DataPaths, job.Objects = []string{}, []compaction.Object{}
	var placed message.RunResult
	if err := s.call(message.MethodRun, message.RunParams{ProtocolVersion: message.CurrentVersion(), Job: job}, &placed); err != nil {
		s.t.Fatal(err)
	}
	return placed
}

// end is what has become of a job: a result, or why there is none. A connection that is lost is "no-agent".
type end struct {
	result string
	reason compaction.Reason
	detail string
}

func (e end) err() error {
	if e.reason == "" {
		return nil
	}
	return fmt.Errorf("%s: %s", e.reason, e.detail)
}

// wait asks until the job has ended.
func (s *store) wait() end {
	s.t.Helper()
	for {
		var now message.WaitResult
		if err := s.call(message.MethodWait, struct{}{}, &now); err != nil {
			return end{reason: "no-agent", detail: err.Error()}
		}
		switch now.State {
		case message.Done:
			return end{result: string(now.Result)}
		case message.Local:
			return end{reason: now.Reason, detail: *now.Detail}
		}
	}
}

// keep asks for a job that goes on once in a while, as plug-ins do: one that nobody asks for is cancelled.
func (s *store) keep() {
	s.t.Helper()
	if time.Since(s.answered) < compaction.Heartbeat {
		return
	}
	var now message.WaitResult
	if err := s.call(message.MethodWait, struct{}{}, &now); err != nil || now.State != message.Running {
		s.t.Fatalf("the job has ended: %v, %s %s", err, now.State, now.Reason)
	}
}

func (s *store) expect(reason compaction.Reason) {
	s.t.Helper()
	if ended := s.wait(); ended.reason != reason {
		s.t.Errorf("the job has ended with %+v, want %s", ended, reason)
	}
}
