package contract_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/contract"
	"sluice.dev/control/internal/store"
)

// responder answers a line, mostly by passing it on.
type responder = func(line []byte, pass func([]byte) []byte) []byte

func honest(line []byte, pass func([]byte) []byte) []byte {
	return pass(line)
}

// asking changes the params of requests of a method.
func asking(method string, change func(params object)) responder {
	return func(line []byte, pass func([]byte) []byte) []byte {
		return pass(edit(line, func(request object) {
			if request["method"] == method {
				change(within(request, "params"))
			}
		}))
	}
}

// answering changes the responses to requests of a method.
func answering(method string, change func(request, response object)) responder {
	return func(line []byte, pass func([]byte) []byte) []byte {
		return edit(pass(line), func(response object) {
			edit(line, func(request object) {
				if request["method"] == method {
					change(request, response)
				}
			})
		})
	}
}

// instead answers lines that contain something with an answer of its own; none ends the connection.
func instead(part, answer string) responder {
	return func(line []byte, pass func([]byte) []byte) []byte {
		if bytes.Contains(line, []byte(part)) {
			return []byte(answer)
		}
		return pass(line)
	}
}

// doing obeys another request before lines that contain something.
func doing(part, request string, answer responder) responder {
	return func(line []byte, pass func([]byte) []byte) []byte {
		if bytes.Contains(line, []byte(part)) {
			pass([]byte(request))
		}
		return answer(line, pass)
	}
}

// abortTwice takes the second abort of a task as well.
func abortTwice(line []byte, pass func([]byte) []byte) []byte {
	answer := pass(line)
	if bytes.Contains(line, []byte(`"task":"compaction-`)) {
		return []byte(`{"jsonrpc":"2.0","id":7,"result":{}}`)
	}
	return answer
}

func failWith(response object, number int) {
	response["error"] = object{"code": number, "message": "wrong"}
}

const (
	clearFirst  = `{"jsonrpc":"2.0","id":1,"method":"clear","params":{"owner":"contract/first"}}`
	setFirst    = `{"jsonrpc":"2.0","id":1,"method":"set","params":{"kind":"compaction","setting":{"name":"stock"},"owner":"contract/first","time_to_live_seconds":60}}`
	startDenied = `{"jsonrpc":"2.0","id":7,"error":{"code":-32003,"message":"nothing to start"}}`
)

// wrongResponders each break one rule; the check of this name must find it.
func wrongResponders() []struct {
	name, check string
	respond     responder
} {
	return []struct {
		name, check string
		respond     responder
	}{
		{"another instance", "describe", answering("describe", func(_, response object) {
			within(response, "result")["instance"] = "other"
		})},
		{"a word that there is not", "describe", func(line []byte, pass func([]byte) []byte) []byte {
			return bytes.ReplaceAll(pass(line), []byte(`"kind":"compaction"`), []byte(`"kind":"compactions"`))
		}},
		{"kind that is there twice", "describe", answering("describe", func(_, response object) {
			result := within(response, "result")
			if capabilities, there := result["capabilities"].([]any); there {
				result["capabilities"] = append(capabilities, capabilities[0])
			}
		})},
		{"newer minor version refused", "newer-minor-version", instead(`"minor":99`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32007,"message":"1.99 and 1.0"}}`)},
		{"any major version", "other-major-version", asking("describe", func(params object) {
			within(params, "protocol_version")["major"] = 1
		})},
		{"versions not named", "other-major-version", answering("describe", func(_, response object) {
			within(response, "error")["message"] = "another version"
		})},
		{"member missing", "snapshot", answering("snapshot", func(_, response object) {
			delete(within(response, "result"), "figures")
		})},
		{"state that there is not", "snapshot", answering("snapshot", func(_, response object) {
			within(response, "result")["tasks"] = []object{{
				"id": "1", "kind": "compaction", "scope": "", "state": "asleep", "bytes_done": 0, "bytes_total": 0,
				"rate_bytes_per_second": 0, "throttled_seconds": 0, "age_seconds": 0,
			}}
		})},
		{"closed after bad JSON", "malformed-json", instead("hello", "")},
		{"id of what cannot be read", "malformed-json", func(line []byte, pass func([]byte) []byte) []byte {
			return bytes.Replace(pass(line), []byte(`"id":null`), []byte(`"id":1`), 1)
		}},
		{"batch answered", "invalid-request", instead("[{", `{"jsonrpc":"2.0","id":null,"result":{}}`)},
		{"method not looked up", "unknown-method", answering("explode", func(_, response object) {
			failWith(response, -32600)
		})},
		{"word that contradicts the code", "unknown-method", answering("explode", func(_, response object) {
			within(within(response, "error"), "data")["code"] = "conflict"
		})},
		{"ids as floating point", "id-echo", func(line []byte, pass func([]byte) []byte) []byte {
			return bytes.ReplaceAll(pass(line), []byte("9007199254740991"), []byte("9007199254740990"))
		}},
		{"lease not shown", "set", answering("snapshot", func(_, response object) {
			within(response, "result")["leases"] = []object{}
		})},
		{"time to live cut", "renew", asking("set", func(params object) {
			if number, isNumber := params["time_to_live_seconds"].(json.Number); isNumber && number.String() == "60" {
				params["time_to_live_seconds"] = 40
			}
		})},
		{"replacement ignored", "replace-own", asking("set", func(params object) {
			params["setting"] = object{"name": "stock"}
		})},
		{"conflict ignored", "conflict", asking("set", func(params object) { params["replace"] = true })},
		{"take-over refused", "take-over", asking("set", func(params object) { delete(params, "replace") })},
		{"clear of all owners", "clear", doing(`"clear","params":{"owner":"contract/second"`, clearFirst, honest)},
		{"clear without a number", "clear", answering("clear", func(_, response object) {
			within(response, "result")["cleared"] = 0
		})},
		{"lease that ends late", "expiry", asking("set", func(params object) {
			if params["time_to_live_seconds"] == json.Number("1") {
				params["time_to_live_seconds"] = 60
			}
		})},
		{"lease that ends early", "expiry", asking("set", func(params object) {
			if params["time_to_live_seconds"] == json.Number("1") {
				params["time_to_live_seconds"] = 0.01
			}
		})},
		{"lease of a refused start", "start", doing(`"start"`, setFirst, instead(`"start"`, startDenied))},
		{"unknown members ignored", "unknown-members", asking("set", func(params object) { delete(params, "colour") })},
		{"owner invented", "missing-members", asking("start", func(params object) {
			if params["owner"] == nil {
				params["owner"] = "contract/first"
			}
		})},
		{"texts as numbers", "wrong-types", asking("set", func(params object) {
			if params["time_to_live_seconds"] == "5" {
				params["time_to_live_seconds"] = 5
			}
		})},
		{"refused, but obeyed", "out-of-range", doing(`"time_to_live_seconds":-5`, clearFirst, honest)},
		{"refused, but renewed", "out-of-range", doing(`"time_to_live_seconds":-5`, setFirst, honest)},
		{"unsupported taken for invalid", "unsupported", answering("set", func(_, response object) {
			if failure := within(response, "error"); failure["code"] == json.Number("-32001") {
				failWith(response, -32602)
			}
		})},
		{"unknown scope taken for all", "unknown-scope", asking("set", func(params object) { params["scope"] = "" })},
		{"variants of an old version", "describe", answering("describe", func(_, response object) {
			within(within(response, "result"), "protocol_version")["minor"] = 0
		})},
		{"unknown variants ignored", "variant", asking("start", func(params object) {
			if params["variant"] == "no-such-variant" {
				delete(params, "variant")
			}
		})},
		{"variant of a lease ignored", "variant", asking("set", func(params object) { delete(params, "variant") })},
		{"abort of what there is not", "abort-refused", instead("no such task", `{"jsonrpc":"2.0","id":7,"result":{}}`)},
		{"members of an abort ignored", "abort-refused", asking("abort", func(params object) { delete(params, "scope") })},
		{"abort not obeyed", "abort", instead(`"task":"compaction-`, `{"jsonrpc":"2.0","id":7,"result":{}}`)},
		{"abort that ends leases", "abort", doing(`"task":"compaction-`, clearFirst, honest)},
		{"abort of what has ended", "abort", abortTwice},
		{"answers out of order", "answers-in-order", answering("snapshot", func(request, response object) {
			if request["id"] == json.Number("3") {
				response["id"] = 4
			}
		})},
	}
}

// relayOf is a relay that does nothing wrong by itself.
func relayOf(respond responder) relay {
	return relay{respond: respond, mode: 0o660, maxLineBytes: localprotocol.MaxLineBytes}
}

// The relay itself is not what the checks find.
func TestHonestRelayKeepsTheContract(t *testing.T) {
	t.Parallel()
	contract.Run(t.Context(), relayOf(honest).start(t), patience, func(check contract.Check) {
		if check.Outcome != contract.Passed {
			t.Errorf("%s %s: %s", check.Name, check.Outcome, check.Problem)
		}
	})
}

// A store without access to its queue, here with a task in it, refuses to abort what is queued, and keeps the contract.
func TestQueueWithoutAccessKeepsTheContract(t *testing.T) {
	t.Parallel()
	queue := answering("snapshot", func(_, response object) {
		result := within(response, "result")
		if tasks, there := result["tasks"].([]any); there && len(tasks) > 0 {
			queued := maps.Clone(tasks[0].(object))
			queued["id"], queued["state"] = "queued-1", string(store.Queued)
			result["tasks"] = append([]any{queued}, tasks...)
		}
	})
	denied := instead(`"task":"queued-1"`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32003,"message":"it is queued","data":{"hint":"Abort it when it runs."}}}`)
	var seen atomic.Bool
	respond := func(line []byte, pass func([]byte) []byte) []byte {
		answer := queue(line, func(line []byte) []byte { return denied(line, pass) })
		if bytes.Contains(answer, []byte("queued-1")) {
			seen.Store(true)
		}
		return answer
	}
	contract.Run(t.Context(), relayOf(respond).start(t), patience, func(check contract.Check) {
		if check.Name == "abort" && (check.Outcome != contract.Passed || !seen.Load()) {
			t.Errorf("%s %s: %s; the queued task was seen: %v", check.Name, check.Outcome, check.Problem, seen.Load())
		}
	})
}

func TestWrongAnswersAreFound(t *testing.T) {
	for _, wrong := range wrongResponders() {
		t.Run(wrong.name, func(t *testing.T) {
			t.Parallel()
			expectFound(t, relayOf(wrong.respond), wrong.check)
		})
	}
}

func TestWrongConnectionsAreFound(t *testing.T) {
	tests := []struct {
		name, check string
		change      func(*relay)
	}{
		{"open to all", "socket", func(r *relay) { r.mode = 0o666 }},
		{"short lines alone", "longest-line", func(r *relay) { r.maxLineBytes = 64 << 10 }},
		{"lines without bound", "oversized-line", func(r *relay) {
			r.maxLineBytes = 1 << 30
			r.respond = func(line []byte, pass func([]byte) []byte) []byte { return pass(bytes.TrimSpace(line)) }
		}},
		{"one connection at a time", "several-connections", func(r *relay) { r.oneAtATime = true }},
		{"half-closed connections left open", "half-closed", func(r *relay) { r.staysOpen = true }},
		{"unfinished lines obeyed", "unfinished-line", func(r *relay) { r.obeysUnfinished = true }},
		{"end with the first client that leaves", "abandoned-connections", func(r *relay) { r.endsWithClient = true }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wrong := relayOf(honest)
			test.change(&wrong)
			expectFound(t, wrong, test.check)
		})
	}
}

// expectFound makes the checks up to one, which must fail.
func expectFound(t *testing.T, wrong relay, name string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var made []string
	contract.Run(ctx, wrong.start(t), contract.DefaultPatience, func(check contract.Check) {
		made = append(made, check.Name)
		if check.Name != name {
			return
		}
		cancel()
		if check.Outcome != contract.Failed || check.Problem == "" {
			t.Errorf("%s %s: %s", check.Name, check.Outcome, check.Problem)
		}
		t.Log(check.Problem)
	})
	if !slices.Contains(made, name) {
		t.Errorf("there is no check %q: %v", name, made)
	}
}
