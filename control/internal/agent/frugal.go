package agent

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	// frugalProcessors saves the waking of threads for work that is done before they are awake.
	frugalProcessors = 1
	// frugalGCPercent lets the heap grow by half of what is in use before it is looked through.
	frugalGCPercent = 50
)

// beFrugal has the Go runtime make do with little, for the node is there for its stores. The variables
// of the environment by which an operator tells the runtime otherwise go before it. It is not for an agent
// that holds blocks of a pool, which moves data for the stores.
func beFrugal() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(frugalProcessors)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(frugalGCPercent)
	}
}
