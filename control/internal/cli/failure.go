package cli

import (
	"errors"
	"fmt"
	"strings"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/store"
)

// Exit codes, which docs/cli.md promises to scripts.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitRefused     = 3
	exitUnreachable = 4
)

// usageError is a command that was called in a way that cannot work, whatever the cluster.
type usageError struct {
	// command is its path, such as "sluice policy show".
	command string
	cause   error
}

func (e *usageError) Error() string { return e.cause.Error() }

func (e *usageError) Unwrap() error { return e.cause }

// errReported ends a command that has told already what went wrong.
var errReported = errors.New("reported")

func exitCode(err error) int {
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	var failure *store.Error
	if !errors.As(err, &failure) {
		return exitFailure
	}
	switch failure.Code {
	case store.CodeConflict, store.CodeRefused, store.CodeForbidden:
		return exitRefused
	case store.CodeUnavailable:
		return exitUnreachable
	default:
		return exitFailure
	}
}

// writeFailure writes the message, the hint and the next step, each on a line of its own.
func (e Environment) writeFailure(err error) {
	if errors.Is(err, errReported) {
		return
	}
	lines := []string{"sluice: " + messageOf(err)}
	if hint := hintOf(err); hint != "" {
		lines = append(lines, "  hint: "+hint)
	}
	if next := nextStep(err); next != "" {
		lines = append(lines, "  next: "+next)
	}
	fmt.Fprintln(e.Stderr, strings.Join(lines, "\n"))
}

// messageOf leaves out the hint, which has a line of its own.
func messageOf(err error) string {
	message := err.Error()
	if hint := hintOf(err); hint != "" {
		message = strings.Replace(message, " ("+hint+")", "", 1)
	}
	return listing.Printable(message)
}

func hintOf(err error) string {
	var failure *store.Error
	if !errors.As(err, &failure) {
		return ""
	}
	return listing.Printable(failure.Hint)
}

func nextStep(err error) string {
	var usage *usageError
	if errors.As(err, &usage) {
		return usage.command + " --help"
	}
	var failure *store.Error
	if !errors.As(err, &failure) {
		return ""
	}
	switch failure.Code {
	case store.CodeConflict:
		return "sluice get leases shows who holds it; --replace takes it over"
	case store.CodeUnsupported:
		return "sluice get stores -o wide shows what each store can do"
	case store.CodeNotFound:
		return "sluice get stores shows what there is"
	case store.CodeForbidden:
		return "sluice config view shows whose certificate is used; orders need the role operator"
	default:
		return ""
	}
}
