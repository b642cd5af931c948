package reference

import (
	"math"
	"math/rand/v2"
	"time"

	"sluice.dev/control/internal/store"
)

const (
	// requestBytes is the size of a write; there are as many reads, from memory.
	requestBytes = 1000
	// Quiet times and bursts are of random length, between these.
	quietLeast, quietMost = 5 * time.Second, 15 * time.Second
	burstLeast, burstMost = 2 * time.Second, 6 * time.Second
	// intervalLength is that of the intervals of latency, of which some are kept.
	intervalLength = time.Second
	keptIntervals  = 5
	// readSeconds and writeSeconds are the latencies on an idle device.
	readSeconds  = 0.0002
	writeSeconds = 0.0005
	// mostUtilisation keeps the model away from its pole.
	mostUtilisation = 0.98
)

// load is what clients do: quiet times and bursts in turn.
type load struct {
	random   *rand.Rand
	bursting bool
	until    time.Duration
}

func newLoad(seed uint64) *load {
	// It begins as the end of a burst of no length.
	return &load{random: rand.New(rand.NewPCG(seed, 0)), bursting: true}
}

// burst says whether there is one, at times that never go back.
func (l *load) burst(now time.Duration) bool {
	for now >= l.until {
		l.bursting = !l.bursting
		least, most := quietLeast, quietMost
		if l.bursting {
			least, most = burstLeast, burstMost
		}
		l.until += least + time.Duration(l.random.Int64N(int64(most-least)))
	}
	return l.bursting
}

// interval is what happened since the last interval of latency ended.
type interval struct {
	deviceBytes float64
	requests    float64
	stalled     bool
}

// endedInterval is an interval that is shown.
type endedInterval struct {
	endedAt time.Duration
	classes []store.Latency
}

// endInterval turns what happened into latencies. The model is the queue M/M/1 (Kleinrock, Queueing
// Systems I, section 3.2): with the utilisation u of the device the time in the system is distributed
// exponentially with mean service/(1-u), so that its quantile q is -ln(1-q) times the mean. It says how
// compactions hurt requests, not by how much they do on any real device.
func (s *Store) endInterval() {
	utilisation := s.interval.deviceBytes / (s.config.DeviceBytesPerSecond * intervalLength.Seconds())
	if s.interval.stalled {
		utilisation = 1
	}
	s.totals.utilisation = min(utilisation, 1)
	busy := min(utilisation, mostUtilisation)
	requests := uint64(s.interval.requests)
	s.intervals = append(s.intervals, endedInterval{s.elapsed, []store.Latency{
		newLatency("read", readSeconds/(1-busy), requests),
		newLatency("write", writeSeconds/(1-busy), requests),
	}})
	if len(s.intervals) > keptIntervals {
		s.intervals = s.intervals[1:]
	}
	s.interval = interval{}
}

func newLatency(class string, mean float64, requests uint64) store.Latency {
	latency := store.Latency{Class: class, Interval: intervalLength, Count: requests}
	if requests == 0 {
		return latency
	}
	quantile := func(q float64) time.Duration {
		return time.Duration(-math.Log(1-q) * mean * float64(time.Second))
	}
	latency.Mean = time.Duration(mean * float64(time.Second))
	latency.P50, latency.P99, latency.P999 = quantile(0.5), quantile(0.99), quantile(0.999)
	// The longest of n is near the quantile 1-1/n.
	latency.Max = max(latency.P999, quantile(1-1/float64(requests)))
	return latency
}
