package wire

import (
	"context"
	"errors"
	"io"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/control/internal/store"
)

const (
	// errorDomain and a reason of statusForms mark a status that a part of Sluice made.
	errorDomain = "sluice.dev"
	hintKey     = "hint"
)

type statusForm struct {
	grpc codes.Code
	// reason is the code itself, in the form that errdetails.ErrorInfo prescribes.
	reason string
}

// statusForms has a row for each code of package store.
//
// A conflict is ALREADY_EXISTS, since the lease of another owner does exist; ABORTED invites to try the
// same again, which helps nobody until that owner lets go. An incompatible peer and a refusal by the
// store share FAILED_PRECONDITION, as both last until something else changes; the reason tells them
// apart.
var statusForms = map[store.Code]statusForm{
	store.CodeInvalid:      {codes.InvalidArgument, "INVALID"},
	store.CodeUnsupported:  {codes.Unimplemented, "UNSUPPORTED"},
	store.CodeConflict:     {codes.AlreadyExists, "CONFLICT"},
	store.CodeRefused:      {codes.FailedPrecondition, "REFUSED"},
	store.CodeNotFound:     {codes.NotFound, "NOT_FOUND"},
	store.CodeUnavailable:  {codes.Unavailable, "UNAVAILABLE"},
	store.CodeForbidden:    {codes.PermissionDenied, "FORBIDDEN"},
	store.CodeIncompatible: {codes.FailedPrecondition, "INCOMPATIBLE"},
}

// plainCodes is for statuses that Sluice did not make, such as those of the gRPC library; what has no
// row is unavailable.
var plainCodes = map[codes.Code]store.Code{
	codes.InvalidArgument:    store.CodeInvalid,
	codes.OutOfRange:         store.CodeInvalid,
	codes.Unimplemented:      store.CodeUnsupported,
	codes.AlreadyExists:      store.CodeConflict,
	codes.FailedPrecondition: store.CodeRefused,
	codes.ResourceExhausted:  store.CodeRefused,
	codes.NotFound:           store.CodeNotFound,
	codes.PermissionDenied:   store.CodeForbidden,
	codes.Unauthenticated:    store.CodeForbidden,
}

// Status gives an error as a gRPC status, whose details keep the exact code and the hint of a
// *store.Error. Errors that have a status already are returned as they are; contexts that ended are
// CANCELLED and DEADLINE_EXCEEDED; anything else is UNKNOWN.
func Status(err error) error {
	var failure *store.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return statusOf(failure, err)
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, sentence(err.Error()))
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, sentence(err.Error()))
	}
	if _, isStatus := status.FromError(err); isStatus {
		return err
	}
	return status.Error(codes.Unknown, sentence(err.Error()))
}

// statusOf takes the code from the failure. What may be wrapped around it is the message, and has the
// hint in it already.
func statusOf(failure *store.Error, err error) error {
	message, hint := failure.Message, failure.Hint
	if err != error(failure) {
		message, hint = err.Error(), ""
	}
	form, known := statusForms[failure.Code]
	if !known {
		form = statusForm{codes.Unknown, "UNKNOWN"}
	}
	info := &errdetails.ErrorInfo{Reason: form.reason, Domain: errorDomain}
	if hint != "" {
		info.Metadata = map[string]string{hintKey: sentence(hint)}
	}
	plain := status.New(form.grpc, sentence(message))
	detailed, detailErr := plain.WithDetails(info)
	if detailErr != nil {
		return plain.Err()
	}
	return detailed.Err()
}

// Error turns what a call returned back into a *store.Error. The status of the call stays within reach
// of status.Code, and errors.Is finds context.Canceled and context.DeadlineExceeded. nil, io.EOF and
// errors that are of package store already are returned as they are.
func Error(err error) error {
	var failure *store.Error
	if err == nil || err == io.EOF || errors.As(err, &failure) {
		return err
	}
	received, isStatus := status.FromError(err)
	if !isStatus {
		return store.Errorf(store.CodeUnavailable, "%w", err)
	}
	answer := &answer{received}
	for _, detail := range received.Details() {
		info, isInfo := detail.(*errdetails.ErrorInfo)
		if isInfo && info.GetDomain() == errorDomain {
			return errorOf(answer, info)
		}
	}
	code, known := plainCodes[received.Code()]
	if !known {
		code = store.CodeUnavailable
	}
	return store.Errorf(code, "%w", answer)
}

func errorOf(answer *answer, info *errdetails.ErrorInfo) error {
	failure := store.Errorf(codeOf(info.GetReason()), "%w", answer)
	if hint := info.GetMetadata()[hintKey]; hint != "" {
		return failure.WithHint("%s", hint)
	}
	return failure
}

// codeOf gives the code of a reason; one that only a newer version has is unavailable, as for any error
// that is not understood.
func codeOf(reason string) store.Code {
	for code, form := range statusForms {
		if form.reason == reason {
			return code
		}
	}
	return store.CodeUnavailable
}

// answer is the status that a call ended with, as the cause of a *store.Error: its text is the message
// alone, without the words that the gRPC library puts before it.
type answer struct {
	received *status.Status
}

func (a *answer) Error() string {
	return a.received.Message()
}

// GRPCStatus is what status.FromError looks for.
func (a *answer) GRPCStatus() *status.Status {
	return a.received
}

// Is compares with what ends a context, for the gRPC library keeps only its code.
func (a *answer) Is(target error) bool {
	switch target {
	case context.Canceled:
		return a.received.Code() == codes.Canceled
	case context.DeadlineExceeded:
		return a.received.Code() == codes.DeadlineExceeded
	default:
		return false
	}
}
