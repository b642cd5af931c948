package mount

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/gateway/client"
	"sluice.dev/control/internal/pool/pooltest"
)

// Who asks for the room that is left is the first to find the agent started anew, and begins the session again.
func TestFreeBytesOfAnAgentThatIsStartedAnew(t *testing.T) {
	const lease, patience = time.Minute, 2 * time.Minute
	gateway := pooltest.NewGateway(t, "orders", lease)
	files, err := attach(t.Context(), client.Config{Socket: gateway.Socket, Volume: "orders", Path: "/", Holder: "a test", Wait: lease})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := files.Create(t.Context(), "snapshot-0000000000000001")
	if err == nil {
		err = snapshot.Seal(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	gateway.Stop()
	gateway.Start(lease)
	asked := make(chan int64, 1)
	go func() { asked <- files.freeBytes(t.Context()) }()
	select {
	case free := <-asked:
		if free <= 0 {
			t.Errorf("%d bytes are free", free)
		}
	case <-time.After(patience):
		t.Fatal("it hangs")
	}
	files.session.End()
}

// seal makes a file of a mount, with nothing in it.
func seal(ctx context.Context, t *testing.T, files *pooled, name string) {
	t.Helper()
	file, err := files.Create(ctx, name)
	if err == nil {
		err = file.Seal(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A mount that lasts makes more and more files, and remembers of them what it needs to go on: also where it was not told
// whether the last snapshot has got its name.
func TestFilesThatWereMadeAreForgotten(t *testing.T) {
	const lease, snapshots = time.Minute, 10
	gateway := pooltest.NewGateway(t, "orders", lease)
	files, err := attach(t.Context(), client.Config{Socket: gateway.Socket, Volume: "orders", Path: "/", Holder: "a test", Wait: lease})
	if err != nil {
		t.Fatal(err)
	}
	defer files.session.End()
	var last, unfinished string
	for number := range snapshots {
		last = fmt.Sprintf("snapshot-%016x", number+1)
		unfinished = last + ".new"
		seal(t.Context(), t, files, fmt.Sprintf("segment-%016x", number+1))
		seal(t.Context(), t, files, unfinished)
		if err := files.Rename(t.Context(), unfinished, last); err != nil {
			t.Fatal(err)
		}
	}
	if len(files.made) != 1 {
		t.Errorf("%d files are remembered", len(files.made))
	}
	// The answer to the rename is lost, and another attempt is under way when the agent goes.
	seal(t.Context(), t, files, unfinished)
	files.naming(unfinished)
	if err := files.session.Rename(t.Context(), unfinished, last); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Create(t.Context(), unfinished); err != nil {
		t.Fatal(err)
	}
	gateway.Stop()
	gateway.Start(lease)
	if _, err := files.session.FreeBytes(t.Context()); err != nil {
		t.Errorf("it does not go on: %v", err)
	}
	if len(files.made) != 1 {
		t.Errorf("%d files are remembered", len(files.made))
	}
	// The rename has the session begun anew, and its answer is lost then.
	seal(t.Context(), t, files, unfinished)
	gateway.Stop()
	gateway.Start(lease)
	files.naming(unfinished)
	err = files.session.Rename(t.Context(), unfinished, last)
	if client.IsFormer(err) {
		// That the agent was gone is seen by the first try.
		err = files.session.Rename(t.Context(), unfinished, last)
	}
	if err != nil {
		t.Fatal(err)
	}
	gateway.Stop()
	gateway.Start(lease)
	if _, err := files.session.FreeBytes(t.Context()); err != nil {
		t.Errorf("it does not go on: %v", err)
	}
}
