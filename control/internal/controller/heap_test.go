package controller

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// garbage makes the heap grow, with the Go runtime kept from collecting.
func garbage(t *testing.T, bytes int) {
	t.Helper()
	before := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	runtime.GC()
	for allocated := 0; allocated < bytes; allocated += 1 << 20 {
		runtime.KeepAlive(make([]byte, 1<<20))
	}
}

func TestGarbageIsCollectedOnceTheHeapHasGrown(t *testing.T) {
	t.Setenv("GOGC", "")
	collected, goOn := make(chan bool), make(chan bool)
	c := newCollector()
	c.collect = func() {
		runtime.GC()
		collected <- true
		<-goOn
	}
	garbage(t, leastHeapBytes/2)
	if c.isDue() {
		t.Error("a small heap is not left to the runtime")
	}
	garbage(t, 4*leastHeapBytes)
	c.afterPeriod()
	<-collected
	// The next period finds it at work.
	c.afterPeriod()
	goOn <- true
	if c.isDue() {
		t.Error("there is as much garbage as before")
	}
}

func TestTheEnvironmentGoesBeforeTheCollector(t *testing.T) {
	t.Setenv("GOGC", "80")
	c := newCollector()
	c.collect = func() { t.Error("it collects") }
	garbage(t, 4*leastHeapBytes)
	c.afterPeriod()
	if c.isRunning.Load() {
		t.Error("it collects")
	}
}
