package files

import (
	"context"
	"fmt"
	"log/slog"

	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/stripe"
)

// View reads a volume, for which it needs no lease.
type View struct {
	Volume   string
	Metadata *metadata.Client
	Services stripe.Services
	Options  stripe.Options
	// Suspects may be shared with other views, of whatever volumes.
	Suspects *stripe.Suspects
	Logger   *slog.Logger
}

// Reader reads a file as it was when it was opened.
type Reader struct {
	*stripe.Reader
	ID entry.FileID
	// Length is in bytes.
	Length int64
}

// Open reads a file: of one that is being written, what was synced.
func (v View) Open(ctx context.Context, path string) (*Reader, error) {
	file, err := v.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, entry.Refusef(entry.IsDirectory, "%s is a directory", path)
	}
	damaged := func(place stripe.Place, cause error) {
		v.Logger.Warn("a copy of a file cannot be read", "path", path, "slot", place.Slot, "copy", place.Copy, "error", cause)
	}
	reader, err := stripe.NewReader(StripesOf(*file), int64(file.LengthBytes), v.Services, v.Options, v.Suspects, damaged)
	if err != nil {
		return nil, err
	}
	reader.Follow(func(ctx context.Context) (stripe.File, error) { return v.locate(ctx, file.ID) })
	return &Reader{reader, file.ID, int64(file.LengthBytes)}, nil
}

// locate gives where a file is now, whatever its path.
func (v View) locate(ctx context.Context, id entry.FileID) (stripe.File, error) {
	file, err := v.Metadata.File(ctx, id)
	if err != nil {
		return stripe.File{}, err
	}
	if file == nil {
		return stripe.File{}, entry.Refusef(entry.NotFound, "the file %s was removed", id)
	}
	return StripesOf(*file), nil
}

// Stat gives a file, nil for a directory.
func (v View) Stat(ctx context.Context, path string) (*entry.File, error) {
	return v.Metadata.Stat(ctx, v.Volume, path)
}

// List gives all that is in a directory, in the order of the names.
func (v View) List(ctx context.Context, path string) ([]entry.Name, error) {
	page := entry.Page[string]{Limit: entry.MaxPageEntries}
	var all []entry.Name
	for {
		names, more, err := v.Metadata.Directory(ctx, v.Volume, path, page)
		if err != nil {
			return nil, err
		}
		all = append(all, names...)
		if !more {
			return all, nil
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("the list of %s has an empty page before its end", path)
		}
		page.After = names[len(names)-1].Name
	}
}
