package simulator

import (
	"cmp"
	"math"
	"slices"
	"time"

	"sluice.dev/control/internal/store"
)

const (
	latencyInterval = time.Second
	// keptIntervals is how many intervals a snapshot has.
	keptIntervals = 3
)

// sample is a number of requests of the same latency.
type sample struct {
	seconds, count float64
}

// samples are the requests of a span of time.
type samples []sample

// percentile is by nearest rank; 0 where there was no request.
func (s samples) percentile(share float64) float64 {
	ordered := slices.SortedFunc(slices.Values(s), func(a, b sample) int {
		return cmp.Compare(a.seconds, b.seconds)
	})
	rank := share * s.count()
	for _, one := range ordered {
		rank -= one.count
		if rank <= 0 {
			return one.seconds
		}
	}
	return 0
}

func (s samples) count() float64 {
	sum := 0.0
	for _, one := range s {
		sum += one.count
	}
	return sum
}

func (s samples) mean() float64 {
	sum := 0.0
	for _, one := range s {
		sum += one.seconds * one.count
	}
	return sum / max(1, s.count())
}

// latencies measures requests in intervals, as a store does.
type latencies struct {
	all, current samples
	ended        []store.Latency
	endedAt      []time.Duration
}

func (l *latencies) add(one sample) {
	if one.count == 0 {
		return
	}
	l.all = append(l.all, one)
	l.current = append(l.current, one)
}

// endInterval is called once an interval.
func (l *latencies) endInterval(at time.Duration) {
	l.ended = append(l.ended, store.Latency{
		Class: "write", Interval: latencyInterval, Count: uint64(math.Round(l.current.count())),
		Mean: duration(l.current.mean()), P50: duration(l.current.percentile(0.5)),
		P99: duration(l.current.percentile(0.99)), P999: duration(l.current.percentile(0.999)),
		Max: duration(l.current.percentile(1)),
	})
	l.endedAt = append(l.endedAt, at)
	l.current = nil
}

// last are the newest intervals, with their age.
func (l *latencies) last(at time.Duration) []store.Latency {
	first := max(0, len(l.ended)-keptIntervals)
	newest := slices.Clone(l.ended[first:])
	for i := range newest {
		newest[i].Age = at - l.endedAt[first+i]
	}
	return newest
}

// newest is the last interval that has ended; empty if there is none.
func (l *latencies) newest() store.Latency {
	if len(l.ended) == 0 {
		return store.Latency{}
	}
	return l.ended[len(l.ended)-1]
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}
