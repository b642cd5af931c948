package controller

import (
	"os"
	"runtime/debug"
)

// heapGCPercent lets the heap grow by half of what is in use before it is looked through. What is in use grows
// with the agents, some 50 kB for each, most of it of connections; so what it is worth in memory does, too.
const heapGCPercent = 50

// boundHeap makes the Go runtime spend processor time on memory, as ten thousand agents need, unless an operator
// has told it otherwise by the environment.
func boundHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGCPercent)
	}
}
