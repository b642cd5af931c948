package store

import (
	"errors"
	"fmt"
)

// Code says what kind of failure an Error is, and so what a caller can do about it.
type Code string

// The kinds of failures. The local protocol and gRPC have one code for each.
const (
	// CodeInvalid is an order that can never be obeyed as it is; nothing was changed.
	CodeInvalid Code = "invalid"
	// CodeUnsupported is an order that this store, or this version of it, cannot obey.
	CodeUnsupported Code = "unsupported"
	// CodeConflict is an order for what another owner has a lease on.
	CodeConflict Code = "conflict"
	// CodeRefused is an order that the store's own limits forbid at present.
	CodeRefused Code = "refused"
	// CodeNotFound is an order for a task, scope or instance that is not there.
	CodeNotFound Code = "not-found"
	// CodeUnavailable is a store that does not answer.
	CodeUnavailable Code = "unavailable"
	// CodeForbidden is a caller without the rights.
	CodeForbidden Code = "forbidden"
	// CodeIncompatible is a peer of a version that does not go with this one.
	CodeIncompatible Code = "incompatible"
)

// Error is a failure with a code, and, where there is something to do about it, a hint.
type Error struct {
	Code    Code
	Message string
	Hint    string
	cause   error
}

// Errorf makes an Error; %w keeps its cause.
func Errorf(code Code, format string, arguments ...any) *Error {
	wrapped := fmt.Errorf(format, arguments...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// Invalidf makes an Error of bad input.
func Invalidf(format string, arguments ...any) *Error {
	return Errorf(CodeInvalid, format, arguments...)
}

// WithHint returns a copy that says what to do.
func (e *Error) WithHint(format string, arguments ...any) *Error {
	hinted := *e
	hinted.Hint = fmt.Sprintf(format, arguments...)
	return &hinted
}

// Error gives the message and the hint, if there is one.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

// Unwrap gives the cause, nil if there is none.
func (e *Error) Unwrap() error {
	return e.cause
}

// CodeOf is the code of an error: CodeUnavailable for any that is not an Error.
func CodeOf(err error) Code {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	return CodeUnavailable
}
