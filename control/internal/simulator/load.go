package simulator

import (
	"math/rand/v2"
	"time"
)

// Load is the rate of requests, per second, at a time since the start.
type Load func(at time.Duration) float64

// Steady is a load that does not change.
func Steady(requestsPerSecond float64) Load {
	return func(time.Duration) float64 { return requestsPerSecond }
}

// Jump is a load that changes once, for good.
func Jump(before, after float64, change time.Duration) Load {
	return func(at time.Duration) float64 {
		if at < change {
			return before
		}
		return after
	}
}

// Bursts is a load with bursts that come once a period.
func Bursts(quiet, burst float64, first, period, length time.Duration) Load {
	return func(at time.Duration) float64 {
		if at >= first && (at-first)%period < length {
			return burst
		}
		return quiet
	}
}

// Ramp is a load that changes evenly from one rate to another and then stays.
func Ramp(from, to float64, over time.Duration) Load {
	return func(at time.Duration) float64 {
		return from + (to-from)*min(1, at.Seconds()/over.Seconds())
	}
}

// RandomBursts is a load with bursts whose begin and length a seed decides; quiet times and bursts have the
// given lengths on average.
func RandomBursts(seed uint64, quiet, burst float64, quietLength, burstLength, total time.Duration) Load {
	random := rand.New(rand.NewPCG(seed, 1))
	var changes []time.Duration
	for at := time.Duration(0); at < total; {
		mean := quietLength
		if len(changes)%2 == 1 {
			mean = burstLength
		}
		at += time.Duration((0.5 + random.Float64()) * float64(mean))
		changes = append(changes, at)
	}
	return func(at time.Duration) float64 {
		passed := 0
		for passed < len(changes) && changes[passed] <= at {
			passed++
		}
		if passed%2 == 1 {
			return burst
		}
		return quiet
	}
}
