package store

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Order asks for a lease: a setting for the tasks of a kind, for a time.
type Order struct {
	Kind Kind
	// Scope is a part of the store, such as a table; empty stands for all of it.
	Scope   string
	Setting Setting
	// Owner names who gives the order. The same owner renews and replaces its own leases.
	Owner      string
	TimeToLive time.Duration
	// Replace takes the lease over from another owner.
	Replace bool
	// Variant is what sort of task to start; empty for the store's own choice. Only a start has one.
	Variant Variant
}

// Abortion asks for one task to be aborted: to end without its work. It neither gives a lease nor ends
// one.
type Abortion struct {
	Kind Kind
	// Task is the ID of the task.
	Task string
	// Owner names who asks.
	Owner string
}

// Selection says which leases to end: those of an owner, of one kind and scope if Kind is not empty.
type Selection struct {
	Owner string
	Kind  Kind
	Scope string
}

// Driver speaks to one instance of a store. It is safe for concurrent use; every call ends with its
// context. Errors are of type *Error.
type Driver interface {
	Describe(ctx context.Context) (Description, error)
	Snapshot(ctx context.Context) (Snapshot, error)
	// Set gives, renews or replaces a lease, and returns it as the store keeps it.
	Set(ctx context.Context, order Order) (Lease, error)
	// Clear ends leases before their time and returns how many; none is no error.
	Clear(ctx context.Context, selection Selection) (int, error)
	// Start starts a task now. Its setting may be empty: the order is no lease then, and the task runs at
	// the pace in force, which is the store's own unless there is a lease.
	Start(ctx context.Context, order Order) error
	// Abort tells a task to end, which may take some seconds.
	Abort(ctx context.Context, abortion Abortion) error
	// Close ends the connections; calls fail with CodeUnavailable after it. Leases are the store's: they
	// stay until they run out.
	Close() error
}

// PolicyOwnerPrefix begins the owners of leases that policies give, followed by the policy's name. Nobody
// but controllers orders under such a name.
const PolicyOwnerPrefix = "policy/"

const (
	maxOwnerBytes = 63
	maxScopeBytes = 1024
	// maxTextBytes bounds the text of a setting.
	maxTextBytes = 1024
	// maxTaskBytes bounds the ID of a task that can be aborted.
	maxTaskBytes      = 255
	maxVariantLetters = 63
)

// Validate says what is wrong with an order, whatever the store. An order to start may go without a
// setting.
func (o Order) Validate(starts bool) error {
	if err := validateOwner(o.Owner); err != nil {
		return err
	}
	if err := validateTarget(o.Kind, o.Scope); err != nil {
		return err
	}
	if o.TimeToLive <= 0 {
		return Invalidf("the time to live must be positive, not %v", o.TimeToLive)
	}
	if err := o.validateVariant(starts); err != nil {
		return err
	}
	if starts && o.Setting == (Setting{}) {
		return nil
	}
	return o.Setting.Validate()
}

func (o Order) validateVariant(starts bool) error {
	switch {
	case o.Variant == "":
		return nil
	case !starts:
		return Invalidf("a lease has no variant, but this one has %q", o.Variant).
			WithHint("Start a task with the variant, and set leases without.")
	case !o.Variant.isWord():
		return Invalidf("the variant %.70q is no word of at most %d small letters, digits and hyphens",
			o.Variant, maxVariantLetters)
	}
	return nil
}

// isWord says whether a variant is in the form that names of kinds have.
func (v Variant) isWord() bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return len(v) <= maxVariantLetters && strings.Contains(letters, string(v[:1])) &&
		strings.Trim(string(v), letters+"0123456789-") == ""
}

// Validate says what is wrong with an order to abort, whatever the store.
func (a Abortion) Validate() error {
	if err := validateOwner(a.Owner); err != nil {
		return err
	}
	if err := validateKind(a.Kind); err != nil {
		return err
	}
	if a.Task == "" {
		return Invalidf("which task to abort is missing").WithHint("Tasks and their ids are in the snapshot.")
	}
	return ValidateText("id of the task", a.Task, maxTaskBytes)
}

// Validate says what is wrong with a selection.
func (s Selection) Validate() error {
	if err := validateOwner(s.Owner); err != nil {
		return err
	}
	if s.Kind == "" && s.Scope == "" {
		return nil
	}
	return validateTarget(s.Kind, s.Scope)
}

func validateOwner(owner string) error {
	if owner == "" {
		return Invalidf("an order needs an owner").
			WithHint("The owner names who gives it, and who may renew or end it.")
	}
	return ValidateText("owner", owner, maxOwnerBytes)
}

func validateTarget(kind Kind, scope string) error {
	if err := validateKind(kind); err != nil {
		return err
	}
	return ValidateText("scope", scope, maxScopeBytes)
}

func validateKind(kind Kind) error {
	if !slices.Contains(Kinds(), kind) {
		return Invalidf("the kind %q is not known", kind).WithHint("Known kinds: %v.", Kinds())
	}
	return nil
}

// ValidateText refuses what no log, label or terminal should have to show.
func ValidateText(name, text string, maxBytes int) error {
	switch {
	case len(text) > maxBytes:
		return Invalidf("the %s is %d bytes long, at most %d are allowed", name, len(text), maxBytes)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return Invalidf("the %s %q is not printable text", name, text)
	}
	return nil
}
