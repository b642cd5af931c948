package nodesignals

import (
	"math"
	"time"
)

const (
	// alpha is the weight of a sample of samplePeriod in the average.
	alpha        = 0.5
	samplePeriod = time.Second

	// unknownCPUUsed stands for a share that has not been measured.
	unknownCPUUsed = 1
)

// cpuAverage is the exponential moving average of the share of all processors in use. What a
// hypervisor took away counts as used: it is not there for anybody.
type cpuAverage struct {
	before     cpuTimes
	hasBefore  bool
	average    float64
	hasAverage bool
}

// add takes the counters since boot, and returns the average.
func (a *cpuAverage) add(now cpuTimes, elapsed time.Duration) float64 {
	used, ok := usedShare(a.before, now)
	if ok && a.hasBefore {
		a.addShare(used, elapsed)
	}
	a.before, a.hasBefore = now, true
	return a.value()
}

// addShare gives a sample the weight that samples of samplePeriod in its place would have together.
func (a *cpuAverage) addShare(used float64, elapsed time.Duration) {
	if !a.hasAverage {
		a.average, a.hasAverage = used, true
		return
	}
	weight := 1 - math.Pow(1-alpha, elapsed.Seconds()/samplePeriod.Seconds())
	a.average += weight * (used - a.average)
}

// forget drops what was measured, because measuring has failed.
func (a *cpuAverage) forget() float64 {
	*a = cpuAverage{}
	return a.value()
}

func (a *cpuAverage) value() float64 {
	if !a.hasAverage {
		return unknownCPUUsed
	}
	return a.average
}

// usedShare is the share of processor time between two readings that was used; false if no time has
// passed.
func usedShare(before, now cpuTimes) (float64, bool) {
	used := increase(before.user, now.user) + increase(before.nice, now.nice) +
		increase(before.system, now.system) + increase(before.irq, now.irq) +
		increase(before.softIRQ, now.softIRQ) + increase(before.steal, now.steal)
	idle := increase(before.idle, now.idle) + increase(before.iowait, now.iowait)
	total := used + idle
	if total == 0 {
		return 0, false
	}
	return used / total, true
}

// increase of a counter; the kernel's for idle and iowait can go back a little.
func increase(before, now float64) float64 {
	return max(0, now-before)
}
