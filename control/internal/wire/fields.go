package wire

import (
	"math"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/internal/store"
)

// What a peer may send, so that one that is broken cannot fill this process: a message has at most
// 4 MiB (package protocol), and these bound what becomes of it.
const (
	maxNameBytes  = 255
	maxScopeBytes = 1024
	// maxTextBytes is for sentences, such as the reason of a decision, and for what a store says in its own
	// words: the local protocol has at most 1024 characters for that.
	maxTextBytes = 4096

	maxTasks        = 10_000
	maxDebts        = 10_000
	maxLeases       = 10_000
	maxLatencies    = 1_000
	maxFigures      = 1_000
	maxCapabilities = 100
	maxSettings     = 100
	maxVariants     = 100
	maxDevices      = 1_000
	maxInstances    = 1_000

	// maxDuration keeps sums of durations far from overflow: a time.Duration ends at 292 years.
	maxDuration = 100 * 365 * 24 * time.Hour

	// unknown stands for a share or duration that is not known, in packages store and policy.
	unknown = -1
)

// fields reads the fields of one message and keeps the first thing that is wrong with them, so that a
// message is read in one expression and checked once.
type fields struct {
	err error
}

func (f *fields) fail(format string, arguments ...any) {
	f.keep(store.Invalidf(format, arguments...))
}

func (f *fields) keep(err error) {
	if f.err == nil {
		f.err = err
	}
}

// name reads a text that must not be empty.
func (f *fields) name(field, text string) string {
	return f.required(field, text, maxNameBytes)
}

func (f *fields) required(field, text string, maxBytes int) string {
	if text == "" {
		f.fail("%s is missing", field)
	}
	return f.text(field, text, maxBytes)
}

func (f *fields) scope(text string) string {
	return f.text("scope", text, maxScopeBytes)
}

func (f *fields) text(field, text string, maxBytes int) string {
	if err := store.ValidateText(field, text, maxBytes); err != nil {
		f.keep(err)
	}
	return text
}

// number reads any number but those that are none.
func (f *fields) number(field string, number float64) float64 {
	if !isFinite(number) {
		f.fail("%s is %v, but must be finite", field, number)
	}
	return number
}

// quantity reads a number that cannot be negative.
func (f *fields) quantity(field string, number float64) float64 {
	if number < 0 {
		f.fail("%s is %v, but must not be negative", field, number)
	}
	return f.number(field, number)
}

// share reads a part of a whole, 0 to 1.
func (f *fields) share(field string, number float64) float64 {
	if number > 1 {
		f.fail("%s is %v, but is a share of at most 1", field, number)
	}
	return f.quantity(field, number)
}

// optionalShare reads a share that is negative in package policy where the message has none.
func (f *fields) optionalShare(field string, number *float64) float64 {
	if number == nil {
		return unknown
	}
	return f.share(field, *number)
}

// duration reads a duration that must be there: a missing age would pass for a fresh one.
func (f *fields) duration(field string, message *durationpb.Duration) time.Duration {
	if message == nil {
		f.fail("%s is missing", field)
	}
	return f.optionalDuration(field, message, 0)
}

// optionalDuration reads a duration, or gives what stands for a missing one.
func (f *fields) optionalDuration(field string, message *durationpb.Duration, missing time.Duration) time.Duration {
	if message == nil {
		return missing
	}
	duration := message.AsDuration()
	switch {
	case !message.IsValid():
		f.fail("%s is no valid duration: %d s and %d ns", field, message.GetSeconds(), message.GetNanos())
	case duration < 0:
		f.fail("%s is %v, but must not be negative", field, duration)
	case duration > maxDuration:
		f.fail("%s is %v, over %v", field, duration, maxDuration)
	}
	return duration
}

func (f *fields) figures(field string, figures map[string]float64) map[string]float64 {
	switch {
	case len(figures) == 0:
		// The package proto may make an empty map, of a field that it does not know after all.
		return nil
	case len(figures) > maxFigures:
		f.fail("%s has %d entries, at most %d are allowed", field, len(figures), maxFigures)
		return nil
	}
	for name, figure := range figures {
		f.name("a name in "+field, name)
		f.number(name, figure)
	}
	return figures
}

func isFinite(number float64) bool {
	return !math.IsNaN(number) && !math.IsInf(number, 0)
}

// sentence makes one line that the peer will accept of a text that may come from a store or a library:
// an error message with a line break in it must not cost the whole report.
func sentence(text string) string {
	return oneLine(text, maxTextBytes)
}

// label does the same for a word of the store's own, such as a phase, which the local protocol lets be
// longer than a message may have it.
func label(text string) string {
	return oneLine(text, maxNameBytes)
}

func oneLine(text string, maxBytes int) string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(line) <= maxBytes {
		return line
	}
	return strings.ToValidUTF8(line[:maxBytes], "")
}
