package systemd

import (
	"net"
	"path/filepath"
	"testing"
)

func TestNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	t.Setenv("NOTIFY_SOCKET", path)

	if err := Notify(Ready); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 64)
	length, err := listener.Read(message)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(message[:length]); got != "READY=1" {
		t.Errorf("systemd was told %q, not READY=1", got)
	}
}

func TestNotifyWithoutSystemd(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if err := Notify(Ready); err != nil {
		t.Errorf("without systemd: %v", err)
	}
}

func TestNotifyThatReachesNobody(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "absent"))
	if Notify(Ready) == nil {
		t.Error("there is nobody to tell, and no error")
	}
}
