package localprotocol

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// takers say whether this package takes a message, by the name of its schema.
func takers() map[string]func(document any) error {
	return map[string]func(document any) error{
		"describe-result": taker(readDescription),
		"snapshot-result": taker(readSnapshot),
		"set-result":      taker(readGiven),
		"clear-result":    taker(readCleared),
		"start-result":    taker(readNothing),
		"abort-result":    taker(readNothing),
		"response":        takeResponse,
	}
}

func taker[Result any](read func(*members) Result) func(document any) error {
	return func(document any) error {
		_, err := readObject(document, read)
		return err
	}
}

const askedID = 7

// takeResponse takes an error that was answered as well.
func takeResponse(document any) error {
	line, err := json.Marshal(document)
	if err != nil {
		return err
	}
	_, err = parseResponse(line, askedID)
	var answered *Error
	if errors.As(err, &answered) {
		return nil
	}
	return err
}

// isAnswer says whether a response that is valid by its schema is one to the request with askedID.
func isAnswer(response any) bool {
	members := response.(map[string]any)
	_, failed := members["error"]
	return members["id"] == float64(askedID) || failed && members["id"] == nil
}

// checkAgreement compares what this package takes with what the schema does.
func checkAgreement(t *testing.T, what, schema string, document any) {
	t.Helper()
	compiled, err := ownSchemas.compiled()
	if err != nil {
		t.Fatal(err)
	}
	taken, complaint := takers()[schema](document), compiled[schema].Validate(document)
	if schema == "response" && complaint == nil && !isAnswer(document) {
		complaint = errors.New("of another request")
	}
	if (taken == nil) != (complaint == nil) {
		t.Errorf("%s, %s: the schema says %v, this package %v", schema, what, complaint, taken)
	}
}

// examples have every member that there is, by the names of their schemas.
func examples() map[string][]string {
	const snapshot = `{
		"tasks": [
			{"id": "a", "kind": "flush", "scope": "", "state": "held", "phase": "", "bytes_done": 1, "bytes_total": 2,
				"rate_bytes_per_second": 0.5, "throttled_seconds": 0, "age_seconds": 1e9}
		],
		"debts": [
			{"kind": "cache", "scope": "t", "bytes": 0, "trigger_bytes": 0, "limit_bytes": 9007199254740991, "files": 1e3,
				"estimated_recovery_seconds": 3}
		],
		"leases": [
			{"kind": "new", "scope": "µ", "setting": {"name": "new", "number": -1e300, "text": ""}, "owner": "o", "time_left_seconds": 0},
			{"kind": "flush", "scope": "", "setting": {"name": "rate_bytes_per_second", "number": 1}, "owner": "o", "time_left_seconds": 0},
			{"kind": "flush", "scope": "", "setting": {"name": "tier", "text": "ssd"}, "owner": "o", "time_left_seconds": 0},
			{"kind": "flush", "scope": "", "setting": {"name": "stock"}, "owner": "o", "time_left_seconds": 0}
		],
		"latencies": [
			{"class": "read", "age_seconds": 0, "interval_seconds": 1, "count": 1, "errors": 0, "mean_seconds": 0.1,
				"p50_seconds": 0.1, "p99_seconds": 0.1, "p999_seconds": 0.1, "max_seconds": 0.1}
		],
		"scope_latencies": [
			{"scope": "k.t", "class": "write", "age_seconds": 0, "interval_seconds": 1, "count": 1, "errors": 0, "mean_seconds": 0.1,
				"p50_seconds": 0.1, "p99_seconds": 0.2, "p999_seconds": 0.1, "max_seconds": 0.1}
		],
		"figures": {"written_bytes_total": -1.5}
	}`
	return map[string][]string{
		"describe-result": {`{"protocol_version": {"major": 1, "minor": 7}, "store": "s", "instance": "I", "store_version": "",
			"plugin_version": "1", "capabilities": [{"kind": "flush", "settings": ["hold", "full"], "can_start": true},
				{"kind": "cache", "settings": [], "can_start": true, "variants": ["minor", "major"], "can_abort": true}],
			"max_time_to_live_seconds": 60}`},
		"snapshot-result": {snapshot},
		"set-result": {`{"lease": {"kind": "flush", "scope": "", "setting": {"name": "duration_seconds", "number": 0}, "owner": "o",
			"time_left_seconds": 1}}`},
		"clear-result": {`{"cleared": 1}`},
		"start-result": {`{}`},
		"abort-result": {`{}`},
		"response": {
			`{"jsonrpc": "2.0", "id": 7, "result": {}}`,
			`{"jsonrpc": "2.0", "id": null, "error": {"code": -32002, "message": "m", "data": {"code": "conflict", "hint": ""}}}`,
		},
	}
}

// oddTexts and oddValues stand at the edges of what some member allows.
func oddTexts() []string {
	texts := []string{
		"", "a", "A", "1", "-", "_", ".", "-a", "a-b", "a_b", "a.b", "a b", "a\n", "a\u009f", "é", "aé", "2.0", "new",
		"hold", "rate_bytes_per_second", "duration_seconds", "tier", "conflict", "result", "error",
	}
	for _, length := range []int{63, 64, 128, 129, 256, 257, 1024, 1025} {
		texts = append(texts, strings.Repeat("a", length))
	}
	return append(texts, strings.Repeat("µ", 63), strings.Repeat("µ", 1024), strings.Repeat("µ", 1025))
}

func oddValues() []any {
	values := []any{
		nil, true, false, []any{}, []any{"a"}, []any{"a", "a"}, []any{"a", "b"}, []any{"a", 1.0}, []any{map[string]any{}},
		map[string]any{}, map[string]any{"a": 1.0}, map[string]any{"a": "b"}, map[string]any{"name": "full"},
	}
	for _, number := range []float64{
		-1e300, -32769, -32768, -32000, -31999, -1, 0, 0.0009, 0.001, 0.5, 1, 1.5, 7, 1e6, 1e6 + 1, 1e9, 1e9 + 1,
		maxCount, maxCount + 1, 1e300,
	} {
		values = append(values, number)
	}
	for _, text := range oddTexts() {
		values = append(values, text)
	}
	return values
}

// change changes one thing in a document after the other, and calls try with each of them.
func change(where string, document any, try func(what string)) {
	switch parent := document.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(parent)) {
			before := parent[name]
			replace(where+"/"+name, func(value any) { parent[name] = value }, before, try)
			delete(parent, name)
			try(where + "/" + name + " left out")
			parent[name] = before
		}
		addMembers(where, parent, try)
	case []any:
		for i, before := range parent {
			replace(where+"/item", func(value any) { parent[i] = value }, before, try)
		}
	}
}

func replace(where string, set func(any), before any, try func(what string)) {
	for _, value := range oddValues() {
		set(value)
		try(where + " = " + shown(value))
	}
	set(before)
	change(where, before, try)
}

func addMembers(where string, parent map[string]any, try func(what string)) {
	for _, name := range append(oddTexts(), "Kind", "number", "text") {
		if _, taken := parent[name]; taken {
			continue
		}
		parent[name] = 1.0
		try(where + " with " + shown(name))
		delete(parent, name)
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return document
}

// What a client takes is what the schemas take, also where one thing is not as it should be.
func TestResultsAreThoseOfTheSchemas(t *testing.T) {
	for schema, texts := range examples() {
		for _, text := range texts {
			document := decode(t, text)
			if err := takers()[schema](document); err != nil {
				t.Errorf("%s: %s: %v", schema, text, err)
			}
			change("", document, func(what string) { checkAgreement(t, what, schema, document) })
		}
	}
}

// Whatever a plug-in sends is taken exactly if the schema takes it.
func FuzzResults(f *testing.F) {
	for schema, texts := range examples() {
		for _, text := range texts {
			f.Add(schema, []byte(text))
		}
	}
	f.Add("snapshot-result", []byte(`{"Tasks":[],"tasks":7,"tasks":[],"debts":[],"leases":[],"latencies":[],"figures":{"A":1}}`))
	f.Add("clear-result", []byte(`{"cleared":1e-400}`))
	f.Add("set-result", []byte(`[]`))
	f.Fuzz(func(t *testing.T, schema string, text []byte) {
		var document any
		if takers()[schema] == nil || json.Unmarshal(text, &document) != nil {
			return
		}
		checkAgreement(t, string(text), schema, document)
	})
}

func TestResultsSayWhatIsWrong(t *testing.T) {
	const before = `{"jsonrpc":"2.0","id":7,"result":`
	tests := []struct {
		name, from, to string
		want           string
	}{
		{"missing", `"age_seconds": 1e9`, `"a": 0`, `tasks/0: age_seconds: is missing`},
		{"null", `"bytes_done": 1`, `"bytes_done": null`, `tasks/0: bytes_done: must be a number of 0 to 9.007199254740991e+15, not null`},
		{"a fraction", `"files": 1e3`, `"files": 0.5`, `debts/0: files: must be a whole number, not 0.5`},
		{"out of range", `"p99_seconds": 0.1`, `"p99_seconds": -1`, `latencies/0: p99_seconds: must be a number of 0 to 1e+09, not -1`},
		{"another form", `"state": "held"`, `"state": "Held"`, `tasks/0: state: must be a name of at most 63 of the characters`},
		{"control characters", `"scope": "µ"`, `"scope": "\n"`, `leases/0: scope: must be a text without control characters, not "\n"`},
		{"a setting without its number", `"number": 1}`, `"a": 1}`, `leases/1: setting: number: is missing`},
		{"a setting with a number too much", `"name": "stock"`, `"name": "stock", "number": 1`, `leases/3: setting: number: must be left out`},
		{"a setting out of range", `"number": 1}`, `"number": 0}`, `rate_bytes_per_second must be a number of at least 1, not 0`},
		{"a name of a figure", `"written_bytes_total"`, `"Written"`, `figures: "Written": must be a name`},
		{"no array", `"figures"`, `"debts": {}, "figures"`, `debts: must be an array, not {}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(examples()["snapshot-result"][0], test.from, test.to, 1)
			result, err := parseResponse([]byte(before+text+"}"), askedID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = readResult(methodSnapshot, result, readSnapshot); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, without %s", err, test.want)
			}
		})
	}
}
