package localprotocol

import (
	"errors"
	"strings"

	"sluice.dev/control/internal/store"
)

// Number is the code of a JSON-RPC error.
type Number int

// The numbers of errors: those of JSON-RPC, of which NumberInvalid is store.CodeInvalid as well, and
// one for each other store.Code.
const (
	NumberParse          Number = -32700
	NumberRequest        Number = -32600
	NumberMethodNotFound Number = -32601
	NumberInvalid        Number = -32602
	NumberInternal       Number = -32603
	NumberUnsupported    Number = -32001
	NumberConflict       Number = -32002
	NumberRefused        Number = -32003
	NumberNotFound       Number = -32004
	NumberUnavailable    Number = -32005
	NumberForbidden      Number = -32006
	NumberIncompatible   Number = -32007
)

// Error is an error as a response carries it.
type Error struct {
	Number  Number     `json:"code"`
	Message string     `json:"message"`
	Data    *ErrorData `json:"data,omitempty"`
}

// ErrorData is what a response says of an error beyond JSON-RPC.
type ErrorData struct {
	Code store.Code `json:"code"`
	Hint string     `json:"hint,omitempty"`
	// Reason is a word for programs, where a protocol has more of them than codes.
	Reason string `json:"reason,omitempty"`
}

// maxErrorBytes bounds what an error repeats of the input that it is about.
const maxErrorBytes = 1000

// NewError makes an error that can be sent, whose message is shortened to what a line has room for.
func NewError(number Number, message, hint string) *Error {
	return &Error{
		Number:  number,
		Message: shorten(message),
		Data:    &ErrorData{Code: number.Code(), Hint: hint},
	}
}

// WithReason returns a copy that has a reason, if there is one.
func (e *Error) WithReason(reason string) *Error {
	with := *e
	with.Data = &ErrorData{Code: e.Number.Code(), Reason: reason}
	if e.Data != nil {
		with.Data.Hint = e.Data.Hint
	}
	return &with
}

func shorten(message string) string {
	if len(message) <= maxErrorBytes {
		return message
	}
	return strings.ToValidUTF8(message[:maxErrorBytes], "") + "..."
}

// Error gives the message and the hint, if there is one.
func (e *Error) Error() string {
	return e.StoreError().Error()
}

// StoreError is the error in the vocabulary of the drivers.
func (e *Error) StoreError() *store.Error {
	failure := store.Errorf(e.Number.Code(), "%s", e.Message)
	if e.Data == nil || e.Data.Hint == "" {
		return failure
	}
	return failure.WithHint("%s", e.Data.Hint)
}

// Code is the kind of failure that a number stands for. That a peer does not understand what was sent
// makes it incompatible; a number that is not known stands for a failure inside the store.
func (n Number) Code() store.Code {
	switch n {
	case NumberParse, NumberRequest, NumberIncompatible:
		return store.CodeIncompatible
	case NumberInvalid:
		return store.CodeInvalid
	case NumberMethodNotFound, NumberUnsupported:
		return store.CodeUnsupported
	case NumberConflict:
		return store.CodeConflict
	case NumberRefused:
		return store.CodeRefused
	case NumberNotFound:
		return store.CodeNotFound
	case NumberForbidden:
		return store.CodeForbidden
	default:
		return store.CodeUnavailable
	}
}

// NumberOf is the number that stands for a code.
func NumberOf(code store.Code) Number {
	switch code {
	case store.CodeInvalid:
		return NumberInvalid
	case store.CodeUnsupported:
		return NumberUnsupported
	case store.CodeConflict:
		return NumberConflict
	case store.CodeRefused:
		return NumberRefused
	case store.CodeNotFound:
		return NumberNotFound
	case store.CodeForbidden:
		return NumberForbidden
	case store.CodeIncompatible:
		return NumberIncompatible
	default:
		return NumberUnavailable
	}
}

// errorFrom makes an error of a handler fit for a response.
func errorFrom(err error) *Error {
	var ready *Error
	if errors.As(err, &ready) {
		return ready
	}
	var failure *store.Error
	if errors.As(err, &failure) {
		return NewError(NumberOf(failure.Code), failure.Message, failure.Hint)
	}
	return NewError(NumberInternal, err.Error(), "")
}

// The numbers that JSON-RPC sets aside for errors of the protocol and of servers.
const (
	leastErrorNumber = -32768
	mostErrorNumber  = -32000
)

func readError(m *members) *Error {
	failure := &Error{
		Number:  Number(m.whole("code", leastErrorNumber, mostErrorNumber)),
		Message: shorten(m.text("message", 1, MaxLineBytes)),
	}
	if m.has("data") {
		failure.Data = objectAt(m, "data", readErrorData)
	}
	return failure
}

func readErrorData(m *members) *ErrorData {
	data := &ErrorData{Code: store.Code(m.text("code", 1, MaxLineBytes))}
	if isKnown := NumberOf(data.Code).Code() == data.Code; !isKnown {
		m.refuse("code", "the word for a code")
	}
	if m.has("hint") {
		data.Hint = m.text("hint", 0, MaxLineBytes)
	}
	return data
}
