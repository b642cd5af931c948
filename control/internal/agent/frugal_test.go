package agent

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestTheEnvironmentGoesBeforeFrugality(t *testing.T) {
	processors, percent := runtime.GOMAXPROCS(2), debug.SetGCPercent(80)
	defer func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
	}()
	t.Setenv("GOMAXPROCS", "2")
	t.Setenv("GOGC", "80")
	beFrugal()
	checkRuntime(t, 2, 80)

	t.Setenv("GOMAXPROCS", "")
	t.Setenv("GOGC", "")
	beFrugal()
	checkRuntime(t, frugalProcessors, frugalGCPercent)
}

func checkRuntime(t *testing.T, processors, percent int) {
	t.Helper()
	if got := runtime.GOMAXPROCS(0); got != processors {
		t.Errorf("%d processors, not %d", got, processors)
	}
	got := debug.SetGCPercent(percent)
	if got != percent {
		t.Errorf("the heap may grow by %d%%, not by %d%%", got, percent)
	}
}
