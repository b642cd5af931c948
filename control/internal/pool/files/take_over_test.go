package files_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/pooltest"
)

// TestTakingOverWhileAServerIsSilent: as of a node that has held both a store and blocks. Who is next waits for it, but not
// for each file that was left open.
func TestTakingOverWhileAServerIsSilent(t *testing.T) {
	const open = 10
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
	w.patience = lossPatience
	var unanswered pooltest.Unanswered
	services := func(node string) (sluicev1.BlockServiceClient, error) {
		service, err := w.pool.Service(node)
		if node == "pool2" {
			service = unanswered.Of(service)
		}
		return service, err
	}
	after, err := files.Attach(t.Context(), w.config("after", time.Minute), w.metadata, services, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if most := unanswered.MostFiles(); most < open {
		t.Errorf("%d of %d files wait for the server at the same time", most, open)
	}
	for i := range open {
		mustHave(t, after, fmt.Sprintf("/%d", i), content)
	}
	w.detach(after)
}
