package accept_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"sluice.dev/control/internal/accept"
	"sluice.dev/control/internal/accept/accepttest"
)

func TestAFailureThatPassesIsTriedAgain(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	defer near.Close()
	listener := &accepttest.Listener{Failures: 3, Connections: make(chan net.Conn, 1)}
	listener.Connections <- near
	got, err := accept.Next(t.Context(), listener, slog.New(slog.DiscardHandler))
	if err != nil || got != near {
		t.Errorf("the connection is %v, %v", got, err)
	}
}

func TestAListenerThatIsClosedEndsIt(t *testing.T) {
	listener := &accepttest.Listener{Connections: make(chan net.Conn)}
	listener.Close()
	if _, err := accept.Next(t.Context(), listener, slog.New(slog.DiscardHandler)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the error is %v", err)
	}
}

// Whoever ends a server does not wait for the end of a pause, nor for files to be closed.
func TestTheEndComesDuringAPause(t *testing.T) {
	const patience = time.Minute
	listener := &accepttest.Listener{Failures: 1 << 30}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := accept.Next(ctx, listener, slog.New(slog.DiscardHandler))
		ended <- err
	}()
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it has ended without an error")
		}
	case <-time.After(patience):
		t.Error("it goes on")
	}
}
