package ports

import "testing"

// The tests of another package may have been given a port that they do not listen on yet.
func TestPortIsOfOneProcess(t *testing.T) {
	port, err := Free()
	if err != nil {
		t.Fatal(err)
	}
	// What the kernel keeps is the same for whoever asks.
	if claim(port) {
		t.Errorf("port %d is given twice", port)
	}
}
