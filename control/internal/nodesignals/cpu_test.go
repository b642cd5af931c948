package nodesignals

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"pgregory.net/rapid"
)

// cpuReading is a reading of counters in seconds.
func cpuReading(used, idle float64) procfs.CPUStat {
	return procfs.CPUStat{User: used, Idle: idle}
}

func TestCPUAverage(t *testing.T) {
	var average cpuAverage
	steps := []struct {
		name     string
		reading  procfs.CPUStat
		elapsed  time.Duration
		expected float64
	}{
		{"nothing to compare with", cpuReading(10, 10), time.Second, 1},
		{"the first sample is the average", cpuReading(11, 11), time.Second, 0.5},
		{"half of a full second", cpuReading(13, 11), time.Second, 0.75},
		{"half of an idle second", cpuReading(13, 13), time.Second, 0.375},
		{"two idle seconds at once", cpuReading(13, 17), 2 * time.Second, 0.09375},
		{"no time has passed in the kernel", cpuReading(13, 17), time.Second, 0.09375},
		{"idle time went back", cpuReading(14, 16), time.Second, 0.546875},
	}
	for _, step := range steps {
		if got := average.add(step.reading, step.elapsed); got != step.expected {
			t.Errorf("%s: got %v, want %v", step.name, got, step.expected)
		}
	}
}

func TestUsedShareCountsEachKindOfTime(t *testing.T) {
	tests := []struct {
		name     string
		now      procfs.CPUStat
		expected float64
	}{
		{"user", procfs.CPUStat{User: 1, Idle: 3}, 0.25},
		{"nice", procfs.CPUStat{Nice: 1, Idle: 3}, 0.25},
		{"system", procfs.CPUStat{System: 1, Idle: 3}, 0.25},
		{"interrupts", procfs.CPUStat{IRQ: 0.5, SoftIRQ: 0.5, Idle: 3}, 0.25},
		{"stolen", procfs.CPUStat{Steal: 1, Idle: 3}, 0.25},
		{"waiting for input and output is idle", procfs.CPUStat{User: 1, Iowait: 3}, 0.25},
		{"guests are in user and nice", procfs.CPUStat{User: 1, Guest: 1, Nice: 1, GuestNice: 1, Idle: 2}, 0.5},
	}
	for _, test := range tests {
		got, ok := usedShare(procfs.CPUStat{}, test.now)
		if !ok || got != test.expected {
			t.Errorf("%s: got %v, %v, want %v", test.name, got, ok, test.expected)
		}
	}
}

// One late sample weighs as much as those that it stands for.
func TestCPUAverageDoesNotDependOnTheSamplesInBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Float64Range(0, 1).Draw(t, "start")
		used := rapid.Float64Range(0, 1).Draw(t, "used")
		parts := rapid.SliceOfN(rapid.Int64Range(100, 5000), 1, 10).Draw(t, "milliseconds")
		many := cpuAverage{average: start, hasAverage: true}
		once := many
		var total time.Duration
		for _, part := range parts {
			elapsed := time.Duration(part) * time.Millisecond
			total += elapsed
			many.addShare(used, elapsed)
		}
		once.addShare(used, total)
		if math.Abs(many.average-once.average) > 1e-9 {
			t.Fatalf("%v by parts, %v at once", many.average, once.average)
		}
		if low, high := min(start, used), max(start, used); once.average < low-1e-9 || once.average > high+1e-9 {
			t.Fatalf("%v is not between %v and %v", once.average, low, high)
		}
	})
}
