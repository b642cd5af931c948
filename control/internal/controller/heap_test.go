package controller

import (
	"runtime/debug"
	"testing"
)

func TestTheEnvironmentGoesBeforeTheBoundOfTheHeap(t *testing.T) {
	before := debug.SetGCPercent(80)
	defer debug.SetGCPercent(before)
	for environment, want := range map[string]int{"80": 80, "": heapGCPercent} {
		debug.SetGCPercent(80)
		t.Setenv("GOGC", environment)
		boundHeap()
		if got := debug.SetGCPercent(80); got != want {
			t.Errorf("with GOGC=%q the heap may grow by %d%%, want %d%%", environment, got, want)
		}
	}
}
