package localprotocol

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
)

// turnedAway is a connection that a server has closed before anything was sent on it, since there were too many.
func turnedAway(t *testing.T) net.Conn {
	t.Helper()
	// Of a name that is no file, and so of any length.
	listener, err := net.Listen("unix", fmt.Sprintf("@sluice-test-turned-away-%d", os.Getpid()))
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
	TurnAway(accepted, maxConnections, "Close some of them.")
	return connection
}

// TestClientIsToldWhyItIsTurnedAway, and not only that the connection is gone; the next call makes another one.
func TestClientIsToldWhyItIsTurnedAway(t *testing.T) {
	client := NewClient("/nowhere.sock")
	client.connection = turnedAway(t)
	client.reader = bufio.NewReader(client.connection)
	_, err := client.Snapshot(t.Context())
	var answered *Error
	if !errors.As(err, &answered) || answered.Number != NumberUnavailable || answered.Message != "64 connections are open already" {
		t.Errorf("the error is %v", err)
	}
	if client.connection != nil {
		t.Error("the connection is kept")
	}
}
