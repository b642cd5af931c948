package localprotocol

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// socketMode lets the owner and the group in, and nobody else.
const socketMode = 0o660

// probeTimeout is how long a process may take to accept a connection before it counts as alive but
// busy.
const probeTimeout = time.Second

// Listen makes a socket for a plug-in, below a directory that exists. A socket that no process serves
// any more is taken over; one that is served is refused, as is anything that is not a socket. The
// listener removes the socket when it is closed.
func Listen(ctx context.Context, socketPath string) (net.Listener, error) {
	unlock, err := lockDirectory(filepath.Dir(socketPath))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeStale(ctx, socketPath); err != nil {
		return nil, err
	}
	var configuration net.ListenConfig
	listener, err := configuration.Listen(ctx, "unix", socketPath)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(socketPath, socketMode); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// lockDirectory keeps two processes that start at the same time from taking over each other's socket.
func lockDirectory(path string) (unlock func(), err error) {
	directory, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(directory.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), directory.Close())
	}
	return func() { _ = directory.Close() }, nil
}

// removeStale removes a socket that nobody serves. Only a refused connection shows that.
func removeStale(ctx context.Context, socketPath string) error {
	information, err := os.Lstat(socketPath)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if information.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("%s is not a socket: remove it, or choose another instance name", socketPath)
	}
	dialer := net.Dialer{Timeout: probeTimeout}
	connection, err := dialer.DialContext(ctx, "unix", socketPath)
	if err == nil {
		_ = connection.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s is served by another process: stop it, or choose another instance name", socketPath)
	}
	return os.Remove(socketPath)
}
