package gateway_test

import (
	"fmt"
	"testing"
	"time"
)

// TestStoreThatIsGoneWhileAServerIsSilent: its directory is not kept for as long as the server is waited for, times the
// files that it was writing.
func TestStoreThatIsGoneWhileAServerIsSilent(t *testing.T) {
	const files = 10
	w := newWorldWith(t, lossPatience)
	store := w.connect()
	store.attach()
	content := some(6 * blockBytes)
	for i := range files {
		file := store.create(fmt.Sprintf("/%d", i))
		store.append(file.File, content)
		store.done("sync", number(file.File))
	}
	w.pool.Servers["pool2"].Cut()
	store.connection.Close()
	next := w.connect()
	for {
		got := next.ask("attach", attachParams(nil))
		if got.Failure == nil {
			break
		}
		if got.Failure.Data.Reason != "lease-held" {
			t.Fatal(got.Failure)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if most := w.unanswered.MostFiles(); most < files {
		t.Errorf("%d of %d files wait for the server at the same time", most, files)
	}
	for i := range files {
		w.mustHave(fmt.Sprintf("/%d", i), content)
		file, err := w.view().Stat(t.Context(), fmt.Sprintf("/%d", i))
		if err != nil || !file.Sealed {
			t.Errorf("%+v, %v", file, err)
		}
	}
}
