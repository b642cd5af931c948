package controller

import (
	"os"
	"runtime"
	runtimemetrics "runtime/metrics"
	"sync/atomic"
)

const (
	// growthFactor is how much larger than what was last found in use the heap is when garbage is collected.
	growthFactor = 1.4
	// leastHeapBytes is below what garbage is left to the Go runtime.
	leastHeapBytes = 64 << 20

	heapLiveMetric  = "/gc/heap/live:bytes"
	heapInUseMetric = "/memory/classes/heap/objects:bytes"
)

// collector has garbage collected from the end of a period on. The Go runtime by itself begins when the heap has
// nearly doubled, and has whoever allocates from then on do most of the work: decisions and orders. With ten
// thousand agents that takes seconds of a core, and periods too long. It is left alone where an operator has
// told it in the environment when to begin.
type collector struct {
	isOff     bool
	isRunning atomic.Bool
	samples   []runtimemetrics.Sample
	collect   func()
}

func newCollector() *collector {
	return &collector{
		isOff:   os.Getenv("GOGC") != "",
		samples: []runtimemetrics.Sample{{Name: heapLiveMetric}, {Name: heapInUseMetric}},
		collect: runtime.GC,
	}
}

// afterPeriod begins to collect if it is time, and does not wait.
func (c *collector) afterPeriod() {
	if c.isOff || c.isRunning.Load() || !c.isDue() {
		return
	}
	c.isRunning.Store(true)
	go func() {
		c.collect()
		c.isRunning.Store(false)
	}()
}

func (c *collector) isDue() bool {
	runtimemetrics.Read(c.samples)
	live, inUse := c.samples[0].Value.Uint64(), c.samples[1].Value.Uint64()
	return inUse >= leastHeapBytes && float64(inUse) >= growthFactor*float64(live)
}
