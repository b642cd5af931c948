package repair

import (
	"bytes"
	"context"

	"sluice.dev/control/internal/pool/metadata/entry"
)

// filesOn goes through the files of a server in the order of their ids, a page at a time.
type filesOn struct {
	pages Pages
	page  entry.Page[*entry.FileID]
	files []entry.File
	more  bool
}

func newFilesOn(
	node string, list func(context.Context, string, entry.Page[*entry.FileID]) ([]entry.File, bool, error),
) *filesOn {
	return &filesOn{more: true, pages: func(ctx context.Context, page entry.Page[*entry.FileID]) ([]entry.File, bool, error) {
		return list(ctx, node, page)
	}}
}

// next gives the next file without taking it, nil at the end.
func (f *filesOn) next(ctx context.Context) (*entry.File, error) {
	for len(f.files) == 0 && f.more {
		var err error
		if f.files, f.more, err = f.pages(ctx, f.page); err != nil {
			return nil, err
		}
		f.more = f.more && len(f.files) > 0
		if len(f.files) > 0 {
			f.page.After = &f.files[len(f.files)-1].ID
		}
	}
	if len(f.files) == 0 {
		return nil, nil
	}
	return &f.files[0], nil
}

// upTo takes the file of an id, nil if there is none, after it has had something done with all before.
func (f *filesOn) upTo(ctx context.Context, id entry.FileID, skipped func(entry.File) error) (*entry.File, error) {
	for {
		file, err := f.next(ctx)
		if err != nil || file == nil || bytes.Compare(file.ID[:], id[:]) > 0 {
			return nil, err
		}
		f.files = f.files[1:]
		if file.ID == id {
			return file, nil
		}
		if err := skipped(*file); err != nil {
			return nil, err
		}
	}
}

// rest has something done with all files that were not taken.
func (f *filesOn) rest(ctx context.Context, do func(entry.File) error) error {
	for {
		file, err := f.next(ctx)
		if err != nil || file == nil {
			return err
		}
		f.files = f.files[1:]
		if err := do(*file); err != nil {
			return err
		}
	}
}
