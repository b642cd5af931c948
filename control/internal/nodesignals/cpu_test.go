package nodesignals

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// cpuReading is a reading of counters in seconds.
func cpuReading(used, idle float64) cpuTimes {
	return cpuTimes{user: used, idle: idle}
}

func TestCPUAverage(t *testing.T) {
	var average cpuAverage
	steps := []struct {
		name     string
		reading  cpuTimes
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
		now      cpuTimes
		expected float64
	}{
		{"user", cpuTimes{user: 1, idle: 3}, 0.25},
		{"nice", cpuTimes{nice: 1, idle: 3}, 0.25},
		{"system", cpuTimes{system: 1, idle: 3}, 0.25},
		{"interrupts", cpuTimes{irq: 0.5, softIRQ: 0.5, idle: 3}, 0.25},
		{"stolen", cpuTimes{steal: 1, idle: 3}, 0.25},
		{"waiting for input and output is idle", cpuTimes{user: 1, iowait: 3}, 0.25},
	}
	for _, test := range tests {
		got, ok := usedShare(cpuTimes{}, test.now)
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
