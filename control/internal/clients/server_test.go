package clients_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/clients"
	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
)

const (
	patience = 2 * time.Minute
	report   = `{"protocol_version":{"major":1,"minor":0},"store":"hbase","interval_seconds":1,"requests":[]}`
	taken    = `{"jsonrpc":"2.0","id":1,"result":{"protocol_version":{"major":1,"minor":0}}}`
)

// serve serves a collector of reports of hbase.
func serve(t *testing.T) (collector *clients.Collector, path string) {
	t.Helper()
	path = filepath.Join(referencetest.SocketDirectory(t), "agent.sock")
	listener, err := localprotocol.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	// Its time stands still: clients are there however long ago they have said something.
	now := time.Now()
	collector = clients.NewCollector([]string{"hbase"}, func() time.Time { return now })
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- clients.NewServer(collector, slog.New(slog.DiscardHandler)).Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return collector, path
}

type client struct {
	t          *testing.T
	connection net.Conn
	reader     *bufio.Reader
}

func connect(t *testing.T, path string) *client {
	t.Helper()
	connection, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &client{t, connection, bufio.NewReader(connection)}
}

// send sends a line and gives the answer, which is empty where the connection has ended.
func (c *client) send(line string) string {
	c.t.Helper()
	if _, err := c.connection.Write([]byte(line + "\n")); err != nil {
		c.t.Fatal(err)
	}
	answer, err := c.reader.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(answer, "\n")
}

func call(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
}

func TestReportsAreTaken(t *testing.T) {
	collector, path := serve(t)
	one, other := connect(t, path), connect(t, path)
	for range 2 {
		for _, each := range []*client{one, other} {
			if got := each.send(call("report", report)); got != taken {
				t.Errorf("the answer is %s", got)
			}
		}
	}
	if is := collector.Usage()["hbase"]; is.Clients != 2 {
		t.Errorf("there are %d clients", is.Clients)
	}
}

// What cannot be taken changes nothing, and the connection goes on.
func TestWhatIsNoReportIsAnswered(t *testing.T) {
	collector, path := serve(t)
	c := connect(t, path)
	for line, want := range map[string]string{
		"{":                    "-32700",
		call("snapshot", "{}"): "-32601",
		call("set", "{}"):      "Methods: report.",
		call("report", "{}"):   "-32602",
		call("report", strings.Replace(report, `"major":1`, `"major":2`, 1)): "-32007",
		call("report", strings.Replace(report, `hbase`, `ignite`, 1)):        "-32004",
	} {
		if got := c.send(line); !strings.Contains(got, want) {
			t.Errorf("%s is answered by %s, want %s", line, got, want)
		}
	}
	if is := collector.Usage()["hbase"]; is.Clients != 0 {
		t.Errorf("there are %d clients", is.Clients)
	}
	if got := c.send(call("report", report)); got != taken {
		t.Errorf("the answer is %s", got)
	}
}

func TestALineThatIsTooLongEndsTheConnection(t *testing.T) {
	_, path := serve(t)
	c := connect(t, path)
	if got := c.send(strings.Repeat("x", localprotocol.MaxLineBytes+1)); !strings.Contains(got, "-32600") {
		t.Errorf("the answer is %.200s", got)
	}
	if _, err := c.reader.ReadByte(); err == nil {
		t.Error("the connection goes on")
	}
}
