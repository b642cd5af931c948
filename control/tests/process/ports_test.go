package process

import (
	"net"
	"strconv"
	"testing"
)

// The tests of another package may have been given a port that they do not listen on yet.
func TestPortIsOfOneProcess(t *testing.T) {
	_, port, err := net.SplitHostPort(FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	// What the kernel keeps is the same for whoever asks.
	if claim(number) {
		t.Errorf("port %d is given twice", number)
	}
}
