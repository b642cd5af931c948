// Package simulation runs a policy of a controller's configuration against the simulator, and says what
// came of it.
package simulation

import (
	"fmt"
	"math"
	"strings"
	"time"

	"sluice.dev/control/internal/simulator"
	"sluice.dev/control/internal/store"
)

// The shapes of load.
const (
	Steady       = "steady"
	Bursts       = "bursts"
	RandomBursts = "random-bursts"
	Ramp         = "ramp"
)

// Shapes lists the shapes of load, the usual one first.
func Shapes() []string { return []string{Bursts, Steady, RandomBursts, Ramp} }

const (
	// longestDuration bounds the memory that a run takes, some 100 MB.
	longestDuration = 6 * time.Hour
	largestNumber   = 1e15
)

// Settings is what the user chooses of a run; the rest is the controller's configuration.
type Settings struct {
	Seed             uint64
	Duration, WarmUp time.Duration
	// BeginsAt is the time of day that policies see at the begin.
	BeginsAt time.Time

	// Load is one of Shapes.
	Load string
	// Requests come in a second outside of bursts, and at the begin of a ramp; BurstRequests in bursts,
	// and at the end of a ramp.
	Requests, BurstRequests float64
	BurstEvery, BurstLength time.Duration

	// DeviceBytesPerSecond is what the device can write, DebtLimitBytes the bound of the store.
	DeviceBytesPerSecond, DebtLimitBytes float64
	BaseLatency                          time.Duration

	// Late is how long every snapshot and order takes longer than usual, Reordered how much longer than
	// others some of them take.
	Late, Reordered           time.Duration
	LostShare, DuplicateShare float64
	Cut, ControllerDown       []simulator.Span
	// Signals are the results of queries, the same all the time.
	Signals map[string]float64
	// Target is what the 99th percentile of latency is judged by; 0 for the policy's own, if it has one.
	Target time.Duration
}

// Defaults is a database of about the size of the experiment postgres-burst: bursts of ten times the
// load, for 10 of every 40 seconds, on a device that writes 13 MB/s.
func Defaults() Settings {
	return Settings{
		Seed: 1, Duration: 5 * time.Minute, WarmUp: time.Minute, BeginsAt: time.Unix(0, 0).UTC(),
		Load: Bursts, Requests: 150, BurstRequests: 1500, BurstEvery: 40 * time.Second, BurstLength: 10 * time.Second,
		DeviceBytesPerSecond: 13e6, DebtLimitBytes: 168e6, BaseLatency: 2 * time.Millisecond,
	}
}

// check says what is wrong with settings; errors are of code store.CodeInvalid.
func (s Settings) check() error {
	switch {
	case s.Duration > longestDuration:
		return store.Invalidf("a run of %v is too long", s.Duration).WithHint("Simulate %v at most.", longestDuration)
	case s.WarmUp >= s.Duration:
		return store.Invalidf("a warm-up of %v leaves nothing of a run of %v", s.WarmUp, s.Duration).
			WithHint("Give --duration more, or --warm-up less.")
	case s.hasBursts() && s.BurstLength >= s.BurstEvery:
		return store.Invalidf("bursts of %v leave no time between them, for one comes every %v", s.BurstLength, s.BurstEvery).
			WithHint("Give --burst-every more, or choose --load steady.")
	}
	for _, number := range []float64{s.Requests, s.BurstRequests, s.DeviceBytesPerSecond, s.DebtLimitBytes} {
		if math.IsNaN(number) || number <= 0 || number > largestNumber {
			return store.Invalidf("%g is out of range", number).
				WithHint("Requests, the device's rate and the limit of debt are above 0, and at most %g.", largestNumber)
		}
	}
	return nil
}

func (s Settings) hasBursts() bool { return s.Load == Bursts || s.Load == RandomBursts }

func (s Settings) load() simulator.Load {
	switch s.Load {
	case Steady:
		return simulator.Steady(s.Requests)
	case Ramp:
		return simulator.Ramp(s.Requests, s.BurstRequests, s.Duration)
	case RandomBursts:
		quiet := s.BurstEvery - s.BurstLength
		return simulator.RandomBursts(s.Seed, s.Requests, s.BurstRequests, quiet, s.BurstLength, s.Duration)
	default:
		return simulator.Bursts(s.Requests, s.BurstRequests, s.BurstEvery-s.BurstLength, s.BurstEvery, s.BurstLength)
	}
}

// The usual way of a message takes 5 to 50 ms.
const (
	leastDelay = 5 * time.Millisecond
	usualDelay = 50 * time.Millisecond
)

func (s Settings) channel() simulator.Channel {
	return simulator.Channel{
		MinDelay: leastDelay + s.Late, MaxDelay: usualDelay + s.Late + s.Reordered,
		LossShare: s.LostShare, DuplicateShare: s.DuplicateShare,
	}
}

// describeLoad is one line about the load and the faults.
func (s Settings) describeLoad() string {
	switch s.Load {
	case Steady:
		return fmt.Sprintf("steady, %g requests/s", s.Requests)
	case Ramp:
		return fmt.Sprintf("ramp, %g to %g requests/s", s.Requests, s.BurstRequests)
	default:
		return fmt.Sprintf("%s, %g requests/s, %g for %v of every %v", s.Load, s.Requests, s.BurstRequests,
			s.BurstLength, s.BurstEvery)
	}
}

func (s Settings) describeFaults() string {
	var faults []string
	add := func(format string, values ...any) { faults = append(faults, fmt.Sprintf(format, values...)) }
	if s.LostShare > 0 {
		add("%g of messages lost", s.LostShare)
	}
	if s.DuplicateShare > 0 {
		add("%g twice", s.DuplicateShare)
	}
	if s.Late > 0 {
		add("%v late", s.Late)
	}
	if s.Reordered > 0 {
		add("reordered by up to %v", s.Reordered)
	}
	for _, span := range s.Cut {
		add("network cut %v to %v", span.From, span.To)
	}
	for _, span := range s.ControllerDown {
		add("controller down %v to %v", span.From, span.To)
	}
	if len(faults) == 0 {
		return "none"
	}
	return strings.Join(faults, ", ")
}
