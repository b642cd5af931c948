package mount

import (
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
