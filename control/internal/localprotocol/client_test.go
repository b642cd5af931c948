package localprotocol_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/store"
)

func newClient(t *testing.T, socketPath string) *localprotocol.Client {
	t.Helper()
	client := localprotocol.NewClient(socketPath)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestClientAndServer(t *testing.T) {
	client := newClient(t, serve(t, newReference(t)))
	description, err := client.Describe(t.Context())
	if err != nil || description.Store != "reference" || description.MaxTimeToLive != 10*time.Minute {
		t.Fatalf("describe: %+v, %v", description, err)
	}
	order := store.Order{
		Kind: store.Compaction, Scope: "orders", Owner: "test", TimeToLive: time.Minute,
		Setting: store.Setting{Name: store.RateBytesPerSecond, Number: 1e6},
	}
	lease, err := client.Set(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	if want := (store.Lease{Kind: order.Kind, Scope: order.Scope, Setting: order.Setting, Owner: "test", TimeLeft: time.Minute}); lease != want {
		t.Errorf("the lease is %+v, not %+v", lease, want)
	}
	snapshot, err := client.Snapshot(t.Context())
	if err != nil || len(snapshot.Leases) != 1 || snapshot.Leases[0] != lease {
		t.Errorf("snapshot: %+v, %v", snapshot.Leases, err)
	}
	if err := client.Start(t.Context(), store.Order{Kind: store.Compaction, Owner: "test", TimeToLive: time.Minute}); store.CodeOf(storeError(err)) != store.CodeRefused {
		t.Errorf("a start with nothing to do: %v", err)
	}
	if cleared, err := client.Clear(t.Context(), store.Selection{Owner: "test"}); cleared != 1 || err != nil {
		t.Errorf("cleared %d, %v", cleared, err)
	}
}

// storeError is what a plug-in answered, in the vocabulary of drivers; nil if it did not answer.
func storeError(err error) error {
	var answered *localprotocol.Error
	if errors.As(err, &answered) {
		return answered.StoreError()
	}
	return nil
}

// peer answers each line of each connection in its own way, and ends the connection after an empty
// answer.
func peer(t *testing.T, respond func(connection, line int) string) string {
	t.Helper()
	socketPath := filepath.Join(referencetest.SocketDirectory(t), "main.sock")
	listener, err := net.Listen("unix", socketPath)
	if err != nil {
		t.Fatal(err)
	}
	var connections sync.WaitGroup
	t.Cleanup(connections.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	connections.Go(func() {
		for number := 0; ; number++ {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { talk(connection, number, respond) })
		}
	})
	return socketPath
}

func talk(connection net.Conn, number int, respond func(connection, line int) string) {
	defer func() { _ = connection.Close() }()
	reader := bufio.NewReader(connection)
	for line := 0; ; line++ {
		if _, err := localprotocol.ReadLine(reader); err != nil {
			return
		}
		answer := respond(number, line)
		if answer == "" {
			return
		}
		if _, err := io.WriteString(connection, answer+"\n"); err != nil {
			return
		}
	}
}

const (
	described     = `"result":{"protocol_version":{"major":1,"minor":7},"store":"s","instance":"i","store_version":"1","plugin_version":"1","capabilities":[],"max_time_to_live_seconds":60,"new":true}}`
	emptySnapshot = `"result":{"tasks":[],"debts":[],"leases":[],"latencies":[],"figures":{},"new":[]}}`
)

func TestClientRefusesWrongAnswers(t *testing.T) {
	tests := []struct {
		name, describe, snapshot string
		message                  string
	}{
		{"newer minor version", `{"jsonrpc":"2.0","id":1,` + described, `{"jsonrpc":"2.0","id":2,` + emptySnapshot, ""},
		{"another major version", `{"jsonrpc":"2.0","id":1,"result":{"protocol_version":{"major":2,"minor":1}}}`, "", "plug-in speaks version 2.1 of the local protocol, its client version 1.3"},
		{"refusal of this version", `{"jsonrpc":"2.0","id":1,"error":{"code":-32007,"message":"0.9 and 1.0"}}`, "", "0.9 and 1.0"},
		{"no answer", "", "", "no answer"},
		{"no JSON", "hello", "", "no JSON-RPC response"},
		{"another id", `{"jsonrpc":"2.0","id":5,` + described, "", "has the id 5, not 1"},
		{"a result of another form", `{"jsonrpc":"2.0","id":1,` + described, `{"jsonrpc":"2.0","id":2,"result":{}}`, "does not keep to the protocol"},
		{"a number out of range", `{"jsonrpc":"2.0","id":1,` + described, `{"jsonrpc":"2.0","id":2,` + strings.Replace(emptySnapshot, `{},`, `{"a":1e999},`, 1), "1e999"},
		{"a line without end", `{"jsonrpc":"2.0","id":1,` + described, strings.Repeat(" ", localprotocol.MaxLineBytes+1), localprotocol.ErrLineTooLong.Error()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client := newClient(t, peer(t, func(_, line int) string {
				return []string{test.describe, test.snapshot}[line]
			}))
			_, err := client.Snapshot(t.Context())
			switch {
			case test.message == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.message != "" && (err == nil || !strings.Contains(err.Error(), test.message)):
				t.Errorf("the error is %v, without %q", err, test.message)
			}
		})
	}
}

func TestClientStartsVariantsAndAborts(t *testing.T) {
	client := newClient(t, serve(t, referenceOfAge(t, time.Second)))
	order := store.Order{
		Kind: store.Compaction, Scope: "orders", Owner: "test", TimeToLive: time.Minute,
		Setting: store.Setting{Name: store.Hold}, Variant: store.Major,
	}
	if err := client.Start(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	snapshot, err := client.Snapshot(t.Context())
	if err != nil || len(snapshot.Tasks) != 1 || snapshot.Tasks[0].Phase != "major" {
		t.Fatalf("snapshot: %+v, %v", snapshot.Tasks, err)
	}
	abortion := store.Abortion{Kind: store.Compaction, Task: snapshot.Tasks[0].ID, Owner: "test"}
	if err := client.Abort(t.Context(), abortion); err != nil {
		t.Fatal(err)
	}
	if err := client.Abort(t.Context(), abortion); store.CodeOf(storeError(err)) != store.CodeNotFound {
		t.Errorf("a second abort: %v", err)
	}
	order.Variant = "huge"
	if err := client.Start(t.Context(), order); store.CodeOf(storeError(err)) != store.CodeUnsupported {
		t.Errorf("a variant that is not offered: %v", err)
	}
}

// What a plug-in of version 1.0 does not know it is not sent, and the connection stays as it is.
func TestClientSparesAnOldPlugin(t *testing.T) {
	client := newClient(t, peer(t, func(connection, line int) string {
		return []string{
			`{"jsonrpc":"2.0","id":1,` + strings.Replace(described, `"minor":7`, `"minor":0`, 1),
			`{"jsonrpc":"2.0","id":2,` + emptySnapshot,
			`{"jsonrpc":"2.0","id":3,"result":{}}`,
		}[line+10*connection]
	}))
	order := store.Order{Kind: store.Compaction, Owner: "test", TimeToLive: time.Minute, Variant: store.Major}
	abortion := store.Abortion{Kind: store.Compaction, Task: "c-1", Owner: "test"}
	for what, err := range map[string]error{
		"a variant": client.Start(t.Context(), order), "an abort": client.Abort(t.Context(), abortion),
	} {
		if store.CodeOf(storeError(err)) != store.CodeUnsupported || !strings.Contains(err.Error(), "needs version 1.1") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := client.Snapshot(t.Context()); err != nil {
		t.Errorf("a snapshot: %v", err)
	}
	order.Variant = ""
	if err := client.Start(t.Context(), order); err != nil {
		t.Errorf("a start without a variant: %v", err)
	}
}

// After a failure the next call connects again; an error that was answered is no failure.
func TestClientConnectsAgain(t *testing.T) {
	var mu sync.Mutex
	var asked []int
	socketPath := peer(t, func(connection, line int) string {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, connection)
		switch {
		case line == 0:
			return `{"jsonrpc":"2.0","id":` + []string{"1", "4"}[connection] + `,` + described
		case connection == 0 && line == 1:
			return `{"jsonrpc":"2.0","id":2,"error":{"code":-32003,"message":"no"}}`
		case connection == 0:
			return ""
		default:
			return `{"jsonrpc":"2.0","id":5,` + emptySnapshot
		}
	})
	client := newClient(t, socketPath)
	if _, err := client.Snapshot(t.Context()); store.CodeOf(storeError(err)) != store.CodeRefused {
		t.Errorf("the first call: %v", err)
	}
	if _, err := client.Snapshot(t.Context()); err == nil || storeError(err) != nil {
		t.Errorf("the second call: %v", err)
	}
	if _, err := client.Snapshot(t.Context()); err != nil {
		t.Errorf("the third call: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := []int{0, 0, 0, 1, 1}
	if len(asked) != len(want) || asked[2] != 0 || asked[3] != 1 {
		t.Errorf("the connections that were asked are %v, not %v", asked, want)
	}
}

// A plug-in that does not answer holds a call up until its context ends, and so those that wait for
// their turn.
func TestClientEndsWithItsContext(t *testing.T) {
	asked, release := make(chan struct{}, 1), make(chan struct{})
	client := newClient(t, peer(t, func(int, int) string {
		asked <- struct{}{}
		<-release
		return ""
	}))
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := client.Snapshot(ctx)
		first <- err
	}()
	<-asked
	// The first call has its turn now.
	expired, cancelExpired := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancelExpired()
	if _, err := client.Snapshot(expired); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call that waited for its turn: %v", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the call in progress: %v", err)
	}
}

func TestClosedClient(t *testing.T) {
	client := localprotocol.NewClient(serve(t, newReference(t)))
	if _, err := client.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := client.Snapshot(t.Context()); !errors.Is(err, localprotocol.ErrClosed) {
		t.Errorf("the error is %v", err)
	}
}
