// Package ports picks ports for servers that are told where to listen before they do, in tests and measurements.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports that the kernel gives to nobody by itself, neither to a listener on port 0 nor to a
// connection: those from 32768 on could be given away before they are listened on.
const first, count = 10000, 22768

// Free is a port of this machine that nothing listens on, another one each time, also for other processes that pick theirs
// here at the same time.
func Free() (int, error) {
	for range count {
		port := first + rand.IntN(count)
		if !claim(port) {
			continue
		}
		listener, err := net.Listen("tcp4", fmt.Sprintf("0.0.0.0:%d", port))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("no port is free")
}

var (
	claimsMutex sync.Mutex
	// claims are kept: a listener that nobody knows any more would be closed.
	claims []net.Listener
)

// claim takes a port for this process, among all that pick theirs here: of a name that is no file one process listens on, as
// long as it lasts.
func claim(port int) bool {
	listener, err := net.Listen("unix", fmt.Sprintf("@sluice-test-port-%d", port))
	if err != nil {
		return false
	}
	claimsMutex.Lock()
	defer claimsMutex.Unlock()
	claims = append(claims, listener)
	return true
}
