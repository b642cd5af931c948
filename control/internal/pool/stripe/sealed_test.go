package stripe_test

import (
	"testing"

	"sluice.dev/control/internal/pool/pooltest"
)

// TestNothingIsAddedToASealedFile, as by a thread of a store that was killed: its copies stay what they are.
func TestNothingIsAddedToASealedFile(t *testing.T) {
	pool := pooltest.New(t, 3)
	tr := newTrial(t, pool, pool.Names(), 2)
	writer := tr.write(1, options())
	content := some(4 * blockBytes)
	mustAppend(t, writer, content)
	mustSeal(t, writer, len(content))
	for range 3 {
		if err := writer.Append(content); err == nil {
			t.Error("it is added")
		}
		_, _ = writer.Sync()
	}
	if len(tr.lost) > 0 {
		t.Errorf("lost %v", tr.lost)
	}
	mustSeal(t, writer, len(content))
	tr.mustHave(content)
	tr.mustBeAlike(content)
}
