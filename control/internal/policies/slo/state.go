package slo

import (
	"sluice.dev/control/internal/policies/debt"
	"sluice.dev/control/internal/policies/pace"
	"sluice.dev/control/internal/policy"
)

// state is what the policy remembers of a target. Times are seconds of the view's clock, never for what
// has not happened.
type state struct {
	pace pace.Memory
	debt debt.Memory
	// isBegun says that what follows has been set.
	isBegun bool
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

// never lies before every time of a view's clock.
const never = -1e18

// begin goes on from the lease, else from the floor. A lease that is a hold tells that there was a burst just now.
func (s *state) begin(target policy.Target, now, floor, ceiling float64) {
	*s = state{
		isBegun: true, pace: s.pace, debt: s.debt,
		changedAt: never, raisedOn: never, wroteAt: never, outsideSince: never, goodSince: never, lastBelieved: never,
		loadMean: never, loadEnd: never, burstSince: never, burstLow: never, lastBurst: never, burstBefore: never, startedAt: never,
		burstDebtFrom: never,
		pendingStart:  never,
	}
	ordered, isOrdered := s.pace.Ordered(target)
	if isOrdered && ordered == 0 {
		s.isHeld, s.isArmed, s.lastBurst = true, true, now
	}
	s.rate = min(max(ordered, floor), ceiling)
}

// interrupt notes that nothing is ordered for now: that it was good before says nothing of what comes after.
func (s *state) interrupt() {
	s.pace.Forget()
	s.goodSince = never
}
