package clients

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice.dev/control/internal/store"
)

const goodReport = `{"protocol_version":{"major":1,"minor":0},"store":"hbase","interval_seconds":1,"requests":[` +
	`{"class":"read","scope":"orders/cf","errors":0,"sum_seconds":0.02,"max_seconds":0.015,"buckets":[[271,1],[294,1]]}]}`

// proto/local/clients is where the schemas are maintained; go generate copies them.
func TestSchemasAreThoseOfProtoLocal(t *testing.T) {
	names, err := filepath.Glob("../../../proto/local/clients/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	copies, err := os.ReadDir("schema")
	if err != nil || len(copies) != len(names) {
		t.Errorf("%d copies of %d schemas, %v", len(copies), len(names), err)
	}
	for _, name := range names {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join("schema", filepath.Base(name))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from its copy: run go generate (%v)", name, err)
		}
	}
}

func TestParseReport(t *testing.T) {
	got, err := ParseReport([]byte(goodReport))
	if err != nil || got.Store != "hbase" || got.IntervalSeconds != 1 || len(got.Requests) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if is := got.Requests[0]; is.Scope != "orders/cf" || is.MaxSeconds != 0.015 || len(is.Buckets) != 2 || is.Buckets[1] != [2]uint64{294, 1} {
		t.Errorf("got %+v", is)
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, test := range []struct {
		replaced, by string
		code         store.Code
		want         string
	}{
		{`"major":1`, `"major":2`, store.CodeIncompatible, "the client version 2.0"},
		{`"store":"hbase"`, `"store":""`, store.CodeInvalid, "store"},
		{`"store":"hbase",`, ``, store.CodeInvalid, "store"},
		{`"interval_seconds":1`, `"interval_seconds":0`, store.CodeInvalid, "interval_seconds"},
		{`"class":"read"`, `"class":"scan"`, store.CodeInvalid, "class"},
		{`orders/cf`, `a\u0007`, store.CodeInvalid, "scope"},
		{`orders/cf`, strings.Repeat("ü", 1000), store.CodeInvalid, "scope"},
		{`[294,1]`, `[896,1]`, store.CodeInvalid, "buckets"},
		{`[294,1]`, `[294,0]`, store.CodeInvalid, "buckets"},
		{`[294,1]`, `[294,-1]`, store.CodeInvalid, "buckets"},
		{`[294,1]`, `[294]`, store.CodeInvalid, "buckets"},
		{`[294,1]`, `[294,1,1]`, store.CodeInvalid, "buckets"},
		{`"errors":0`, `"errors":-1`, store.CodeInvalid, "errors"},
		{`"sum_seconds":0.02`, `"sum_seconds":1e400`, store.CodeInvalid, "1e400"},
		{`"errors":0`, `"errors":0,"Buckets":[[9999,1]]`, store.CodeInvalid, "Buckets"},
		{`"store":"hbase"`, `"store":"hbase","role":"client"`, store.CodeInvalid, "role"},
	} {
		_, err := ParseReport([]byte(strings.Replace(goodReport, test.replaced, test.by, 1)))
		if store.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %s with %q in it", test.by, err, test.code, test.want)
		}
	}
}

// The example of the page can be sent.
func TestTheExampleOfThePageIsTaken(t *testing.T) {
	page, err := os.ReadFile("../../../docs/client-latencies.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`(?m)^\{"jsonrpc".*"method":"report","params":(.*)\}$`).FindAllSubmatch(page, -1)
	if len(examples) == 0 {
		t.Error("there is no example")
	}
	for _, example := range examples {
		if _, err := ParseReport(example[1]); err != nil {
			t.Errorf("%s: %v", example[1], err)
		}
	}
}

// FuzzReport reads bytes as a report. What is taken is within its bounds, and can be added up and shown.
func FuzzReport(f *testing.F) {
	f.Add([]byte(goodReport))
	f.Add([]byte(strings.Replace(goodReport, `"requests"`, `"lost_requests":3,"requests"`, 1)))
	f.Add([]byte(`{"protocol_version":{"major":1,"minor":0},"store":"hbase","interval_seconds":1,"requests":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := ParseReport(text)
		if err != nil {
			return
		}
		for _, requests := range report.Requests {
			for _, bucket := range requests.Buckets {
				if bucket[0] >= bucketCount || bucket[1] == 0 {
					t.Errorf("bucket %v is taken", bucket)
				}
			}
		}
		c, clock := newCollector(report.Store)
		if err := c.take(&session{}, report); err != nil {
			t.Fatal(err)
		}
		clock.pass(2)
		for _, latency := range c.Latencies()[0].Latencies {
			isInOrder := latency.P50 <= latency.P99 && latency.P99 <= latency.P999 && latency.P999 <= latency.Max
			if !isInOrder || latency.Mean < 0 || latency.Mean > latency.Max || latency.Interval <= 0 {
				t.Errorf("the latency is %+v", latency)
			}
		}
	})
}
