// Package objectstore keeps the service levels of a cluster where they outlast its controllers: in etcd, where
// controllers are elected there, or else in a file of the only controller.
//
// All of them are one document, which is replaced as a whole and only by who has seen the last one: what is admitted is
// admitted beside all others, whichever controller was asked.
package objectstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// Set is all service levels as they were at a time.
type Set struct {
	// Objects are in the order of their names.
	Objects []servicelevel.Object
	// Revision grows by one with each change; an object's version is that of its last change.
	Revision uint64
	// place is what the store knows the document by.
	place int64
}

// Store keeps the service levels. It is safe for concurrent use. Errors are of type *store.Error.
type Store interface {
	Load(ctx context.Context) (Set, error)
	// Swap replaces a set that was loaded by other objects. The error is of code store.CodeConflict if somebody else
	// has done so meanwhile.
	Swap(ctx context.Context, from Set, objects []servicelevel.Object) (Set, error)
	Close() error
}

// format is the version of the document.
const format = 1

type document struct {
	Format        int                   `json:"format"`
	Revision      uint64                `json:"revision"`
	ServiceLevels []servicelevel.Object `json:"service_levels"`
}

// encode gives the set that follows another one, and its document.
func encode(from Set, objects []servicelevel.Object) (Set, []byte, error) {
	next := Set{Objects: slices.Clone(objects), Revision: from.Revision + 1}
	slices.SortFunc(next.Objects, func(a, b servicelevel.Object) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(document{format, next.Revision, next.Objects}, "", "  ")
	if err != nil {
		return Set{}, nil, store.Invalidf("the service levels cannot be written: %w", err)
	}
	return next, append(text, '\n'), nil
}

// decode reads a document. That of no service levels is not empty: one that is has been lost, as with the power, or by
// a full disk when a copy was put back.
func decode(text []byte, place int64) (Set, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return Set{}, store.Errorf(store.CodeUnavailable, "the service levels that are kept cannot be read: nothing is in there").
			WithHint("Put a copy back, or remove what is empty if there is to be no service level; nothing is changed meanwhile.")
	}
	var read document
	if err := unmarshal(text, &read); err != nil {
		return Set{}, store.Errorf(store.CodeUnavailable, "the service levels that are kept cannot be read: %w", err).
			WithHint("Put a copy back; nothing is changed while they cannot be read.")
	}
	if read.Format != format {
		return Set{}, store.Errorf(store.CodeIncompatible, "the service levels are kept in format %d, and this controller reads %d",
			read.Format, format).WithHint("Upgrade the controller.")
	}
	for _, object := range read.ServiceLevels {
		if err := object.Validate(); err != nil {
			return Set{}, store.Errorf(store.CodeUnavailable, "the service level %q that is kept is not valid: %w", object.Name, err).
				WithHint("Put a copy back; nothing is changed while they cannot be read.")
		}
	}
	return Set{Objects: read.ServiceLevels, Revision: read.Revision, place: place}, nil
}

// unmarshal reads one document, of known members alone, that nothing follows.
func unmarshal(text []byte, into *document) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if end := decoder.InputOffset(); len(bytes.TrimSpace(text[end:])) > 0 {
		return fmt.Errorf("something follows the document, which ends after %d bytes", end)
	}
	return nil
}

func changedMeanwhile() error {
	return store.Errorf(store.CodeConflict, "the service levels have been changed by somebody else meanwhile").
		WithHint("Look at them again, and try again.")
}
