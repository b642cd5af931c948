// Package accept takes the connections of a listener, and goes on after a failure that passes.
package accept

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"
)

// The pause after a failure doubles with each that follows, as in net/http.
const (
	leastPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// Next gives the next connection. It fails once the listener is closed or broken, or the context ends while it pauses.
func Next(ctx context.Context, listener net.Listener, logger *slog.Logger) (net.Conn, error) {
	for pause := leastPause; ; pause = min(2*pause, longestPause) {
		connection, err := listener.Accept()
		if err == nil || ctx.Err() != nil || !passes(err) {
			return connection, err
		}
		logger.Warn("a connection could not be taken, and is tried again: has the process too many open files?",
			"address", listener.Addr().String(), "error", err)
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}

// passes says of a failure, such as of too many open files, whether the next connection may be taken all the same.
func passes(err error) bool {
	var failure interface{ Temporary() bool }
	return errors.As(err, &failure) && failure.Temporary()
}
