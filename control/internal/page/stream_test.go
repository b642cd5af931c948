package page

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// event is one message of a stream, as a browser takes it apart.
type event struct {
	id, kind string
	update   update
}

type eventReader struct {
	t     *testing.T
	lines *bufio.Reader
	body  io.Closer
	retry string
	// comments counts the lines that say nothing.
	comments int
}

func openStream(t *testing.T, server *httptest.Server, query, lastEventID string) *eventReader {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/events?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastEventID != "" {
		request.Header.Set("Last-Event-ID", lastEventID)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" ||
		response.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%s, %v", response.Status, response.Header)
	}
	return &eventReader{t: t, lines: bufio.NewReader(response.Body), body: response.Body}
}

// next reads up to the empty line that ends an event with data.
func (r *eventReader) next() event {
	r.t.Helper()
	var found event
	hasData := false
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			r.t.Fatalf("the stream ended: %v", err)
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "id":
			found.id = value
		case "event":
			found.kind = value
		case "retry":
			r.retry = value
		case "data":
			hasData = true
			if err := json.Unmarshal([]byte(value), &found.update); err != nil {
				r.t.Fatalf("%v: %.200s", err, value)
			}
		case "":
			if value != "" {
				r.comments++
			} else if hasData {
				return found
			}
		default:
			r.t.Fatalf("a line that is no field of an event: %q", line)
		}
	}
}

func serve(t *testing.T, nodes int) (*testCluster, *Page, *httptest.Server) {
	t.Helper()
	c := newTestCluster(nodes)
	p := New(c, c.Now)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	t.Cleanup(p.Close)
	return c, p, server
}

func TestStreamSendsWhatHasChanged(t *testing.T) {
	c, p, server := serve(t, 30)
	stream := openStream(t, server, "limit=10&"+historyQuery(checkpointOf(3)), "")
	first := stream.next()
	if first.kind != "update" || stream.retry != "2000" {
		t.Errorf("event %q, retry %q", first.kind, stream.retry)
	}
	if len(first.update.Cluster.Nodes) != 10 || len(first.update.History.Points.Milliseconds) != 1 {
		t.Errorf("%d nodes and %d points at first, want 10 and 1",
			len(first.update.Cluster.Nodes), len(first.update.History.Points.Milliseconds))
	}
	c.answer(3, 9e6)
	c.answer(20, 9e6) // not on this page of the list
	c.decide(3, sluicev1.Verdict_VERDICT_CHANGE, 9e6)
	recordLater(p, c)
	second := stream.next().update
	if len(second.Cluster.Nodes) != 1 || !strings.Contains(string(second.Cluster.Nodes[0]), `"node":"db-00003"`) {
		t.Errorf("%d nodes, want the one that has changed", len(second.Cluster.Nodes))
	}
	if len(second.Cluster.Names) != 10 {
		t.Errorf("%d names, want all 10", len(second.Cluster.Names))
	}
	if got := second.History.Points.RateBytesPerSecond; len(got) != 1 || got[0] != 9e6 {
		t.Errorf("new points %v, want the last one", got)
	}
	if len(second.Decisions.Decisions) != 1 || len(second.History.Decisions) != 1 {
		t.Errorf("%d decisions, %d of the open task; want the new one in both",
			len(second.Decisions.Decisions), len(second.History.Decisions))
	}
	recordLater(p, c)
	if third := stream.next().update; len(third.Cluster.Nodes)+len(third.Decisions.Decisions)+len(third.History.Points.Milliseconds) != 0 {
		t.Errorf("%+v, want nothing new", third)
	}
}

func TestStreamGoesOnAfterTheLastEvent(t *testing.T) {
	c, p, server := serve(t, 1)
	for i := range 250 {
		c.decide(0, sluicev1.Verdict_VERDICT_CHANGE, float64(i+1))
	}
	recordLater(p, c)
	stream := openStream(t, server, "", "")
	first := stream.next()
	if got := len(first.update.Decisions.Decisions); got != defaultListed || first.update.Decisions.LeftOut != 0 {
		t.Errorf("%d decisions at first, %d left out", got, first.update.Decisions.LeftOut)
	}
	stream.body.Close()
	for i := range 3 {
		c.decide(0, sluicev1.Verdict_VERDICT_CHANGE, float64(i+1))
	}
	recordLater(p, c)
	for name, again := range map[string]*eventReader{
		"by the browser": openStream(t, server, "", first.id),
		"by the page":    openStream(t, server, "after="+first.id, ""),
	} {
		decisions := again.next().update.Decisions.Decisions
		if len(decisions) != 3 || decisions[0].Ordinal != 251 {
			t.Errorf("%s: %d decisions, want the 3 that came since", name, len(decisions))
		}
	}
	for _, id := range []string{"other:3", p.eventID(999), p.instance + ":-1", "nonsense"} {
		if got := len(openStream(t, server, "", id).next().update.Decisions.Decisions); got != defaultListed {
			t.Errorf("after %q: %d decisions, want the last %d", id, got, defaultListed)
		}
	}
}

func TestLateStreamIsToldWhatWasLeftOut(t *testing.T) {
	for _, many := range []int{maxStreamed + 17, maxDecisions + 500} {
		c, p, server := serve(t, 1)
		c.decide(0, sluicev1.Verdict_VERDICT_CHANGE, 0.5)
		recordLater(p, c)
		stream := openStream(t, server, "", "")
		stream.next()
		for i := range many {
			c.decide(0, sluicev1.Verdict_VERDICT_CHANGE, float64(i+1))
		}
		recordLater(p, c)
		late := stream.next().update.Decisions
		if got, want := late.LeftOut, uint64(many-maxStreamed); len(late.Decisions) != maxStreamed || got != want {
			t.Errorf("%d decisions, %d left out; want %d and %d", len(late.Decisions), got, maxStreamed, want)
		}
		if last := late.Decisions[maxStreamed-1].Ordinal; last != uint64(many+1) {
			t.Errorf("the last one is %d, want %d", last, many+1)
		}
	}
}

func TestStreamsAreBounded(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	for range maxStreams {
		p.streams <- struct{}{}
	}
	response := ask(p, http.MethodGet, "/api/events")
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" ||
		response.Header.Get("Connection") != "close" {
		t.Errorf("%s, %v: %s", response.Status, response.Header, text)
	}
	if want := fmt.Sprintf("%d streams are open", maxStreams); !strings.Contains(string(text), want) {
		t.Errorf("%s, want %q", text, want)
	}
}

// A client that takes nothing is given up, and its place is free again.
func TestSlowClientIsDropped(t *testing.T) {
	c := newTestCluster(maxNodes)
	p := New(c, c.Now)
	// Long enough for the stream to be seen that is open meanwhile.
	p.writeTimeout = time.Second
	server := httptest.NewServer(p)
	defer server.Close()
	defer p.Close()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(connection, "GET /api/events?limit=%d HTTP/1.1\r\nHost: page\r\n\r\n", maxNodes)
	eventually(t, "the stream is open", func() bool { return len(p.streams) == 1 })
	long := strings.Repeat("no route to the agent; ", 1000)
	eventually(t, "the stream is given up", func() bool {
		for place := range maxNodes {
			c.change(place, nodeThatFailed(place, long+c.Now().String()))
		}
		recordLater(p, c)
		return len(p.streams) == 0
	})
}

func TestCloseEndsStreams(t *testing.T) {
	_, p, server := serve(t, 1)
	stream := openStream(t, server, "", "")
	stream.next()
	p.Close()
	p.Close()
	if _, err := stream.lines.ReadString('\n'); err != io.EOF {
		t.Errorf("reading gives %v, want the end", err)
	}
	eventually(t, "the stream's place is free", func() bool { return len(p.streams) == 0 })
}

// Nothing is written for longer than a write may take.
func TestSilentStreamGoesOnOverHTTP2(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	p.writeTimeout, p.beatInterval = 2*time.Second, 2500*time.Millisecond
	server := httptest.NewUnstartedServer(p)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	defer p.Close()
	stream := openStream(t, server, "", "")
	stream.next()
	line, err := stream.lines.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, ": ") {
		t.Errorf("the stream has %q, %v; want a comment", line, err)
	}
}

func TestSilentStreamIsKeptAlive(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	p.beatInterval = time.Millisecond
	server := httptest.NewServer(p)
	defer server.Close()
	defer p.Close()
	stream := openStream(t, server, "", "")
	stream.next()
	for stream.comments < 3 {
		line, err := stream.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, ": ") {
			stream.comments++
		}
	}
}
