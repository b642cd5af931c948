package promql_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/promql"
)

const maxAge = 5 * time.Second

// answering is a server that gives one answer, with a Date of the time in seconds since 1970.
func answering(t testing.TB, status int, body string, date int64) *promql.Client {
	t.Helper()
	return serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Unix(date, 0).UTC().Format(http.TimeFormat))
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
}

// serving is a server that reads lookback_delta, as newer ones do.
func serving(t testing.TB, answer http.HandlerFunc) *promql.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := time.ParseDuration(r.FormValue("lookback_delta")); err != nil {
			http.Error(w, "invalid lookback_delta", http.StatusBadRequest)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return newClient(t, server.URL)
}

func newClient(t testing.TB, url string) *promql.Client {
	t.Helper()
	client, err := promql.New(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func success(kind, result string) string {
	return fmt.Sprintf(`{"status":"success","data":{"resultType":%q,"result":%s}}`, kind, result)
}

func TestQueryTakesOneNumber(t *testing.T) {
	tests := []struct {
		name string
		body string
		want float64
		age  time.Duration
	}{
		{"scalar", success("scalar", `[1000,"0.25"]`), 0.25, 0},
		{"vector of one", success("vector", `[{"metric":{"job":"x"},"value":[1000,"-3"]}]`), -3, 0},
		{"asked within the second of the Date", success("scalar", `[1000.9,"1"]`), 1, 0},
		{"with remarks on the query", `{"status":"success","infos":["not a counter"],"data":{"resultType":"scalar","result":[1000,"1"]}}`, 1, 0},
		{"with remarks among the warnings", `{"status":"success","warnings":["PromQL info: not a counter"],"data":{"resultType":"scalar","result":[1000,"1"]}}`, 1, 0},
		{"kept for a while on the way", success("scalar", `[996,"1"]`), 1, 4 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			signal := answering(t, http.StatusOK, test.body, 1000).Query(t.Context(), "q", maxAge)
			if !signal.Fresh || signal.Value != test.want || signal.Age != test.age {
				t.Errorf("signal is %+v, want %v of age %v", signal, test.want, test.age)
			}
		})
	}
}

func TestQueryRefuses(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"no series", 200, success("vector", `[]`), "no series has a sample that is recent enough"},
		{"two series", 200, success("vector", `[{"metric":{},"value":[1000,"1"]},{"metric":{"a":"b"},"value":[1000,"1"]}]`),
			"has 2 series, not one: use an aggregation"},
		{"a range", 200, success("matrix", `[{"metric":{},"values":[[1000,"1"]]}]`), "the result is a matrix"},
		{"a text", 200, success("string", `[1000,"up"]`), "unexpected value type"},
		{"a histogram", 200, success("vector", `[{"metric":{},"histogram":[1000,{"count":"1","sum":"1","buckets":[]}]}]`),
			"histogram_quantile"},
		{"null for a series", 200, success("vector", `[null]`), "empty where a series should be"},
		{"no number", 200, success("scalar", `[1000,"NaN"]`), "not a number to act on"},
		{"infinite", 200, success("scalar", `[1000,"+Inf"]`), "not a number to act on"},
		{"too old", 200, success("scalar", `[994,"1"]`), "the answer is 6s old, more than 5s"},
		{"from the future", 200, success("scalar", `[1002,"1"]`), "Date is 2s before the time of its query"},
		{"an error of the query", 400, `{"status":"error","errorType":"bad_data","error":"parse error"}`, "parse error"},
		{"an error of the server", 503, `busy`, "503"},
		{"an error in a success", 200, `{"status":"error","errorType":"execution","error":"too much"}`, "too much"},
		{"a part of the data", 200, `{"status":"success","warnings":["remote_read: no answer","b"],"data":{"resultType":"scalar","result":[1000,"1"]}}`,
			"may rest on a part of the data: remote_read: no answer; b"},
		{"not JSON", 200, `<html>`, "query"},
		{"nothing", 200, ``, "query"},
		{"too long", 200, success("scalar", `[1000,"1"]`+strings.Repeat(" ", 1<<20)), "too large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			signal := answering(t, test.status, test.body, 1000).Query(t.Context(), "q", maxAge)
			if signal.Fresh || !strings.Contains(signal.Missing, test.want) {
				t.Errorf("signal is %+v, want it missing for %q", signal, test.want)
			}
			if signal.Value != 0 {
				t.Errorf("a missing signal has the value %v", signal.Value)
			}
		})
	}
}

func TestQueryRefusesAnAnswerWithoutDate(t *testing.T) {
	client := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		fmt.Fprint(w, success("scalar", `[1000,"1"]`))
	})
	signal := client.Query(t.Context(), "q", maxAge)
	if signal.Fresh || !strings.Contains(signal.Missing, "Date") {
		t.Errorf("signal is %+v", signal)
	}
}

func TestQueryRefusesAClockThatWentBack(t *testing.T) {
	now := int64(100_000)
	client := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Unix(now, 0).UTC().Format(http.TimeFormat))
		fmt.Fprint(w, success("scalar", fmt.Sprintf(`[%d,"1"]`, now)))
	})

	steps := []struct {
		at    int64
		fresh bool
	}{
		{100_000, true},
		{103_600, true},  // an hour ahead: the server has no samples there but new ones
		{100_000, false}, // back again: its samples of this time are those from before
		{103_594, false},
		{103_595, true}, // as late as a sample may be
		{103_700, true},
	}
	for _, step := range steps {
		now = step.at
		signal := client.Query(t.Context(), "q", maxAge)
		if signal.Fresh != step.fresh {
			t.Errorf("at %d: signal is %+v, want fresh to be %v", step.at, signal, step.fresh)
		}
	}
}

func TestQueryAsksTheServerForRecentSamples(t *testing.T) {
	var lookback, at string
	client := serving(t, func(_ http.ResponseWriter, r *http.Request) {
		lookback, at = r.FormValue("lookback_delta"), r.FormValue("time")
	})
	client.Query(t.Context(), "q", 5500*time.Millisecond)
	if lookback != "5s" || at != "" {
		t.Errorf("lookback_delta is %q, want 5s; time is %q, want the server's own", lookback, at)
	}
}

func TestQueryEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	signal := newClient(t, server.URL).Query(ctx, "q", maxAge)
	if signal.Fresh || !strings.Contains(signal.Missing, "deadline exceeded") {
		t.Errorf("signal is %+v", signal)
	}
}

// An older server does as its flag says, whatever it is asked.
func TestQueryOfAServerThatDoesNotReadLookbackDelta(t *testing.T) {
	tests := []struct {
		flags string
		fresh bool
		want  string
	}{
		{`{"query.lookback-delta":"5s"}`, true, ""},
		{`{"query.lookback-delta":"5m"}`, false, "start it with --query.lookback-delta=5s, or set stale_seconds to 300"},
		{`{}`, false, "its flag query.lookback-delta is \"\""},
		{`[]`, false, "how old samples may be"},
	}
	for _, test := range tests {
		t.Run(test.flags, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Date", time.Unix(1000, 0).UTC().Format(http.TimeFormat))
				if strings.HasSuffix(r.URL.Path, "/status/flags") {
					fmt.Fprintf(w, `{"status":"success","data":%s}`, test.flags)
					return
				}
				fmt.Fprint(w, success("scalar", `[1000,"1"]`))
			}))
			defer server.Close()
			signal := newClient(t, server.URL).Query(t.Context(), "q", maxAge)
			if signal.Fresh != test.fresh || !strings.Contains(signal.Missing, test.want) {
				t.Errorf("signal is %+v, want fresh to be %v and %q", signal, test.fresh, test.want)
			}
		})
	}
}

// answer is a transport that gives a body without a network.
type answer struct {
	body          string
	readsLookback bool
}

func (a answer) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Date", time.Unix(1000, 0).UTC().Format(http.TimeFormat))
	if a.readsLookback && request.FormValue("lookback_delta") == "none" {
		recorder.WriteHeader(http.StatusBadRequest)
	}
	recorder.WriteString(a.body)
	response := recorder.Result()
	response.Request = request
	return response, nil
}

func FuzzQuery(f *testing.F) {
	f.Add(success("scalar", `[1000,"0.25"]`), true)
	f.Add(success("vector", `[{"metric":{"job":"x"},"value":[1000,"1e308"]}]`), true)
	f.Add(success("vector", `[null]`), true)
	f.Add(success("vector", `null`), true)
	f.Add(success("matrix", `[{"metric":{},"values":[[1000,"1"]]}]`), true)
	f.Add(success("scalar", `[-1e300,"1"]`), true)
	f.Add(`{"status":"error","errorType":"execution","error":"x"}`, true)
	f.Add(`{"status":"success","data":{"query.lookback-delta":"5s"}}`, false)
	f.Fuzz(func(t *testing.T, body string, readsLookback bool) {
		client, err := promql.NewWithTransport("http://127.0.0.1:9090", answer{body, readsLookback})
		if err != nil {
			t.Fatal(err)
		}
		signal := client.Query(t.Context(), "q", maxAge)
		if signal.Fresh != (signal.Missing == "") {
			t.Fatalf("fresh and missing contradict each other: %+v", signal)
		}
		if math.IsNaN(signal.Value) || math.IsInf(signal.Value, 0) || !signal.Fresh && signal.Value != 0 {
			t.Fatalf("not a number to act on: %+v", signal)
		}
		if signal.Age < 0 || signal.Age > maxAge {
			t.Fatalf("age out of bounds: %+v", signal)
		}
	})
}
