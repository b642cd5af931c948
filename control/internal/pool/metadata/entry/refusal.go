package entry

import (
	"errors"
	"fmt"

	"sluice.dev/control/internal/store"
)

// Reason is why something is refused.
type Reason string

// The reasons.
const (
	// Invalid is a request that is wrong as it is.
	Invalid Reason = "invalid"
	// Fenced is an epoch that is not that of the lease with the longest path that covers the path.
	Fenced Reason = "fenced"
	// LeaseHeld is a lease on the path, or on a path below one that is to move or go.
	LeaseHeld Reason = "lease-held"
	// NotFound is a volume, path, file or lease that is not there.
	NotFound Reason = "not-found"
	// Exists is what is there already.
	Exists Reason = "exists"
	// NotEmpty is a volume or directory with something in it.
	NotEmpty Reason = "not-empty"
	// NotDirectory is a file where a directory should be.
	NotDirectory Reason = "not-directory"
	// IsDirectory is a directory where a file should be.
	IsDirectory Reason = "is-directory"
	// Sealed is a change for open files alone, of one that is sealed.
	Sealed Reason = "sealed"
	// Open is a change for sealed files alone, of one that is open.
	Open Reason = "open"
	// Shorter is a length that is less than what is on the disks.
	Shorter Reason = "shorter"
	// OtherServer is a part that is on another server than its change says.
	OtherServer Reason = "other-server"
	// Limit is one more than there may be.
	Limit Reason = "limit"
	// OldRequest is a request whose answer is no longer kept; it is not done again.
	OldRequest Reason = "old-request"
	// NotLeader is an agent that is not the leader; a change may have been made all the same.
	NotLeader Reason = "not-leader"
	// Unavailable is an agent that stops or cannot go on, or that does not answer.
	Unavailable Reason = "unavailable"
)

// codes are those of package store that the reasons come under.
var codes = map[Reason]store.Code{
	Invalid: store.CodeInvalid, Fenced: store.CodeRefused, LeaseHeld: store.CodeConflict, NotFound: store.CodeNotFound,
	Exists: store.CodeConflict, NotEmpty: store.CodeRefused, NotDirectory: store.CodeRefused, IsDirectory: store.CodeRefused,
	Sealed: store.CodeRefused, Open: store.CodeRefused, Shorter: store.CodeRefused, OtherServer: store.CodeConflict,
	Limit: store.CodeRefused, OldRequest: store.CodeRefused, NotLeader: store.CodeUnavailable, Unavailable: store.CodeUnavailable,
}

// Reasons lists them all.
func Reasons() []Reason {
	return []Reason{
		Invalid, Fenced, LeaseHeld, NotFound, Exists, NotEmpty, NotDirectory, IsDirectory, Sealed, Open, Shorter,
		OtherServer, Limit, OldRequest, NotLeader, Unavailable,
	}
}

// Refusal is why something was not done. errors.As finds the *store.Error in it.
type Refusal struct {
	Reason  Reason
	Message string
	Hint    string
	// Lease is the one that counts, of Fenced and LeaseHeld; nil if there is none.
	Lease *Lease
	// Leader is the node name of the leader, of NotLeader; empty if none is known.
	Leader string
}

// Refusef makes a Refusal.
func Refusef(reason Reason, format string, arguments ...any) *Refusal {
	return &Refusal{Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// WithHint returns a copy that says what to do.
func (r *Refusal) WithHint(format string, arguments ...any) *Refusal {
	hinted := *r
	hinted.Hint = fmt.Sprintf(format, arguments...)
	return &hinted
}

// WithLease returns a copy that has the lease that counts.
func (r *Refusal) WithLease(lease *Lease) *Refusal {
	with := *r
	with.Lease = lease
	return &with
}

// Error gives the message and the hint, if there is one.
func (r *Refusal) Error() string {
	return r.failure().Error()
}

// Unwrap gives it as an error of package store.
func (r *Refusal) Unwrap() error {
	return r.failure()
}

func (r *Refusal) failure() *store.Error {
	failure := store.Errorf(codes[r.Reason], "%s", r.Message)
	if r.Hint == "" {
		return failure
	}
	return failure.WithHint("%s", r.Hint)
}

// ReasonOf is why an error came about: Unavailable of any that is no Refusal.
func ReasonOf(err error) Reason {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Reason
	}
	return Unavailable
}

func invalidf(format string, arguments ...any) *Refusal {
	return Refusef(Invalid, format, arguments...).WithHint("Correct the request.")
}

func asRefusal(err error) error {
	if err == nil {
		return nil
	}
	return invalidf("%s", err.Error())
}
