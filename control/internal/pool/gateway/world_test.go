package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"testing"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/gateway"
	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
)

const (
	blockBytes = 4 * segment.PageBytes
	patience   = 2 * time.Minute
	// lossPatience is for tests that wait for a server which does not answer.
	lossPatience = 10 * time.Second
	// mostWritten is more than other servers of Sluice take calls on a connection.
	mostWritten = 80
)

// world is a pool with one volume, and the gateway of a node.
type world struct {
	t        *testing.T
	pool     *pooltest.Pool
	metadata *metadata.Client
	path     string
	server   *gateway.Server
	stop     func()
	// unanswered is of pool2.
	unanswered pooltest.Unanswered
	// warnings are those of all servers; to be read once they have stopped.
	warnings bytes.Buffer
	// serverPatience is long, so that a slow server is not taken for a lost one.
	serverPatience time.Duration
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, time.Minute)
}

func newWorldWith(t *testing.T, serverPatience time.Duration) *world {
	t.Helper()
	w := &world{
		t: t, pool: pooltest.New(t, 3), path: filepath.Join(referencetest.SocketDirectory(t), "pool.sock"), serverPatience: serverPatience,
	}
	_, w.metadata = pooltest.NewMetadata(t, w.pool.Authority, 1)
	if err := w.metadata.CreateVolume(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	w.start()
	return w
}

func (w *world) service(node string) (sluicev1.BlockServiceClient, error) {
	service, err := w.pool.Service(node)
	if node == "pool2" {
		service = w.unanswered.Of(service)
	}
	return service, err
}

// start serves as an agent does that was started anew.
func (w *world) start() {
	w.t.Helper()
	listener, err := localprotocol.Listen(w.t.Context(), w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	options := stripe.DefaultOptions()
	options.RequestBytes, options.Patience = blockBytes/2, w.serverPatience
	w.server = gateway.NewServer("db-1", gateway.Pool{
		Metadata: w.metadata, Services: w.service, Options: options, Servers: w.pool.Names(), Copies: 2, BlockBytes: blockBytes,
		TimeToLive: time.Minute, MostWritten: mostWritten,
	}, slog.New(slog.NewTextHandler(&w.warnings, &slog.HandlerOptions{Level: slog.LevelWarn})))
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx, listener) }()
	stopped := false
	w.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-served; err != nil {
			w.t.Error(err)
		}
	}
	w.t.Cleanup(w.stop)
}

// view reads as another node would.
func (w *world) view() files.View {
	return files.View{
		Volume: "orders", Metadata: w.metadata, Services: w.pool.Service, Options: stripe.DefaultOptions(),
		Suspects: stripe.NewSuspects(time.Now), Logger: slog.New(slog.DiscardHandler),
	}
}

func (w *world) names(path string) []string {
	w.t.Helper()
	list, err := w.view().List(w.t.Context(), path)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, name := range list {
		all = append(all, name.Name)
	}
	return all
}

func (w *world) mustHave(path string, content []byte) {
	w.t.Helper()
	reader, err := w.view().Open(w.t.Context(), path)
	if err != nil {
		w.t.Fatal(err)
	}
	got := make([]byte, len(content)+1)
	n, err := reader.ReadAt(w.t.Context(), got, 0)
	if err != io.EOF || !bytes.Equal(got[:n], content) {
		w.t.Errorf("%s has %d bytes of %d: %v", path, n, len(content), err)
	}
}

// plugin is a connection of a store's plug-in.
type plugin struct {
	t          *testing.T
	connection net.Conn
	reader     *bufio.Reader
	id         int
}

func (w *world) connect() *plugin {
	w.t.Helper()
	connection, err := net.Dial("unix", w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		w.t.Fatal(err)
	}
	return &plugin{t: w.t, connection: connection, reader: bufio.NewReader(connection)}
}

// answer is what comes back: a result, and what follows it, or why there is none.
type answer struct {
	Result  json.RawMessage      `json:"result"`
	Failure *localprotocol.Error `json:"error"`
	payload []byte
}

// ask sends a request and gives what it is answered with.
func (p *plugin) ask(method string, params any, payload ...byte) answer {
	p.t.Helper()
	p.id++
	text, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.id, method, text)
	if _, err := p.connection.Write(append([]byte(line), payload...)); err != nil {
		p.t.Fatal(err)
	}
	return p.receive(method == message.MethodRead)
}

func (p *plugin) receive(hasPayload bool) answer {
	p.t.Helper()
	line, err := p.reader.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	if err := localprotocol.Validate("response", line); err != nil {
		p.t.Errorf("%s: %v", line, err)
	}
	var got answer
	if err := json.Unmarshal(line, &got); err != nil {
		p.t.Fatal(err)
	}
	if hasPayload && got.Failure == nil {
		got.payload = make([]byte, resultOf[message.ReadResult](p.t, got).Bytes)
		if _, err := io.ReadFull(p.reader, got.payload); err != nil {
			p.t.Fatal(err)
		}
	}
	return got
}

func resultOf[T any](t *testing.T, got answer) T {
	t.Helper()
	var read T
	if got.Failure != nil {
		t.Fatal(got.Failure)
	}
	if err := json.Unmarshal(got.Result, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// must gives the result of what is not refused.
func must[T any](p *plugin, method string, params any, payload ...byte) T {
	p.t.Helper()
	return resultOf[T](p.t, p.ask(method, params, payload...))
}

func (p *plugin) done(method string, params any, payload ...byte) {
	p.t.Helper()
	must[struct{}](p, method, params, payload...)
}

// refused wants a request refused for a reason of the metadata, or with a code where that has none.
func (p *plugin) refused(why, method string, params any, payload ...byte) {
	p.t.Helper()
	got := p.ask(method, params, payload...)
	if got.Failure == nil || got.Failure.Data.Reason != why && string(got.Failure.Data.Code) != why {
		p.t.Errorf("%s gives %s, %+v, where %s was expected", method, got.Result, got.Failure, why)
	}
}

func attachParams(lock *message.FileID) message.AttachParams {
	return message.AttachParams{ProtocolVersion: message.CurrentVersion(), Volume: "orders", Path: "/", Holder: "rocksdb", Lock: lock}
}

func (p *plugin) attach() message.AttachResult {
	p.t.Helper()
	return must[message.AttachResult](p, "attach", attachParams(nil))
}

func (p *plugin) create(path string) message.OpenResult {
	p.t.Helper()
	return must[message.OpenResult](p, "create", at(path))
}

func (p *plugin) append(file uint64, data []byte) int64 {
	p.t.Helper()
	return must[message.LengthResult](p, "append", message.AppendParams{File: file, Bytes: len(data)}, data...).LengthBytes
}

func (p *plugin) read(file uint64, offset int64, length int) []byte {
	p.t.Helper()
	got := p.ask("read", message.ReadParams{File: file, OffsetBytes: offset, LengthBytes: length})
	if got.Failure != nil {
		p.t.Fatal(got.Failure)
	}
	return got.payload
}

func at(path string) message.PathParams { return message.PathParams{Path: path} }

func number(file uint64) message.FileParams { return message.FileParams{File: file} }

func some(length int) []byte {
	content := make([]byte, length)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(content)
	return content
}
