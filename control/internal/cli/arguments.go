package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// positional takes arguments of these names; those in brackets may be left out.
func positional(names ...string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) > len(names) {
			return usagef(command, "%q is one argument too many", arguments[len(names)])
		}
		for _, name := range names[len(arguments):] {
			if !strings.HasPrefix(name, "[") {
				return usagef(command, "%s is missing", name)
			}
		}
		return nil
	}
}

// group makes a command that only holds others.
func group(command *cobra.Command, members ...*cobra.Command) *cobra.Command {
	command.AddCommand(members...)
	command.Args = cobra.ArbitraryArgs
	command.RunE = func(command *cobra.Command, arguments []string) error {
		if len(arguments) == 0 {
			return command.Help()
		}
		return unknownCommand(command, arguments[0])
	}
	return command
}

func unknownCommand(command *cobra.Command, name string) error {
	failure := store.Invalidf("%q is no command of %s", name, command.CommandPath())
	// Cobra sets the distance only where it prints suggestions itself.
	command.SuggestionsMinimumDistance = 2
	if similar := command.SuggestionsFor(name); len(similar) > 0 {
		failure = failure.WithHint("Is it %s?", strings.Join(similar, " or "))
	}
	return usage(command, failure)
}

func usage(command *cobra.Command, cause error) error {
	if cause == nil {
		return nil
	}
	return &usageError{command.CommandPath(), cause}
}

func usagef(command *cobra.Command, format string, arguments ...any) error {
	return usage(command, store.Invalidf(format, arguments...))
}

// parseTarget reads "NODE/STORE/INSTANCE".
func parseTarget(text string) (policy.Ref, error) {
	parts := strings.Split(text, "/")
	if len(parts) == 3 && !slices.Contains(parts, "") {
		return policy.Ref{Node: parts[0], Store: parts[1], Instance: parts[2]}, nil
	}
	return policy.Ref{}, store.Invalidf("%q is not NODE/STORE/INSTANCE", text).
		WithHint("As in db1/postgres/main; sluice get stores lists them.")
}

func parseKind(text string) (store.Kind, error) {
	kind := store.Kind(text)
	if slices.Contains(store.Kinds(), kind) {
		return kind, nil
	}
	return "", store.Invalidf("%q is no kind of task", text).WithHint("Kinds are %s.", joinKinds(", "))
}

func joinKinds(separator string) string {
	texts := make([]string, 0, len(store.Kinds()))
	for _, kind := range store.Kinds() {
		texts = append(texts, string(kind))
	}
	return strings.Join(texts, separator)
}

// choice is the value of a flag that has to be one of a few words.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }

// Type is what help calls the value.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("it is one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// positiveDuration is the value of a flag that is a time, such as "30s" or "1m30s".
type positiveDuration time.Duration

// String is empty for a time that is not set, so that help shows no default.
func (d *positiveDuration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type is what help calls the value.
func (d *positiveDuration) Type() string { return "time" }

func (d *positiveDuration) Set(text string) error {
	duration, err := time.ParseDuration(text)
	if err != nil || duration <= 0 {
		return errors.New("it is a time above 0, as in 500ms, 30s or 1m30s")
	}
	*d = positiveDuration(duration)
	return nil
}
