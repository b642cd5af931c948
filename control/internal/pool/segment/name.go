package segment

import (
	"fmt"
	"path/filepath"
	"strings"

	"sluice.dev/control/internal/pool/layout"
)

// ID names a segment: a slot of a file, in one of the copies.
type ID struct {
	File layout.FileID
	Slot int
	Copy int
}

// MaxSlots is the most slots that a file may have.
const MaxSlots = 1024

// String gives it as in messages.
func (id ID) String() string {
	return fmt.Sprintf("%s slot %d copy %d", id.File, id.Slot, id.Copy)
}

func (id ID) check() error {
	if id.Slot < 0 || id.Slot >= MaxSlots || id.Copy < 0 || id.Copy >= layout.MaxCopies {
		return Failf(Invalid, "slot %d of copy %d: a file has slots 0 to %d of copies 0 to %d", id.Slot, id.Copy, MaxSlots-1, layout.MaxCopies-1)
	}
	return nil
}

// A segment's file says in its name what must be known of it before it is read. What is neither form is not
// a segment, and nothing that is half made ever has such a name.
const (
	openForm   = "%d.%d.%d.open"
	sealedForm = "%d.%d.%d.sealed"
	sumsSuffix = ".sums"
	newSuffix  = ".new"
)

// fileName is that of a segment's data: slot, copy, epoch, and whether it is sealed.
func fileName(id ID, epoch uint64, sealed bool) string {
	form := openForm
	if sealed {
		form = sealedForm
	}
	return fmt.Sprintf(form, id.Slot, id.Copy, epoch)
}

// parseName reads what fileName gives, and nothing else.
func parseName(file layout.FileID, name string) (id ID, epoch uint64, sealed, ok bool) {
	form := openForm
	if strings.HasSuffix(name, ".sealed") {
		form, sealed = sealedForm, true
	}
	id.File = file
	if _, err := fmt.Sscanf(name, form, &id.Slot, &id.Copy, &epoch); err != nil || id.check() != nil {
		return ID{}, 0, false, false
	}
	return id, epoch, sealed, fileName(id, epoch, sealed) == name
}

// directoryOf is where the segments of a file are: 256 directories keep each of them short.
func directoryOf(root string, file layout.FileID) string {
	name := file.String()
	return filepath.Join(root, name[:2], name)
}
