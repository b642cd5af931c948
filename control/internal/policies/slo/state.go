package slo

import (
	"sluice.dev/control/internal/policies/pace"
	"sluice.dev/control/internal/policy"
)

// state is what the policy remembers of a target. Times are seconds of the view's clock, never for what
// has not happened.
type state struct {
	// rate is the controlled rate; it is kept through a hold.
	rate   float64
	isHeld bool
	// changedAt is when the rate was last lowered or resumed: what ended before shows nothing of it.
	changedAt float64
	// raisedOn is the end of the time that the rate was raised for last: the same time does not raise it again.
	raisedOn float64
	// wroteAt is when background work was seen writing last. Until a percentile of requests after that,
	// background work may be what they suffered from; outsideSince is since when it cannot have been.
	wroteAt, outsideSince float64
	// goodSince is since when the target has been kept; lastBelieved when there was a percentile last.
	goodSince, lastBelieved float64
	// loadMean is the mean of requests per second outside of bursts, loadEnd the end of the last interval.
	loadMean, loadEnd float64
	// burstSince is when the present burst began, burstPeak its highest load and burstLow the lowest since it
	// had risen, lastBurst when one was seen last, and burstBefore when the one before the present one was.
	burstSince, burstPeak, burstLow, lastBurst, burstBefore float64
	// burstDebtFrom is the debt at the beginning of the present burst, burstDebtBytes the most that one has added.
	burstDebtFrom, burstDebtBytes float64
	// isArmed says that a burst is over and no task was started for it yet; startedAt when one was asked for.
	isArmed   bool
	startedAt float64
	// pendingCount and pendingP99 add up intervals with too few requests; pendingStart is where they begin.
	pendingCount, pendingP99, pendingStart float64
}

const (
	// never lies before every time of a view's clock.
	never = -1e18

	keyRate = "slo_rate_bytes_per_second"
)

// load reads a memory. Without one it goes on from the lease, else from the floor. A lease that is a hold
// tells that there was a burst just now.
func load(memory policy.Memory, target policy.Target, now, floor, ceiling float64) state {
	s := state{
		changedAt: never, raisedOn: never, wroteAt: never, outsideSince: never, goodSince: never, lastBelieved: never,
		loadMean: never, loadEnd: never, burstSince: never, burstLow: never, lastBurst: never, burstBefore: never, startedAt: never,
		burstDebtFrom: never,
		pendingStart:  never,
	}
	rate, isKnown := memory[keyRate]
	if !isKnown {
		ordered, isOrdered := pace.Ordered(memory, target)
		if isOrdered && ordered == 0 {
			s.isHeld, s.isArmed, s.lastBurst = true, true, now
		}
		s.rate = min(max(ordered, floor), ceiling)
		return s
	}
	s.rate = rate
	for _, number := range s.numbers() {
		*number.field = memory[number.name]
	}
	for _, each := range s.switches() {
		*each.field = memory[each.name] != 0
	}
	return s
}

// save gives the memory for the next period.
func (s *state) save(memory policy.Memory) policy.Memory {
	memory[keyRate] = s.rate
	for _, number := range s.numbers() {
		memory[number.name] = *number.field
	}
	for _, each := range s.switches() {
		memory[each.name] = 0
		if *each.field {
			memory[each.name] = 1
		}
	}
	return memory
}

// named is a field of the state under its name in the memory.
type named[T any] struct {
	name  string
	field *T
}

// numbers is no slice, as that would be made anew for each of ten thousand targets, twice a period.
func (s *state) numbers() [19]named[float64] {
	return [...]named[float64]{
		{"slo_changed_at_seconds", &s.changedAt},
		{"slo_raised_on_seconds", &s.raisedOn},
		{"slo_wrote_at_seconds", &s.wroteAt},
		{"slo_outside_since_seconds", &s.outsideSince},
		{"slo_good_since_seconds", &s.goodSince},
		{"slo_last_believed_seconds", &s.lastBelieved},
		{"slo_load_mean_requests_per_second", &s.loadMean},
		{"slo_load_end_seconds", &s.loadEnd},
		{"slo_burst_since_seconds", &s.burstSince},
		{"slo_burst_peak_requests_per_second", &s.burstPeak},
		{"slo_burst_low_requests_per_second", &s.burstLow},
		{"slo_last_burst_seconds", &s.lastBurst},
		{"slo_burst_before_seconds", &s.burstBefore},
		{"slo_burst_debt_from_bytes", &s.burstDebtFrom},
		{"slo_burst_debt_bytes", &s.burstDebtBytes},
		{"slo_started_at_seconds", &s.startedAt},
		{"slo_pending_requests", &s.pendingCount},
		{"slo_pending_p99_seconds", &s.pendingP99},
		{"slo_pending_interval_start_seconds", &s.pendingStart},
	}
}

func (s *state) switches() [2]named[bool] {
	return [...]named[bool]{{"slo_is_held", &s.isHeld}, {"slo_is_armed", &s.isArmed}}
}
