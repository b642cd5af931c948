// Package systemd tells the service manager of the state of this process.
package systemd

import (
	"fmt"
	"net"
	"os"
)

// State is what the service manager is told, as sd_notify(3) has it.
type State string

// The states that services here have.
const (
	Ready    State = "READY=1"
	Stopping State = "STOPPING=1"
)

// Notify tells the service manager of the state of this process. Without one, or in a unit that does not
// ask for it, it does nothing.
func Notify(state State) error {
	address := os.Getenv("NOTIFY_SOCKET")
	if address == "" {
		return nil
	}
	connection, err := net.Dial("unixgram", address)
	if err != nil {
		return fmt.Errorf("reach systemd: %w", err)
	}
	defer connection.Close()
	if _, err := connection.Write([]byte(state)); err != nil {
		return fmt.Errorf("tell systemd %s: %w", state, err)
	}
	return nil
}
