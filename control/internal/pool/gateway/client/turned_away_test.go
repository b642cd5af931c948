package client

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/pool/gateway/message"
)

// turnedAway is a connection that an agent has closed before anything was sent on it, since there were too many.
func turnedAway(t *testing.T, open int) *lane {
	t.Helper()
	// Of a name that is no file, and so of any length.
	listener, err := net.Listen("unix", fmt.Sprintf("@sluice-test-pool-turned-away-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	connection, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	localprotocol.TurnAway(accepted, open, "Close some of them.")
	t.Cleanup(func() { _ = connection.Close() })
	return &lane{socket: connection, reader: bufio.NewReader(connection)}
}

// TestStoreIsToldWhyItIsTurnedAway: the connection is as good as gone, which says nothing of the session.
func TestStoreIsToldWhyItIsTurnedAway(t *testing.T) {
	err := turnedAway(t, 1024).exchange(t.Context(), request{method: message.MethodJoin, params: struct{}{}}, &struct{}{})
	if !errors.Is(err, errBroken) || MayBeOver(err) {
		t.Errorf("the error is %v, and the session may be over: %v", err, MayBeOver(err))
	}
	if told := Explain(err).Error(); !strings.Contains(told, "1024 connections are open already") {
		t.Errorf("who asked is told %q", told)
	}
}
