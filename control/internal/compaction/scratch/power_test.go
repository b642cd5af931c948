package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sluice.dev/control/internal/compaction"
)

// TestEntriesOutlastALossOfPower: a name that is not on the disk comes back, or is gone. One that came back would have the
// directory removed that the caller has taken.
func TestEntriesOutlastALossOfPower(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "journal")
	journal, err := OpenJournal(directory)
	if err != nil {
		t.Fatal(err)
	}
	// onDisk is what a loss of power leaves.
	onDisk := 0
	broken := errors.New("the disk is broken")
	var failure error
	journal.sync = func(synced string) error {
		entries, err := os.ReadDir(directory)
		if synced == directory && failure == nil {
			onDisk = len(entries)
		}
		return errors.Join(err, failure)
	}
	entry := Entry{OutputPath: "/srv/" + compaction.OutputPrefix + "a"}
	if err := journal.Write(entry); err != nil || onDisk != 1 {
		t.Errorf("%d entries are on the disk after one was written: %v", onDisk, err)
	}
	if err := journal.Forget(entry.OutputPath); err != nil || onDisk != 0 {
		t.Errorf("%d entries are on the disk after the last one was forgotten: %v", onDisk, err)
	}
	failure = broken
	if err := journal.Write(entry); !errors.Is(err, broken) {
		t.Errorf("an entry that may not be on the disk is noted: %v", err)
	}
	if err := journal.Forget(entry.OutputPath); !errors.Is(err, broken) {
		t.Errorf("an entry that may come back is forgotten: %v", err)
	}
}
