package files_test

import (
	"fmt"
	"testing"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// TestServersAreSweptBesideOneThatIsGone: what was removed must not fill the others up until it is back.
func TestServersAreSweptBesideOneThatIsGone(t *testing.T) {
	const removed = 8
	w := newWorld(t, 3, 1)
	session := w.attach("store")
	for i := range removed {
		put(t, session, fmt.Sprintf("/%d", i), some(7*blockBytes))
	}
	gone := w.pool.Servers["pool2"]
	gone.Stop()
	left := w.segmentsOn(gone)
	if left == 0 {
		t.Fatal("the server has nothing")
	}
	for i := range removed {
		if err := session.Remove(t.Context(), fmt.Sprintf("/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	w.detach(session)
	session = w.attach("store")
	eventually(t, "the others are swept", func() bool { return w.segments() == left })
	gone.Start()
	w.waitFor("pool2")
	w.detach(session)
	session = w.attach("store")
	eventually(t, "the one that is back is swept", func() bool { return w.segments() == 0 })
	w.detach(session)
}

// waitFor returns once a server that was started again is reached.
func (w *world) waitFor(name string) {
	w.t.Helper()
	service, err := w.pool.Service(name)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := service.GetBlockSpace(w.t.Context(), &sluicev1.GetBlockSpaceRequest{}, grpc.WaitForReady(true)); err != nil {
		w.t.Fatal(err)
	}
}
