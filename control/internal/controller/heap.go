package controller

import (
	"os"
	"runtime/debug"
)

// heapGCPercent is by how much of what is in use the heap may grow before it is looked through. In use are some
// 60 kB for each agent, most of it of its connection.
const heapGCPercent = 40

// boundHeap makes the Go runtime spend processor time on memory, as ten thousand agents need, unless an operator
// has told it otherwise by the environment.
func boundHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGCPercent)
	}
}
