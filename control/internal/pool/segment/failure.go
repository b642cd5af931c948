package segment

import (
	"errors"
	"fmt"
)

// Reason is a kind of failure, which decides what a writer or reader does next.
type Reason int

// The kinds of failures. proto/sluice/v1/pool_blocks.proto says what each means.
const (
	Fenced Reason = iota + 1
	Sealed
	Short
	Different
	NotFound
	Full
	Corrupt
	Device
	Invalid
)

// Failure says why a segment was not read or changed.
type Failure struct {
	Reason Reason
	detail string
	cause  error
}

// Failf makes a failure; %w keeps its cause.
func Failf(reason Reason, format string, arguments ...any) *Failure {
	wrapped := fmt.Errorf(format, arguments...)
	return &Failure{Reason: reason, detail: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// Error gives the detail.
func (f *Failure) Error() string {
	return f.detail
}

// Unwrap gives the cause, if there is one.
func (f *Failure) Unwrap() error {
	return f.cause
}

// ReasonOf is why an error came about: 0 of any that is no Failure.
func ReasonOf(err error) Reason {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure.Reason
	}
	return 0
}
