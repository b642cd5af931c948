package contexts

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sluice.dev/control/internal/store"
)

// Set is the contexts of a user and of the system.
type Set struct {
	// UserPath is the file that changes go to; SystemPath is only read.
	UserPath, SystemPath string
	User, System         File
}

// LoadSet reads both files. Either may be missing.
func LoadSet(userPath, systemPath string) (Set, error) {
	set := Set{UserPath: userPath, SystemPath: systemPath}
	var err error
	if set.System, err = Load(systemPath); err != nil {
		return Set{}, err
	}
	if set.User, err = Load(userPath); err != nil {
		return Set{}, err
	}
	return set, nil
}

// Current is the name of the context that is used when none is named; empty if there is none.
func (s Set) Current() string {
	return either(s.User.CurrentContext, s.System.CurrentContext)
}

// Names lists the contexts, sorted.
func (s Set) Names() []string {
	all := maps.Clone(s.System.Contexts)
	if all == nil {
		all = map[string]Context{}
	}
	maps.Copy(all, s.User.Contexts)
	return slices.Sorted(maps.Keys(all))
}

// Find returns a context with absolute paths, and the file that it is from. The user's own hides that
// of the system. Errors are of type *store.Error.
func (s Set) Find(name string) (Context, string, error) {
	if context, found := s.User.Contexts[name]; found {
		return context.from(filepath.Dir(s.UserPath)), s.UserPath, nil
	}
	if context, found := s.System.Contexts[name]; found {
		return context.from(filepath.Dir(s.SystemPath)), s.SystemPath, nil
	}
	failure := store.Errorf(store.CodeNotFound, "there is no context %q", name)
	if names := s.Names(); len(names) > 0 {
		return Context{}, "", failure.WithHint("There are: %s.", strings.Join(names, ", "))
	}
	return Context{}, "", failure.WithHint("There are none in %s or %s. Make one with: sluice config set-context %s "+
		"--controller HOST:PORT --cluster CLUSTER --certificate-file FILE --key-file FILE --ca-file FILE",
		s.UserPath, s.SystemPath, name)
}
