package localprotocol

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"sluice.dev/control/internal/store"
)

func TestParseRequest(t *testing.T) {
	tests := []struct {
		name, line string
		id         string
		number     Number
	}{
		{"good", `{"jsonrpc":"2.0","id":1,"method":"set","params":{"a":1}}`, "1", 0},
		{"text as id", `{"jsonrpc":"2.0","id":"x","method":"set"}`, `"x"`, 0},
		{"whole number written otherwise", `{"jsonrpc":"2.0","id":1e3,"method":"set"}`, "1e3", 0},
		{"more members", `{"jsonrpc":"2.0","id":1,"method":"set","trace":7}`, "1", 0},
		{"no JSON", `{`, "null", NumberParse},
		{"no UTF-8", "{\"id\":\"\xff\"}", "null", NumberParse},
		{"two objects", `{} {}`, "null", NumberParse},
		{"batch", ` [{"jsonrpc":"2.0","id":1,"method":"set"}]`, "null", NumberRequest},
		{"no object", `7`, "null", NumberRequest},
		{"null", `null`, "null", NumberRequest},
		{"no id", `{"jsonrpc":"2.0","method":"set"}`, "null", NumberRequest},
		{"null as id", `{"jsonrpc":"2.0","id":null,"method":"set"}`, "null", NumberRequest},
		{"fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"set"}`, "null", NumberRequest},
		{"too large an id", `{"jsonrpc":"2.0","id":9007199254740992,"method":"set"}`, "null", NumberRequest},
		{"huge id", `{"jsonrpc":"2.0","id":1e999,"method":"set"}`, "null", NumberRequest},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"set"}`, "1", NumberRequest},
		{"no version", `{"id":1,"method":"set"}`, "1", NumberRequest},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "1", NumberRequest},
		{"another case", `{"jsonrpc":"2.0","id":1,"Method":"set"}`, "1", NumberRequest},
		{"params by place", `{"jsonrpc":"2.0","id":1,"method":"set","params":[1]}`, "1", NumberInvalid},
		{"null as params", `{"jsonrpc":"2.0","id":1,"method":"set","params":null}`, "1", NumberInvalid},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			parsed, failure := ParseRequest([]byte(test.line))
			if string(parsed.ID) != test.id {
				t.Errorf("the id is %s, not %s", parsed.ID, test.id)
			}
			if failure == nil && test.number != 0 || failure != nil && failure.Number != test.number {
				t.Errorf("the failure is %v, not %d", failure, test.number)
			}
		})
	}
}

// A line is taken exactly if the schema takes it, and what is taken can be sent again.
func FuzzParseRequest(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"set","params":{"kind":"flush","setting":{"name":"hold"}}}`,
		`{"jsonrpc":"2.0","id":"a\ud800","method":"snapshot"}`,
		`{"jsonrpc":"2.0","id":1.0,"method":"","params":{}}`,
		`{"jsonrpc":"2.0","id":-0,"id":2,"method":"a"}`,
		`[]`, `null`, `"`, "\xff", `{"id":1e999}`, ` {"jsonrpc":"2.0"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		parsed, failure := ParseRequest(line)
		if !utf8.Valid(line) {
			if failure == nil || failure.Number != NumberParse {
				t.Fatalf("not UTF-8, but %v", failure)
			}
			return
		}
		if inSchema := Validate("request", line); (inSchema == nil) != (failure == nil) {
			t.Fatalf("%q: the schema says %v, the parser %v", line, inSchema, failure)
		}
		if failure != nil {
			return
		}
		again, err := json.Marshal(parsed)
		if err != nil {
			t.Fatalf("%q cannot be sent again: %v", line, err)
		}
		if _, failure := ParseRequest(again); failure != nil {
			t.Fatalf("%q became %q: %v", line, again, failure)
		}
	})
}

// No params make the server's parser panic, and those that are taken keep their meaning.
func FuzzParams(f *testing.F) {
	f.Add("set", []byte(`{"kind":"compaction","setting":{"name":"tier","text":"ssd"},"owner":"o","time_to_live_seconds":1e9}`))
	f.Add("set", []byte(`{"kind":"flush","setting":{"name":"priority","number":1e308},"owner":"o","time_to_live_seconds":0.001}`))
	f.Add("start", []byte(`{"kind":"flush","owner":"\u00b5","time_to_live_seconds":1,"replace":true,"scope":"a"}`))
	f.Add("start", []byte(`{"kind":"compaction","owner":"o","time_to_live_seconds":1,"variant":"major"}`))
	f.Add("abort", []byte(`{"kind":"compaction","task":"c-7","owner":"o"}`))
	f.Add("clear", []byte(`{"owner":"o","kind":"flush","scope":""}`))
	f.Add("describe", []byte(`{"protocol_version":{"major":1.0,"minor":0}}`))
	f.Fuzz(func(t *testing.T, method string, text []byte) {
		switch method {
		case methodSet, methodStart:
			params, err := readParams[orderParams](method, text)
			if err != nil {
				return
			}
			again, err := json.Marshal(newOrderParams(params.order()))
			if err != nil {
				t.Fatal(err)
			}
			params, err = readParams[orderParams](method, again)
			if err != nil && params.order().Validate(true) == nil {
				t.Fatalf("%s became %s: %v", text, again, err)
			}
		case methodClear:
			_, _ = readParams[clearParams](method, text)
		case methodAbort:
			params, err := readParams[abortParams](method, text)
			if err == nil && store.Abortion(params).Task == "" {
				t.Fatalf("%s names no task", text)
			}
		case methodDescribe:
			_, _ = readParams[describeParams](method, text)
			_ = checkClientVersion(text)
		}
	})
}

func TestParseResponse(t *testing.T) {
	tests := []struct {
		name, line string
		result     string
		number     Number
		fails      bool
	}{
		{"result", `{"jsonrpc":"2.0","id":7,"result":{"a":1},"more":1}`, `{"a":1}`, 0, false},
		{"id written otherwise", `{"jsonrpc":"2.0","id":7.0,"result":{}}`, `{}`, 0, false},
		{"error", `{"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"m","data":{"code":"conflict","hint":"h"}}}`, "null", NumberConflict, true},
		{"error about what could not be read", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, "null", NumberParse, true},
		{"another id", `{"jsonrpc":"2.0","id":8,"result":{}}`, "null", 0, true},
		{"error with another id", `{"jsonrpc":"2.0","id":8,"error":{"code":-32002,"message":"m"}}`, "null", 0, true},
		{"result without id", `{"jsonrpc":"2.0","id":null,"result":{}}`, "null", 0, true},
		{"both", `{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":-32002,"message":"m"}}`, "null", 0, true},
		{"neither", `{"jsonrpc":"2.0","id":7}`, "null", 0, true},
		{"no JSON", `}`, "null", 0, true},
		{"no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"\xff\":1}}", "null", 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result, err := parseResponse([]byte(test.line), askedID)
			if shown(result) != test.result || (err != nil) != test.fails {
				t.Errorf("the result is %v, %v", result, err)
			}
			var answered *Error
			if errors.As(err, &answered) != (test.number != 0) {
				t.Fatalf("the error is %v", err)
			}
			if answered != nil && answered.Number != test.number {
				t.Errorf("the number is %d, not %d", answered.Number, test.number)
			}
		})
	}
}

// No answer makes the client panic, and it is taken exactly if the schema takes it and it is one to the
// request.
func FuzzParseResponse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"result":{"lease":{"kind":"flush","scope":"","setting":{"name":"hold"},"owner":"o","time_left_seconds":1}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":7.0,"result":{"cleared":1e3}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"result":{"tasks":[],"debts":[],"leases":[],"latencies":[],"figures":{"a":1e308}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"result":{"protocol_version":{"major":2,"minor":0}},"id":1e400}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":{"code":"invalid"}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		result, err := parseResponse(line, askedID)
		var answered *Error
		taken := err == nil || errors.As(err, &answered)
		var document any
		valid := utf8.Valid(line) && Validate("response", line) == nil && json.Unmarshal(line, &document) == nil &&
			isAnswer(document)
		if taken != valid {
			t.Fatalf("%q: valid is %v, the parser says %v", line, valid, err)
		}
		_, _ = readResult(methodDescribe, result, readDescription)
		_, _ = readResult(methodSnapshot, result, readSnapshot)
	})
}
