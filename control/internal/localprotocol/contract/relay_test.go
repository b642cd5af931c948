package contract_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
)

// relay stands between the checks and a reference store, and does one thing wrong.
type relay struct {
	// respond answers a line, mostly by passing it on; an empty answer ends the connection.
	respond func(line []byte, pass func([]byte) []byte) []byte
	// mode is that of the socket.
	mode os.FileMode
	// obeysUnfinished takes what comes without a newline for a line.
	obeysUnfinished bool
	// staysOpen does not close connections that clients have closed in their direction.
	staysOpen bool
	// oneAtATime serves connections one after the other.
	oneAtATime bool
	// endsWithClient takes no more connections after one that was left before its answers.
	endsWithClient bool
	// maxLineBytes bounds a line, unlike MaxLineBytes.
	maxLineBytes int
}

// start serves the relay in front of a store of its own, and returns the path of its socket.
func (r relay) start(t *testing.T) string {
	t.Helper()
	config := reference.DefaultConfig()
	// Its debt comes to no limit, at which it would end all leases.
	config.LimitBytes = 1e12
	store, err := reference.New(config, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	behind := make(chan string, 1)
	run(t, func(ctx context.Context) {
		logger := slog.New(slog.DiscardHandler)
		if err := store.Serve(ctx, referencetest.SocketDirectory(t), logger, func(path string) { behind <- path }); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	directory := filepath.Join(referencetest.SocketDirectory(t), reference.StoreName)
	if err := os.Mkdir(directory, 0o750); err != nil {
		t.Fatal(err)
	}
	socketPath := filepath.Join(directory, "main.sock")
	listener, err := net.Listen("unix", socketPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(socketPath, r.mode); err != nil {
		t.Fatal(err)
	}
	upstream := <-behind
	run(t, func(ctx context.Context) { r.serve(ctx, listener, upstream) })
	return socketPath
}

// run runs something until the test ends, which waits for it.
func run(t *testing.T, something func(context.Context)) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		something(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

func (r relay) serve(ctx context.Context, listener net.Listener, upstream string) {
	var connections sync.WaitGroup
	defer connections.Wait()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		serve := func() {
			stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
			defer stop()
			if err := r.serveConnection(ctx, connection, upstream); err != nil && r.endsWithClient {
				_ = listener.Close()
			}
		}
		if r.oneAtATime {
			serve()
			continue
		}
		connections.Go(serve)
	}
}

// serveConnection returns an error if the client did not wait for its answers.
func (r relay) serveConnection(ctx context.Context, connection net.Conn, upstream string) error {
	defer func() { _ = connection.Close() }()
	behind, err := net.Dial("unix", upstream)
	if err != nil {
		return nil
	}
	defer func() { _ = behind.Close() }()
	answers := bufio.NewReader(behind)
	pass := func(line []byte) []byte {
		if _, err := behind.Write(append(bytes.Clone(line), '\n')); err != nil {
			return nil
		}
		answer, err := localprotocol.ReadLine(answers)
		if err != nil {
			return nil
		}
		return answer
	}
	reader := bufio.NewReader(connection)
	for {
		line, err := reader.ReadBytes('\n')
		line, finished := bytes.CutSuffix(line, []byte("\n"))
		if finished || r.obeysUnfinished && len(line) > 0 {
			answer := r.answer(line, pass)
			if len(answer) == 0 {
				return nil
			}
			if _, err := connection.Write(append(answer, '\n')); err != nil {
				return err
			}
		}
		if finished && len(line) > r.maxLineBytes {
			return nil
		}
		switch {
		case err == nil:
			continue
		case !errors.Is(err, io.EOF):
			return err
		case r.staysOpen:
			_ = behind.Close()
			<-ctx.Done()
		}
		return nil
	}
}

func (r relay) answer(line []byte, pass func([]byte) []byte) []byte {
	if len(line) > r.maxLineBytes {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too long"}}`)
	}
	return r.respond(line, pass)
}

// object is a JSON object to change.
type object = map[string]any

// edit changes a line that is a JSON object; numbers stay as they are written.
func edit(line []byte, change func(object)) []byte {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var read object
	if decoder.Decode(&read) != nil || read == nil {
		return line
	}
	change(read)
	edited, err := json.Marshal(read)
	if err != nil {
		return line
	}
	return edited
}

// within is an object inside of another; changes of one that is not there go nowhere.
func within(message object, name string) object {
	if inner, there := message[name].(object); there {
		return inner
	}
	return object{}
}
