// Package contract has the checks that every plug-in must pass that serves the local protocol. They
// speak to its socket and know nothing else of it, so that they run against a plug-in in any language.
//
// They give orders, the mildest that the plug-in offers and for a minute at most, start tasks and abort
// one if that can be ordered, and end what they gave. Run them against a store that nobody depends on.
package contract

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice.dev/control/internal/localprotocol"
)

// Outcome is the outcome of a check.
type Outcome string

const (
	// Passed means that the plug-in did as it must.
	Passed Outcome = "passed"
	// Failed means that it did not.
	Failed Outcome = "failed"
	// Skipped means that the check does not apply, or could not be made.
	Skipped Outcome = "skipped"
)

// Check is a check that was made.
type Check struct {
	Name string
	// Requirement is what a plug-in must do; it says what to change where the check has failed.
	Requirement string
	Outcome     Outcome
	// Problem says what was wrong instead, or why the check was skipped.
	Problem string
}

// check is a check that can be made.
type check struct {
	name        string
	requirement string
	run         func(context.Context, *subject) error
}

// skipped is why a check does not apply.
type skipped string

func (s skipped) Error() string {
	return string(s)
}

// Run makes every check in order against the plug-in that serves a socket, and reports each when it
// is done. An answer may take as long as the patience; what the protocol itself bounds by time, the ends of leases and of
// aborted tasks, does not depend on it. When the context ends, so do the checks; those that are left are reported as skipped.
func Run(ctx context.Context, socketPath string, patience time.Duration, report func(Check)) {
	examined := &subject{socketPath: socketPath, patience: patience}
	var blocked error
	for _, each := range checks() {
		if blocked == nil {
			blocked = ctx.Err()
		}
		done := Check{Name: each.name, Requirement: each.requirement}
		if blocked != nil {
			done.Outcome, done.Problem = Skipped, blocked.Error()
		} else {
			done.Outcome, done.Problem = outcome(each.run(ctx, examined))
		}
		if each.name == describeCheck && done.Outcome == Failed {
			blocked = errors.New("the plug-in could not be described")
		}
		report(done)
	}
	examined.clearAll(context.WithoutCancel(ctx))
}

func outcome(err error) (Outcome, string) {
	var reason skipped
	switch {
	case err == nil:
		return Passed, ""
	case errors.As(err, &reason):
		return Skipped, reason.Error()
	default:
		return Failed, err.Error()
	}
}

// checks lists the checks in the order in which they are made: later ones use what earlier ones have
// shown to work.
func checks() []check {
	var all []check
	all = append(all, descriptionChecks()...)
	all = append(all, messageChecks()...)
	all = append(all, orderChecks()...)
	all = append(all, refusalChecks()...)
	all = append(all, taskChecks()...)
	all = append(all, connectionChecks()...)
	return append(all, expiryCheck())
}

// refused makes sure that an answer is an error with one of some numbers.
func refused(got answer, numbers ...localprotocol.Number) error {
	if got.failure == nil {
		return fmt.Errorf("it was accepted, with the result %.200s", got.result)
	}
	for _, number := range numbers {
		if got.failure.Number == number {
			return nil
		}
	}
	return fmt.Errorf("the error has the code %d (%q), not %d", got.failure.Number, got.failure.Message, numbers[0])
}

// accepted makes sure that an answer is a result that is valid by its schema.
func accepted(got answer, method string) error {
	if got.failure != nil {
		return fmt.Errorf("%s was refused with the code %d: %s", method, got.failure.Number, got.failure)
	}
	if err := localprotocol.Validate(method+"-result", got.result); err != nil {
		return fmt.Errorf("the result of %s does not match proto/local/%s-result.schema.json: %w", method, method, err)
	}
	return nil
}
