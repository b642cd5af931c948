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

// request is a request as far as it does not depend on its method.
type request struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// response has either a result or an error.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// nullID is the id of a response to what has none.
func nullID() json.RawMessage {
	return json.RawMessage("null")
}

// parseRequest reads a line. The request has the id that was sent, or null, also where there is an
// error.
func parseRequest(line []byte) (request, *Error) {
	parsed := request{JSONRPC: jsonRPCVersion, ID: nullID(), Params: json.RawMessage("{}")}
	members, failure := parseObject(line)
	if failure != nil {
		return parsed, failure
	}
	if !isID(members["id"]) {
		return parsed, newError(NumberRequest,
			"a request needs an id: a whole number of at most 2^53-1, or a text of at most 64 characters",
			"Notifications are not taken: every request is answered.")
	}
	parsed.ID = members["id"]
	if text, isText := textOf(members["jsonrpc"]); !isText || text != jsonRPCVersion {
		return parsed, newError(NumberRequest, `the member "jsonrpc" must be "2.0"`, "")
	}
	method, isText := textOf(members["method"])
	if !isText {
		return parsed, newError(NumberRequest, `the member "method" must be the name of a method`, "")
	}
	parsed.Method = method
	params, given := members["params"]
	if !given {
		return parsed, nil
	}
	if !startsWith(params, '{') {
		return parsed, newError(NumberInvalid, `the member "params" must be an object`, "Params go by name.")
	}
	parsed.Params = params
	return parsed, nil
}

// parseObject reads the members of a line that is one JSON object. Their names are compared exactly,
// which json.Unmarshal into a struct would not do.
func parseObject(line []byte) (map[string]json.RawMessage, *Error) {
	if !utf8.Valid(line) {
		return nil, newError(NumberParse, "the line is not UTF-8", "")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(line, &whole); err != nil {
		return nil, newError(NumberParse, "the line is not JSON: "+err.Error(), "Send one JSON object on one line.")
	}
	if startsWith(whole, '[') {
		return nil, newError(NumberRequest, "batches are not taken", "Send one JSON object on each line.")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(whole, &members); err != nil || members == nil {
		return nil, newError(NumberRequest, "the line is not a JSON object", "Send one JSON object on each line.")
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

// parseResponse reads the answer to the request with an id. An *Error is what the peer answered, any
// other error means that it does not speak this protocol.
func parseResponse(line []byte, id json.RawMessage) (json.RawMessage, error) {
	if !utf8.Valid(line) {
		return nil, errors.New("the answer is not UTF-8")
	}
	if err := Validate("response", line); err != nil {
		return nil, fmt.Errorf("the answer is no JSON-RPC response: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, fmt.Errorf("the answer is no JSON-RPC response: %w", err)
	}
	failure, failed := members["error"]
	// A peer that could not read a request could not read its id either.
	unread := failed && bytes.Equal(members["id"], nullID())
	if !unread && !bytes.Equal(members["id"], id) {
		return nil, fmt.Errorf("the answer has the id %.70s, not %s", members["id"], id)
	}
	if !failed {
		return members["result"], nil
	}
	var answered Error
	if err := json.Unmarshal(failure, &answered); err != nil {
		return nil, fmt.Errorf("the error of the answer cannot be read: %w", err)
	}
	answered.Message = shorten(answered.Message)
	return nil, &answered
}
