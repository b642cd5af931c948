package localprotocol_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/accept/accepttest"
	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/store"
)

// serve runs a server until the test ends, and returns the path of its socket.
func serve(t testing.TB, handler localprotocol.Handler) string {
	t.Helper()
	socketPath := filepath.Join(referencetest.SocketDirectory(t), "main.sock")
	listener, err := localprotocol.Listen(t.Context(), socketPath)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := localprotocol.NewServer(handler, slog.New(slog.DiscardHandler))
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return socketPath
}

// newReference makes a reference store whose time stands still.
func newReference(t testing.TB) *reference.Store {
	t.Helper()
	return referenceOfAge(t, 0)
}

// referenceOfAge is a store that stands still when so much time has passed since its start.
func referenceOfAge(t testing.TB, age time.Duration) *reference.Store {
	t.Helper()
	now := time.Now()
	made, err := reference.New(reference.DefaultConfig(), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(age)
	return made
}

// exchange sends lines on one connection and returns as many answers as come before it ends.
func exchange(t *testing.T, socketPath, lines string) []string {
	t.Helper()
	connection, err := net.Dial("unix", socketPath)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(connection, lines)
		_ = connection.(*net.UnixConn).CloseWrite()
	}()
	var answers []string
	scanner := bufio.NewScanner(connection)
	scanner.Buffer(nil, localprotocol.MaxLineBytes+1)
	for scanner.Scan() {
		if err := localprotocol.Validate("response", scanner.Bytes()); err != nil {
			t.Errorf("%s: %v", scanner.Bytes(), err)
		}
		answers = append(answers, scanner.Text())
	}
	return answers
}

func TestServerAnswersBeforeItCloses(t *testing.T) {
	answers := exchange(t, serve(t, newReference(t)), strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"snapshot"}`,
		`nothing`,
		`{"jsonrpc":"2.0","id":"b","method":"describe","params":{"protocol_version":{"major":1,"minor":0}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"snapshot"}`, // without a newline
	}, "\n"))
	want := []string{`"id":1,"result"`, `"id":null,"error":{"code":-32700`, `"id":"b","result"`}
	if len(answers) != len(want) {
		t.Fatalf("%d answers, not %d: %q", len(answers), len(want), answers)
	}
	for i, part := range want {
		if !strings.Contains(answers[i], part) {
			t.Errorf("answer %d is %s, without %s", i, answers[i], part)
		}
	}
}

// failing is a store of which every call fails, or returns what cannot be sent.
type failing struct {
	*reference.Store
	err      error
	snapshot store.Snapshot
}

func (f failing) Snapshot(context.Context) (store.Snapshot, error) {
	return f.snapshot, f.err
}

func TestServerSendsFailures(t *testing.T) {
	endless := store.Snapshot{Tasks: make([]store.Task, 10000)}
	notANumber := store.Snapshot{Figures: map[string]float64{"zero_per_zero": zero() / zero()}}
	tests := []struct {
		name     string
		err      error
		snapshot store.Snapshot
		want     string
	}{
		{"with code and hint", store.Errorf(store.CodeRefused, "no").WithHint("later"), store.Snapshot{},
			`"error":{"code":-32003,"message":"no","data":{"code":"refused","hint":"later"}}`},
		{"of another type", errors.New("broken"), store.Snapshot{}, `"error":{"code":-32603,"message":"broken"`},
		{"with a long message", errors.New(strings.Repeat("µ", 1<<20)), store.Snapshot{}, `µ...","data"`},
		{"too long a result", nil, endless, `"error":{"code":-32603,"message":"the result takes`},
		{"a result that JSON does not have", nil, notANumber, `"error":{"code":-32603,"message":"the result cannot be sent`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			socketPath := serve(t, failing{newReference(t), test.err, test.snapshot})
			answers := exchange(t, socketPath, `{"jsonrpc":"2.0","id":7,"method":"snapshot"}`+"\n")
			if len(answers) != 1 || !strings.Contains(answers[0], `"id":7,`) || !strings.Contains(answers[0], test.want) {
				t.Errorf("the answer is %.300q, without %s", answers, test.want)
			}
		})
	}
}

func zero() float64 {
	return 0
}

func TestServerRefusesTooManyConnections(t *testing.T) {
	socketPath := serve(t, newReference(t))
	refusals := 0
	for range 70 {
		connection, err := net.Dial("unix", socketPath)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close() }()
		if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		// Those that are refused are closed, and may be so before this is sent.
		_, _ = io.WriteString(connection, `{"jsonrpc":"2.0","id":1,"method":"snapshot"}`+"\n")
		line, err := localprotocol.ReadLine(bufio.NewReader(connection))
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Error *localprotocol.Error }
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Error != nil && answer.Error.Number == localprotocol.NumberUnavailable {
			refusals++
		}
	}
	if refusals != 70-64 {
		t.Errorf("of 70 connections %d were refused, not 6", refusals)
	}
}

// A server whose listener fails says so, and does not leave connections behind.
func TestServerEndsWithItsListener(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(referencetest.SocketDirectory(t), "main.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	server := localprotocol.NewServer(newReference(t), slog.New(slog.DiscardHandler))
	if err := server.Serve(t.Context(), listener); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the error is %v", err)
	}
}

// A process that has too many open files for a moment is no reason to end.
func TestServerGoesOnAfterTooManyOpenFiles(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	listener := &accepttest.Listener{Failures: 2, Connections: make(chan net.Conn, 1)}
	near, far := net.Pipe()
	listener.Connections <- near
	ended := make(chan error, 1)
	server := localprotocol.NewServer(newReference(t), slog.New(slog.DiscardHandler))
	go func() { ended <- server.Serve(ctx, listener) }()
	if err := far.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, writeErr := io.WriteString(far, `{"jsonrpc":"2.0","id":1,"method":"snapshot"}`+"\n")
	answer, readErr := bufio.NewReader(far).ReadString('\n')
	if err := errors.Join(writeErr, readErr); err != nil || !strings.Contains(answer, `"id":1,"result"`) {
		t.Errorf("the answer is %q: %v", answer, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// What a snapshot costs both sides; the agent's share of it is paid once a second for each store.
func BenchmarkSnapshot(b *testing.B) {
	client := localprotocol.NewClient(serve(b, newReference(b)))
	defer func() { _ = client.Close() }()
	for b.Loop() {
		if _, err := client.Snapshot(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
