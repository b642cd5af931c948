package files_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/files"
)

// TestTakingOverWhileAServerIsSilent: as of a node that has held both a store and blocks. Who is next waits for it, but not
// for each file that was left open.
func TestTakingOverWhileAServerIsSilent(t *testing.T) {
	const open, longest = 10, 12 * time.Second
	w := newWorld(t, 3, 1)
	before := w.attach("before")
	content := some(7 * blockBytes)
	var writers []*files.Writer
	for i := range open {
		writer, err := before.Create(t.Context(), fmt.Sprintf("/%d", i))
		if err != nil {
			t.Fatal(err)
		}
		writers = append(writers, writer)
		if err := errors.Join(writer.Append(content), writer.Sync(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	w.detach(before)
	for _, writer := range writers {
		writer.Close()
	}
	w.pool.Servers["pool2"].Cut()
	begin := time.Now()
	after := w.attach("after")
	if took := time.Since(begin); took > longest {
		t.Errorf("it has taken %v", took)
	}
	for i := range open {
		mustHave(t, after, fmt.Sprintf("/%d", i), content)
	}
	w.detach(after)
}
