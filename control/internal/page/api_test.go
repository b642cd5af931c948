package page

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

func ask(p *Page, method, path string, header ...string) *http.Response {
	request := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	p.ServeHTTP(recorder, request)
	return recorder.Result()
}

// get reads the JSON of an answer.
func get[Answer any](t *testing.T, p *Page, path string) Answer {
	t.Helper()
	response := ask(p, http.MethodGet, path)
	var answer Answer
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		t.Fatalf("GET %s: %s: %s", path, response.Status, text)
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return answer
}

func TestServiceLevels(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	if answer := get[clusterAnswer](t, p, "/api/cluster"); answer.ServiceLevels == nil || len(answer.ServiceLevels) > 0 {
		t.Errorf("there are %v", answer.ServiceLevels)
	}
	c.mu.Lock()
	c.state.Levels = []*sluicev1.ServiceLevelState{{
		ServiceLevel: &sluicev1.ServiceLevel{Name: "orders", Target: &sluicev1.ServiceLevelTarget{Seconds: 0.03}}, State: "reached",
	}}
	c.mu.Unlock()
	c.pass(time.Second)
	p.Record()
	answer := get[clusterAnswer](t, p, "/api/cluster")
	if len(answer.ServiceLevels) != 1 || !strings.Contains(string(answer.ServiceLevels[0]), `"name":"orders"`) {
		t.Errorf("there are %s", answer.ServiceLevels)
	}
}

// TestPeriod is told to the browser, which else takes a controller with long periods for one that is silent.
func TestPeriod(t *testing.T) {
	c := newTestCluster(1)
	c.state.Period = 10 * time.Second
	if answer := get[clusterAnswer](t, New(c, c.Now), "/api/cluster"); answer.PeriodMilliseconds != 10000 {
		t.Errorf("%d ms", answer.PeriodMilliseconds)
	}
}

func TestClusterSelection(t *testing.T) {
	c := newTestCluster(45)
	c.change(7, nodeThatFailed(7, "connection refused"))
	leased := answerOf(nodeName(9), 1e6)
	leased.Snapshots[0].Leases = []*sluicev1.Lease{{
		Kind: sluicev1.Kind_KIND_CHECKPOINT, Owner: "policy/latency", Setting: rateSetting(5e6), TimeLeft: durationpb.New(time.Second),
	}}
	c.change(9, nodeThatAnswered(leased))
	p := New(c, c.Now)
	for _, test := range []struct {
		query            string
		matching, offset int
		first            string
		shown            int
	}{
		{"", 45, 0, nodeName(0), defaultNodes},
		{"offset=40", 45, 40, nodeName(40), 5},
		{"offset=20&limit=3", 45, 20, nodeName(20), 3},
		{"offset=9999&limit=10", 45, 40, nodeName(40), 5},
		{"filter=DB-0001", 10, 0, nodeName(10), 10},
		{"filter=postgres/MAIN", 44, 0, nodeName(0), defaultNodes},
		{"filter=nothing", 0, 0, "", 0},
		{"show=problems", 1, 0, nodeName(7), 1},
		{"show=leases", 1, 0, nodeName(9), 1},
		{"show=leases&filter=00008", 0, 0, "", 0},
	} {
		t.Run(test.query, func(t *testing.T) {
			answer := get[clusterAnswer](t, p, "/api/cluster?"+test.query)
			if answer.Matching != test.matching || answer.Offset != test.offset {
				t.Errorf("%d match from %d, want %d from %d", answer.Matching, answer.Offset, test.matching, test.offset)
			}
			if len(answer.Names) != test.shown || len(answer.Nodes) != test.shown {
				t.Fatalf("%d names and %d nodes, want %d", len(answer.Names), len(answer.Nodes), test.shown)
			}
			if test.shown > 0 && answer.Names[0] != test.first {
				t.Errorf("the first node is %s, want %s", answer.Names[0], test.first)
			}
		})
	}
}

func TestClusterAnswer(t *testing.T) {
	c := newTestCluster(2)
	p := New(c, c.Now)
	c.decide(0, sluicev1.Verdict_VERDICT_CHANGE, 5e6)
	c.decide(0, sluicev1.Verdict_VERDICT_STOP, 0)
	recordLater(p, c)
	c.pass(3 * time.Second)
	answer := get[clusterAnswer](t, p, "/api/cluster")
	if answer.Milliseconds != 1000 || answer.AgeMilliseconds != 3000 {
		t.Errorf("at %d ms, %d ms old; want 1000 and 3000", answer.Milliseconds, answer.AgeMilliseconds)
	}
	want := summary{
		Nodes: 2, Stores: 2, Running: 2, RateBytesPerSecond: 3e6,
		DebtShare: 0.6, DebtOf: "db-00000/postgres/main", Changes: 1, Stops: 1,
	}
	if answer.Summary != want {
		t.Errorf("summary %+v, want %+v", answer.Summary, want)
	}
	for _, part := range []string{`"cluster":"test"`, `"is_active":true`, `"is_dry_run":false`} {
		if !strings.Contains(string(answer.Controller), part) {
			t.Errorf("the controller's part lacks %s: %s", part, answer.Controller)
		}
	}
	for _, part := range []string{`"rate_bytes_per_second":1000000`, `"bytes_total":"100"`, `"state":"STATE_RUNNING"`, `"problem":""`} {
		if !strings.Contains(string(answer.Nodes[0]), part) {
			t.Errorf("the node lacks %s: %s", part, answer.Nodes[0])
		}
	}
}

func TestHistory(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	c.decide(0, sluicev1.Verdict_VERDICT_CHANGE, 5e6)
	c.answer(0, 2e6)
	recordLater(p, c)
	recordLater(p, c) // the agent has not answered anew: no point
	for range 3 {
		c.decide(0, sluicev1.Verdict_VERDICT_KEEP, 5e6)
		recordLater(p, c)
	}
	answer := get[historyAnswer](t, p, "/api/history?"+historyQuery(checkpointOf(0)))
	if want := []int64{0, 1000}; !slices.Equal(answer.Points.Milliseconds, want) {
		t.Errorf("points at %v, want %v", answer.Points.Milliseconds, want)
	}
	if want := (figures{1e6, 2e6}); !slices.Equal(answer.Points.RateBytesPerSecond, want) {
		t.Errorf("rates %v, want %v", answer.Points.RateBytesPerSecond, want)
	}
	if want := (figures{0.004, 0.004}); !slices.Equal(answer.Points.WriteP99Seconds, want) {
		t.Errorf("p99 of writes %v, want that of the last interval, %v", answer.Points.WriteP99Seconds, want)
	}
	if answer.DebtTriggerBytes != 0 || answer.DebtLimitBytes != 1000 {
		t.Errorf("bounds of debt %d and %d, want none and 1000", answer.DebtTriggerBytes, answer.DebtLimitBytes)
	}
	if len(answer.Decisions) != 1 || answer.Decisions[0].Milliseconds != 1000 {
		t.Errorf("decisions %+v, want the change at 1000 ms", answer.Decisions)
	}
	if len(answer.Repeats) != 1 || answer.Repeats[0].Count != 3 || answer.Repeats[0].LastMilliseconds != 5000 {
		t.Errorf("repeats %+v, want 3 until 5000 ms", answer.Repeats)
	}
}

func TestHistoryWritesNullForWhatIsNotKnown(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	text, err := io.ReadAll(ask(p, http.MethodGet, "/api/history?"+historyQuery(checkpointOf(0))).Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"read_p99_seconds":[null]`, `"ordered_rate_bytes_per_second":[null]`, `"debt_bytes":[600]`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is missing: %s", part, text)
		}
	}
}

func historyQuery(t target) string {
	return url.Values{
		"node": {t.node}, "store": {t.store}, "instance": {t.instance}, "kind": {t.kind.String()}, "scope": {t.scope},
	}.Encode()
}

func TestDecisions(t *testing.T) {
	c := newTestCluster(3)
	for i := range 9 {
		c.decide(i%3, sluicev1.Verdict_VERDICT_CHANGE, float64(i+1))
	}
	p := New(c, c.Now)
	for _, test := range []struct {
		query    string
		ordinals []uint64
		leftOut  uint64
	}{
		{"", []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0},
		{"limit=2", []uint64{8, 9}, 7},
		{"node=db-00001", []uint64{2, 5, 8}, 0},
		{"node=db-00001&limit=1", []uint64{8}, 2},
		{"policy=latency&limit=1", []uint64{9}, 8},
		{"policy=other", nil, 0},
	} {
		answer := get[decisionsAnswer](t, p, "/api/decisions?"+test.query)
		var ordinals []uint64
		for _, decision := range answer.Decisions {
			ordinals = append(ordinals, decision.Ordinal)
		}
		if !slices.Equal(ordinals, test.ordinals) || answer.LeftOut != test.leftOut {
			t.Errorf("%q: %v, %d left out; want %v, %d", test.query, ordinals, answer.LeftOut, test.ordinals, test.leftOut)
		}
	}
}

func TestRefusals(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	good := historyQuery(checkpointOf(0))
	for _, test := range []struct {
		path   string
		status int
		says   string
	}{
		{"/api/cluster?limit=101", 400, "limit must be a number from 1 to 100"},
		{"/api/cluster?limit=many", 400, "limit must be a number"},
		{"/api/cluster?offset=-1", 400, "offset must be a number from 0"},
		{"/api/cluster?show=some", 400, "show must be all, problems or leases"},
		{"/api/cluster?filter=" + strings.Repeat("a", 256), 400, "filter is 256 bytes long"},
		{"/api/cluster?filter=%00", 400, "filter is not printable"},
		{"/api/cluster?filter=%zz", 400, "cannot be read"},
		{"/api/cluster?filter=a&filter=b", 400, "give it once"},
		{"/api/cluster?filters=a", 400, "not known; known are filter"},
		{"/api/cluster?filter=" + strings.Repeat("a", maxQueryBytes), 400, "at most 8192"},
		{"/api/history", 400, "is missing"},
		{"/api/history?" + strings.Replace(good, "KIND_CHECKPOINT", "KIND_OTHER", 1), 400, "KIND_OTHER"},
		{"/api/history?" + strings.Replace(good, "db-00000", "db-00001", 1), 404, "no such task"},
		{"/api/history?" + strings.Replace(good, "scope=", "scope="+strings.Repeat("a", 1025), 1), 400, "scope is 1025 bytes"},
		{"/api/decisions?limit=0", 400, "limit must be"},
		{"/api/decisions?limit=501", 400, "limit must be"},
		{"/api/events?node=db-00000", 400, "is missing"},
		{"/api/events?after=" + strings.Repeat("9", 65), 400, "after is 65 bytes long"},
		{"/static/none.js", 404, "no such file"},
		{"/static/..%2Fpage.go", 404, "no such file"},
	} {
		response := ask(p, http.MethodGet, test.path)
		text, _ := io.ReadAll(response.Body)
		var refusal struct{ Error string }
		if err := json.Unmarshal(text, &refusal); err != nil {
			t.Errorf("%.80s: %v: %s", test.path, err, text)
		}
		if response.StatusCode != test.status || !strings.Contains(refusal.Error, test.says) {
			t.Errorf("%.80s: %d %q, want %d %q", test.path, response.StatusCode, refusal.Error, test.status, test.says)
		}
	}
}

// A browser that asks for what it has gets no body again, and one that asks for what has changed does.
func TestEntityTags(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	for _, path := range []string{"/", "/static/main.js", "/api/cluster", "/api/decisions", "/api/history?" + historyQuery(checkpointOf(0))} {
		first := ask(p, http.MethodGet, path)
		tag := first.Header.Get("ETag")
		if tag == "" || first.Header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: ETag %q, Cache-Control %q", path, tag, first.Header.Get("Cache-Control"))
		}
		again := ask(p, http.MethodGet, path, "If-None-Match", tag)
		text, _ := io.ReadAll(again.Body)
		if again.StatusCode != http.StatusNotModified || len(text) > 0 {
			t.Errorf("%s: %s with %d bytes, want 304 without", path, again.Status, len(text))
		}
	}
	before := ask(p, http.MethodGet, "/api/cluster").Header.Get("ETag")
	c.answer(0, 7e6)
	recordLater(p, c)
	if after := ask(p, http.MethodGet, "/api/cluster", "If-None-Match", before); after.StatusCode != http.StatusOK {
		t.Errorf("%s after a change, want 200", after.Status)
	}
}

// Ten thousand nodes are counted, and never sent.
func TestManyNodes(t *testing.T) {
	c := newTestCluster(10_000)
	p := New(c, c.Now)
	answer := get[clusterAnswer](t, p, "/api/cluster?limit=100&offset=5000")
	if answer.Summary.Nodes != 10_000 || answer.Matching != 10_000 || len(answer.Nodes) != 100 {
		t.Errorf("%d nodes, %d match, %d sent", answer.Summary.Nodes, answer.Matching, len(answer.Nodes))
	}
	if len(p.history.series) != maxSeries {
		t.Errorf("%d timelines, want the bound of %d", len(p.history.series), maxSeries)
	}
	get[historyAnswer](t, p, "/api/history?"+historyQuery(checkpointOf(9_999)))
	if len(p.history.series) != maxSeries {
		t.Errorf("%d timelines after one more was opened, want %d", len(p.history.series), maxSeries)
	}
}
