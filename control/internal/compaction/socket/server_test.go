package socket_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/message"
	"sluice.dev/control/internal/compaction/socket"
	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
)

const patience = 2 * time.Minute

// elsewhere is a job whose end the test decides.
type elsewhere struct {
	done, cancelled chan struct{}
	cancel          func()
	result          compaction.Result
	failure         *compaction.Failure
}

func newElsewhere() *elsewhere {
	running := &elsewhere{done: make(chan struct{}), cancelled: make(chan struct{})}
	running.cancel = sync.OnceFunc(func() { close(running.cancelled) })
	return running
}

func (e *elsewhere) Node() string { return "db-2" }
func (e *elsewhere) Progress() compaction.Progress {
	return compaction.Progress{BytesRead: 2, BytesWritten: 1}
}
func (e *elsewhere) Done() <-chan struct{}                         { return e.done }
func (e *elsewhere) End() (compaction.Result, *compaction.Failure) { return e.result, e.failure }
func (e *elsewhere) Cancel()                                       { e.cancel() }

// plugin is a store's plug-in, connected to a server.
type plugin struct {
	t          *testing.T
	connection net.Conn
	reader     *bufio.Reader
	id         int
}

func serve(t *testing.T, place socket.Place) string {
	t.Helper()
	path := filepath.Join(referencetest.SocketDirectory(t), "compaction.sock")
	listener, err := localprotocol.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- socket.NewServer(place, slog.New(slog.DiscardHandler)).Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return path
}

func connect(t *testing.T, path string) *plugin {
	t.Helper()
	connection, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &plugin{t: t, connection: connection, reader: bufio.NewReader(connection)}
}

func placing(job *elsewhere) socket.Place {
	return func(context.Context, compaction.Job) (socket.Running, *compaction.Failure) { return job, nil }
}

func (p *plugin) sendLine(line string) {
	p.t.Helper()
	if _, err := p.connection.Write([]byte(line + "\n")); err != nil {
		p.t.Fatal(err)
	}
}

// receive gives the members of the next answer.
func (p *plugin) receive() map[string]json.RawMessage {
	p.t.Helper()
	line, err := p.reader.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	if err := localprotocol.Validate("response", line); err != nil {
		p.t.Errorf("%s: %v", line, err)
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(line, &answer); err != nil {
		p.t.Fatal(err)
	}
	return answer
}

func (p *plugin) call(method string, params any) map[string]json.RawMessage {
	p.t.Helper()
	p.id++
	text, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sendLine(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.id, method, text))
	answer := p.receive()
	if id := string(answer["id"]); id != fmt.Sprint(p.id) {
		p.t.Errorf("the answer has the id %s, not %d", id, p.id)
	}
	return answer
}

func (p *plugin) run() message.RunResult {
	p.t.Helper()
	return result[message.RunResult](p, p.call("run", message.RunParams{ProtocolVersion: message.CurrentVersion(), Job: job()}))
}

func (p *plugin) wait() message.WaitResult {
	p.t.Helper()
	return result[message.WaitResult](p, p.call("wait", struct{}{}))
}

func result[T any](p *plugin, answer map[string]json.RawMessage) T {
	p.t.Helper()
	var read T
	if err := json.Unmarshal(answer["result"], &read); err != nil {
		p.t.Fatalf("%s: %v", answer["error"], err)
	}
	return read
}

func job() compaction.Job {
	return compaction.Job{
		ID: "a-1", DatabasePath: "/srv/db", OutputPath: "/srv/db/.sluice-compaction-a-1",
		RocksDB: compaction.Version{Major: 11, Minor: 8}, PluginVersion: "1.0.0", ColumnFamily: "default", Input: []byte("input"),
		DataPaths: []string{}, Objects: []compaction.Object{},
	}
}

func TestJobThatIsDoneElsewhere(t *testing.T) {
	running := newElsewhere()
	p := connect(t, serve(t, placing(running)))
	if placed := p.run(); placed.Placement != message.Remote || placed.Node != "db-2" {
		t.Errorf("%+v", placed)
	}
	// Answered after a heartbeat, though nothing has ended.
	if now := p.wait(); now.State != message.Running || *now.Progress != running.Progress() {
		t.Errorf("%+v", now)
	}
	running.result = compaction.Result{Blob: []byte("result")}
	close(running.done)
	if now := p.wait(); now.State != message.Done || string(now.Result) != "result" || now.Node != "db-2" {
		t.Errorf("%+v", now)
	}
	// The connection is free for the next one.
	if code := errorCode(t, p.call("wait", struct{}{})); code != -32004 {
		t.Errorf("wait without a job: error %d", code)
	}
}

func TestOneConnectionForOneJobAfterAnother(t *testing.T) {
	count := 0
	p := connect(t, serve(t, func(context.Context, compaction.Job) (socket.Running, *compaction.Failure) {
		count++
		running := newElsewhere()
		running.result = compaction.Result{Blob: fmt.Append(nil, count)}
		close(running.done)
		return running, nil
	}))
	for _, want := range []string{"1", "2", "3"} {
		p.run()
		if now := p.wait(); string(now.Result) != want {
			t.Errorf("result %s, want %s", now.Result, want)
		}
	}
}

func TestJobThatStays(t *testing.T) {
	p := connect(t, serve(t, func(context.Context, compaction.Job) (socket.Running, *compaction.Failure) {
		return nil, compaction.Failuref(compaction.Busy, "all slots are taken")
	}))
	placed := p.run()
	if placed.Placement != message.Local || placed.Reason != compaction.Busy || *placed.Detail != "all slots are taken" {
		t.Errorf("%+v", placed)
	}
}

func TestJobThatFails(t *testing.T) {
	running := newElsewhere()
	running.failure = compaction.Failuref(compaction.WorkerLost, "")
	close(running.done)
	p := connect(t, serve(t, placing(running)))
	p.run()
	if now := p.wait(); now.State != message.Local || now.Reason != compaction.WorkerLost || now.Detail == nil || now.Result != nil {
		t.Errorf("%+v", now)
	}
}

func TestClosedConnectionCancels(t *testing.T) {
	for name, end := range map[string]func(*plugin){
		"closed":             func(p *plugin) { p.connection.Close() },
		"half closed":        func(p *plugin) { _ = p.connection.(*net.UnixConn).CloseWrite() },
		"closed in its wait": func(p *plugin) { p.sendLine(`{"jsonrpc":"2.0","id":9,"method":"wait"}`); p.connection.Close() },
		"line too long":      func(p *plugin) { p.sendLine(strings.Repeat("x", message.MaxLineBytes+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			running := newElsewhere()
			p := connect(t, serve(t, placing(running)))
			p.run()
			end(p)
			await(t, running.cancelled)
		})
	}
}

func await(t *testing.T, what <-chan struct{}) {
	t.Helper()
	select {
	case <-what:
	case <-time.After(patience):
		t.Fatal("it does not happen")
	}
}

// A store that hangs must not keep a slot of a peer, nor a descriptor; when it goes on it learns that at once.
func TestStoreThatDoesNotAskCancels(t *testing.T) {
	running := newElsewhere()
	p := connect(t, serve(t, placing(running)))
	p.run()
	await(t, running.cancelled)
	if _, err := p.reader.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("its connection is not closed: %v", err)
	}
}

func TestEndOfTheServerCancels(t *testing.T) {
	running := newElsewhere()
	t.Run("server", func(t *testing.T) { connect(t, serve(t, placing(running))).run() })
	await(t, running.cancelled)
}

// The way to a peer is given up when the store no longer wants its job.
func TestPlacingEndsWithItsConnection(t *testing.T) {
	placing, cancelled := make(chan struct{}), make(chan struct{})
	p := connect(t, serve(t, func(ctx context.Context, _ compaction.Job) (socket.Running, *compaction.Failure) {
		close(placing)
		<-ctx.Done()
		close(cancelled)
		return nil, compaction.Failuref(compaction.Cancelled, "")
	}))
	text, err := json.Marshal(message.RunParams{ProtocolVersion: message.CurrentVersion(), Job: job()})
	if err != nil {
		t.Fatal(err)
	}
	p.sendLine(`{"jsonrpc":"2.0","id":1,"method":"run","params":` + string(text) + `}`)
	await(t, placing)
	p.connection.Close()
	await(t, cancelled)
}

func errorCode(t *testing.T, answer map[string]json.RawMessage) int {
	t.Helper()
	var failure struct{ Code int }
	if err := json.Unmarshal(answer["error"], &failure); err != nil {
		t.Fatalf("no error in %v", answer)
	}
	return failure.Code
}

func TestRequestsThatAreRefused(t *testing.T) {
	good, err := json.Marshal(message.RunParams{ProtocolVersion: message.CurrentVersion(), Job: job()})
	if err != nil {
		t.Fatal(err)
	}
	run := `{"jsonrpc":"2.0","id":1,"method":"run","params":` + string(good) + `}`
	for name, test := range map[string]struct {
		line string
		want int
	}{
		"no JSON":         {"{", -32700},
		"batch":           {"[" + run + "]", -32600},
		"notification":    {strings.Replace(run, `"id":1,`, "", 1), -32600},
		"no method":       {strings.Replace(run, `"run"`, `"stop"`, 1), -32601},
		"no params":       {`{"jsonrpc":"2.0","id":1,"method":"run"}`, -32602},
		"bad job":         {strings.Replace(run, `"a-1"`, `"/"`, 1), -32602},
		"another version": {strings.Replace(run, `"major":1`, `"major":2`, 1), -32007},
		"no job":          {`{"jsonrpc":"2.0","id":1,"method":"wait"}`, -32004},
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, serve(t, func(context.Context, compaction.Job) (socket.Running, *compaction.Failure) {
				t.Error("a job was placed")
				return nil, compaction.Failuref(compaction.NoPeer, "")
			}))
			for range 2 { // The connection goes on.
				p.sendLine(test.line)
				if code := errorCode(t, p.receive()); code != test.want {
					t.Errorf("error %d, want %d", code, test.want)
				}
			}
		})
	}
}

func TestSecondJobOfAConnection(t *testing.T) {
	p := connect(t, serve(t, placing(newElsewhere())))
	p.run()
	answer := p.call("run", message.RunParams{ProtocolVersion: message.CurrentVersion(), Job: job()})
	if code := errorCode(t, answer); code != -32002 {
		t.Errorf("error %d", code)
	}
}

func TestTooManyConnections(t *testing.T) {
	path := serve(t, placing(newElsewhere()))
	for range 256 {
		// Answered, so that it counts.
		if code := errorCode(t, connect(t, path).call("none", struct{}{})); code != -32601 {
			t.Fatalf("error %d", code)
		}
	}
	if code := errorCode(t, connect(t, path).receive()); code != -32005 {
		t.Errorf("error %d", code)
	}
}

// FuzzSocket sends bytes to a server. Whatever they are, it answers each line, and the next client.
func FuzzSocket(f *testing.F) {
	good, err := json.Marshal(message.RunParams{ProtocolVersion: message.CurrentVersion(), Job: job()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"run","params":` + string(good) + "}\n" + `{"jsonrpc":"2.0","id":2,"method":"wait"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"wait","params":{}}`))
	f.Add([]byte("\n\n[]"))
	running := newElsewhere()
	running.failure = compaction.Failuref(compaction.Failed, "")
	close(running.done)
	server := socket.NewServer(placing(running), slog.New(slog.DiscardHandler))
	f.Fuzz(func(t *testing.T, text []byte) {
		client, agent := net.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx, &oneConnection{connection: agent, ctx: ctx}) }()
		go func() { _, _ = client.Write(append(text, '\n')) }()
		reader := bufio.NewReader(client)
		for range bytes.Count(text, []byte("\n")) + 1 {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			if err := localprotocol.Validate("response", line); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		client.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// oneConnection is a listener with one connection.
type oneConnection struct {
	connection net.Conn
	ctx        context.Context
}

func (l *oneConnection) Accept() (net.Conn, error) {
	if connection := l.connection; connection != nil {
		l.connection = nil
		return connection, nil
	}
	<-l.ctx.Done()
	return nil, net.ErrClosed
}

func (l *oneConnection) Close() error   { return nil }
func (l *oneConnection) Addr() net.Addr { return &net.UnixAddr{} }
