package localprotocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

const jsonRPCVersion = "2.0"

// maxIDCharacters bounds an id that is a string.
const maxIDCharacters = 64

// Request is a request as far as it does not depend on its method.
type Request struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// response has either a result or an error.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// nullID is the id of a response to what has none.
func nullID() json.RawMessage {
	return json.RawMessage("null")
}

// sentRequest is a request as a client sends it.
type sentRequest struct {
	JSONRPC string `json:"jsonrpc"`
	ID      uint64 `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// ParseRequest reads a line. The request has the id that was sent, or null, also where there is an
// error.
func ParseRequest(line []byte) (Request, *Error) {
	parsed := Request{JSONRPC: jsonRPCVersion, ID: nullID(), Params: json.RawMessage("{}")}
	members, failure := parseObject(line)
	if failure != nil {
		return parsed, failure
	}
	if !isID(members["id"]) {
		return parsed, NewError(NumberRequest,
			"a request needs an id: a whole number of at most 2^53-1, or a text of at most 64 characters",
			"Notifications are not taken: every request is answered.")
	}
	parsed.ID = members["id"]
	if text, isText := textOf(members["jsonrpc"]); !isText || text != jsonRPCVersion {
		return parsed, NewError(NumberRequest, `the member "jsonrpc" must be "2.0"`, "")
	}
	method, isText := textOf(members["method"])
	if !isText {
		return parsed, NewError(NumberRequest, `the member "method" must be the name of a method`, "")
	}
	parsed.Method = method
	params, given := members["params"]
	if !given {
		return parsed, nil
	}
	if !startsWith(params, '{') {
		return parsed, NewError(NumberInvalid, `the member "params" must be an object`, "Params go by name.")
	}
	parsed.Params = params
	return parsed, nil
}

// parseObject reads the members of a line that is one JSON object. Their names are compared exactly,
// which json.Unmarshal into a struct would not do.
func parseObject(line []byte) (map[string]json.RawMessage, *Error) {
	if !utf8.Valid(line) {
		return nil, NewError(NumberParse, "the line is not UTF-8", "")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(line, &whole); err != nil {
		return nil, NewError(NumberParse, "the line is not JSON: "+err.Error(), "Send one JSON object on one line.")
	}
	if startsWith(whole, '[') {
		return nil, NewError(NumberRequest, "batches are not taken", "Send one JSON object on each line.")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(whole, &members); err != nil || members == nil {
		return nil, NewError(NumberRequest, "the line is not a JSON object", "Send one JSON object on each line.")
	}
	return members, nil
}

func startsWith(text json.RawMessage, character byte) bool {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == character
}

func textOf(member json.RawMessage) (string, bool) {
	if !startsWith(member, '"') {
		return "", false
	}
	var text string
	err := json.Unmarshal(member, &text)
	return text, err == nil
}

func isID(member json.RawMessage) bool {
	if text, isText := textOf(member); isText {
		return utf8.RuneCountInString(text) <= maxIDCharacters
	}
	if len(member) == 0 || bytes.Equal(member, nullID()) {
		return false
	}
	var number count
	return json.Unmarshal(member, &number) == nil
}

// reply is what a response says, its own form being right.
type reply struct {
	id      any
	result  map[string]any
	failure *Error
}

// parseResponse reads the answer to the request with an id. An *Error is what the peer answered, any
// other error means that it does not speak this protocol.
func parseResponse(line []byte, id uint64) (map[string]any, error) {
	if !utf8.Valid(line) {
		return nil, errors.New("the answer is not UTF-8")
	}
	var document any
	if err := json.Unmarshal(line, &document); err != nil {
		return nil, fmt.Errorf("the answer is no JSON-RPC response: %w", err)
	}
	answered, err := readObject(document, readReply)
	if err != nil {
		return nil, fmt.Errorf("the answer is no JSON-RPC response: %s", shorten(err.Error()))
	}
	// A peer that could not read a request could not read its id either.
	unread := answered.failure != nil && answered.id == nil
	if !unread && answered.id != float64(id) {
		return nil, fmt.Errorf("the answer has the id %s, not %d", shown(answered.id), id)
	}
	if answered.failure != nil {
		return nil, answered.failure
	}
	return answered.result, nil
}

// readReply leaves the form of the id to whom it is compared by.
func readReply(m *members) reply {
	m.mustHave("id", true)
	if m.values["jsonrpc"] != jsonRPCVersion {
		m.refuse("jsonrpc", "%q", jsonRPCVersion)
	}
	if m.has("error") {
		m.mustHave("result", false)
		return reply{id: m.values["id"], failure: objectAt(m, "error", readError)}
	}
	result := objectAt(m, "result", func(result *members) map[string]any { return result.values })
	return reply{id: m.values["id"], result: result}
}
