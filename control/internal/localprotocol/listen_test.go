package localprotocol_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
)

// leaveStale makes a socket that nobody serves, as a process does that is killed.
func leaveStale(t *testing.T, socketPath string) {
	t.Helper()
	listener, err := net.Listen("unix", socketPath)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestListen(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(t *testing.T, socketPath string)
		message string
	}{
		{"nothing there", func(*testing.T, string) {}, ""},
		{"stale socket", leaveStale, ""},
		{"served socket", func(t *testing.T, socketPath string) {
			listener, err := net.Listen("unix", socketPath)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
		}, "served by another process"},
		{"file", func(t *testing.T, socketPath string) {
			if err := os.WriteFile(socketPath, []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a socket"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			socketPath := filepath.Join(referencetest.SocketDirectory(t), "main.sock")
			test.prepare(t, socketPath)
			listener, err := localprotocol.Listen(t.Context(), socketPath)
			if test.message != "" {
				if err == nil || !strings.Contains(err.Error(), test.message) {
					t.Fatalf("the error is %v, without %q", err, test.message)
				}
				if _, err := os.Lstat(socketPath); err != nil {
					t.Errorf("what was there is gone: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			information, err := os.Stat(socketPath)
			if err != nil || information.Mode().Perm() != 0o660 {
				t.Errorf("the mode is %v, %v", information.Mode(), err)
			}
			if err := listener.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(socketPath); !os.IsNotExist(err) {
				t.Errorf("the socket is still there: %v", err)
			}
		})
	}
}

func TestListenWithoutDirectory(t *testing.T) {
	if _, err := localprotocol.Listen(t.Context(), filepath.Join(t.TempDir(), "none", "main.sock")); !os.IsNotExist(err) {
		t.Errorf("the error is %v", err)
	}
}

// Of many that start at the same time on a stale socket, one serves it.
func TestListenersRace(t *testing.T) {
	socketPath := filepath.Join(referencetest.SocketDirectory(t), "main.sock")
	leaveStale(t, socketPath)
	var all sync.WaitGroup
	var serving atomic.Int32
	for range 10 {
		all.Go(func() {
			listener, err := localprotocol.Listen(t.Context(), socketPath)
			if err != nil {
				return
			}
			serving.Add(1)
			t.Cleanup(func() { _ = listener.Close() })
		})
	}
	all.Wait()
	if got := serving.Load(); got != 1 {
		t.Errorf("%d serve the socket", got)
	}
}
