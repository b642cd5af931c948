package clients

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice.dev/control/internal/store"
)

const goodReport = `{"protocol_version":{"major":1,"minor":0},"store":"hbase","interval_seconds":1,"requests":[` +
	`{"class":"read","scope":"orders/cf","errors":0,"sum_seconds":0.02,"max_seconds":0.015,"buckets":[[271,1],[294,1]]}]}`

// validate checks a text against the schema of proto/local/clients, which says what is taken.
func validate(t testing.TB, text []byte) error {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	schema, err := compiler.Compile("../../../proto/local/clients/report-params.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	return schema.Validate(document)
}

func TestParseReport(t *testing.T) {
	if err := validate(t, []byte(goodReport)); err != nil {
		t.Error(err)
	}
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
		{`[294,1]`, `[294,-1]`, store.CodeInvalid, "whole number"},
		{`[294,1]`, `[294]`, store.CodeInvalid, "buckets"},
		{`[294,1]`, `[294,1,1]`, store.CodeInvalid, "buckets"},
		{`"errors":0`, `"errors":-1`, store.CodeInvalid, "whole number"},
		{`"sum_seconds":0.02`, `"sum_seconds":1e400`, store.CodeInvalid, "1e400"},
		{`[294,1]`, `[null,1]`, store.CodeInvalid, "whole number"},
		{`[294,1]`, `[294,1.5]`, store.CodeInvalid, "whole number"},
		{`[294,1]`, `[294,"1"]`, store.CodeInvalid, "whole number"},
		{`[294,1]`, `null`, store.CodeInvalid, "buckets"},
		{`"errors":0,`, ``, store.CodeInvalid, "errors"},
		{`"errors":0`, `"errors":null`, store.CodeInvalid, "errors"},
		{`"requests":[`, `"lost_requests":-1,"requests":[`, store.CodeInvalid, "whole number"},
		{`"minor":0`, `"minor":1000001`, store.CodeInvalid, "1000000"},
		{`"max_seconds":0.015`, `"max_seconds":1e10`, store.CodeInvalid, "max_seconds"},
		{`"scope":"orders/cf",`, ``, store.CodeInvalid, "scope"},
		{`"store":"hbase"`, `"store":"hbase","role":"client"`, store.CodeInvalid, "role"},
	} {
		text := []byte(strings.Replace(goodReport, test.replaced, test.by, 1))
		_, err := ParseReport(text)
		// The schema of this version says nothing of others, and counts characters where bytes are meant.
		isOutside := test.code == store.CodeIncompatible || strings.Contains(test.by, "ü")
		if !isOutside && validate(t, text) == nil {
			t.Errorf("%s: the schema takes it", test.by)
		}
		if store.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %s with %q in it", test.by, err, test.code, test.want)
		}
	}
}

// However a whole number is written, it is the same.
func TestWholeNumbersMayBeWrittenOtherwise(t *testing.T) {
	text := []byte(strings.Replace(goodReport, `[294,1]`, `[2.94e2,1.0]`, 1))
	got, err := ParseReport(text)
	if err != nil || got.Requests[0].Buckets[1] != [2]uint64{294, 1} || validate(t, text) != nil {
		t.Errorf("got %+v, %v", got, err)
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
