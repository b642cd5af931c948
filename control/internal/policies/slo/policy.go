package slo

import (
	"fmt"
	"math"

	"sluice.dev/control/internal/policies/debt"
	"sluice.dev/control/internal/policies/pace"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	// spreadFactor is how much faster than just in time work goes while no burst is expected.
	spreadFactor = 1.25
	// usedShare is the part of its rate that work must have used for the rate to be raised.
	usedShare = 0.5
	// settleSeconds is how long after a decrease queues are still longer than the new rate makes them.
	settleSeconds = 1
	// afterEffectSeconds is how long after its last write background work may still do harm.
	afterEffectSeconds = 2
	// hopelessSeconds is for how long the target may be missed without background work.
	hopelessSeconds = 10
	// idleSeconds is after how long with hardly a request held work goes on, at the floor.
	idleSeconds = 10
	// startUrgency is the urgency at which a task is started out of bursts.
	startUrgency = 0.35
)

// situation is one period of one target, as steps of the decision see it.
type situation struct {
	now       float64
	evidence  evidence
	estimate  debt.Estimate
	tasks     []store.Task
	isBurst   bool
	isWriting bool
	// inForce is the rate that was ordered last; 0 for a hold, and for none.
	inForce float64
}

// Decide implements policy.Policy.
func (p *Policy) Decide(view policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	s := policy.CopyOf[state](memory)
	if reason := p.unable(target); reason != "" {
		s.interrupt()
		return policy.StopFor(target, reason), s
	}
	if !s.pace.IsNews(view, target) {
		return s.pace.Repeat(target), s
	}
	if !s.isBegun {
		s.begin(target, view.Now.Seconds(), p.floor, p.ceiling)
	}
	seen := p.look(view, target, s)
	if reason := seen.mustStop(); reason != "" {
		s.interrupt()
		return policy.StopFor(target, reason), s
	}
	p.steer(&seen, s)
	rate, reason := p.rate(seen, *s)
	isStart := p.startsEarly(target, seen, s)
	if isStart {
		reason = fmt.Sprintf("debt at %.0f %% of its limit: start; ", 100*seen.estimate.Share()) + reason
	}
	decision := s.pace.Order(target, rate, reason, p.inputs(seen, *s))
	if isStart {
		decision = decision.WithStart()
	}
	return decision, s
}

func (p *Policy) unable(target policy.Target) string {
	if !target.Fresh {
		return target.Missing
	}
	return pace.Unsupported(target, p.mayHold)
}

func (p *Policy) look(view policy.View, target policy.Target, s *state) situation {
	seen := situation{
		now:      view.Now.Seconds(),
		estimate: p.bound.Observe(&s.debt, target, pace.Taken(view, target)),
		tasks:    debt.Active(target),
	}
	seen.inForce, _ = s.pace.Ordered(target)
	before := s.loadEnd
	seen.evidence = p.observe(view, target, s)
	seen.isBurst = p.inBurst(seen.evidence, before, s)
	p.countDebt(seen, s)
	for _, task := range seen.tasks {
		seen.isWriting = seen.isWriting || task.State == store.Running
	}
	if seen.isWriting {
		s.wroteAt = pace.Taken(view, target).Seconds()
	}
	return seen
}

// countDebt keeps by how much a burst has added to the debt at most, of those that the next is expected for.
func (p *Policy) countDebt(seen situation, s *state) {
	switch {
	case !seen.isBurst:
		s.burstDebtFrom = never
		return
	case !p.expectsBurst(seen.now, *s):
		s.burstDebtBytes = 0
	}
	if s.burstDebtFrom == never || seen.estimate.Bytes < s.burstDebtFrom {
		s.burstDebtFrom = seen.estimate.Bytes
	}
	s.burstDebtBytes = max(s.burstDebtBytes, seen.estimate.Bytes-s.burstDebtFrom)
}

func (seen *situation) mustStop() string {
	if seen.estimate.IsAtLimit() {
		return fmt.Sprintf("debt of %.0f MB has reached its limit: the store goes by itself", seen.estimate.Bytes/1e6)
	}
	return seen.evidence.missing
}

// steer moves the controlled rate and the hold by what is new about latency and load.
func (p *Policy) steer(seen *situation, s *state) {
	e := seen.evidence
	isMissed := e.isBelieved && e.p99 > p.targetSeconds
	if e.isBelieved || s.lastBelieved == never {
		s.lastBelieved = seen.now
	}
	if isMissed {
		p.slowDown(seen, s)
	}
	if seen.isBurst {
		s.lastBurst = seen.now
		s.isArmed, s.isHeld = true, true
	}
	if seen.isBurst || isMissed {
		s.goodSince = never
		return
	}
	if e.isBelieved {
		p.speedUp(seen, s)
	}
}

// slowDown lowers the rate of work that is writing, once for each time that the effect can be seen, and
// holds it when it is bad. What goes on while nothing is written is no fault of background work. In a burst
// it is held anyway: the rate is for the time after it, of which the burst tells nothing.
func (p *Policy) slowDown(seen *situation, s *state) {
	e := seen.evidence
	isOutside := e.start > s.wroteAt+afterEffectSeconds
	switch {
	case isOutside && s.outsideSince == never:
		s.outsideSince = seen.now
	case seen.isWriting && !seen.isBurst && e.start >= s.changedAt+settleSeconds:
		s.rate = max(p.floor, s.rate*p.decreaseFactor)
		s.changedAt = seen.now
	}
	if e.p99 > p.holdAboveFactor*p.targetSeconds {
		s.isHeld = true
	}
	if p.isHopeless(seen.now, *s) {
		s.isHeld = seen.isBurst
	}
}

// isHopeless says that the target is missed without background work too, for so long that to hold it
// any longer would only make it more pressing.
func (p *Policy) isHopeless(now float64, s state) bool {
	return s.outsideSince != never && now-s.outsideSince > hopelessSeconds
}

// speedUp resumes what is held once it has been good for a while, else raises the rate if it is used and
// does no harm.
func (p *Policy) speedUp(seen *situation, s *state) {
	s.outsideSince = never
	if s.goodSince == never {
		s.goodSince = seen.now
	}
	if s.isHeld {
		if seen.now-s.goodSince >= p.resumeAfter.Seconds() {
			s.isHeld = false
			s.changedAt = seen.now
		}
		return
	}
	e := seen.evidence
	if e.p99 > p.raiseBelowShare*p.targetSeconds || e.start < s.changedAt || e.start < s.raisedOn-e.tolerance {
		return
	}
	used := 0.0
	for _, task := range seen.tasks {
		used += task.RateBytesPerSecond
	}
	if used >= usedShare*s.rate {
		s.rate = min(p.ceiling, s.rate+p.increase)
		s.raisedOn = s.loadEnd
	}
}

// rate is what to order, and why.
func (p *Policy) rate(seen situation, s state) (float64, string) {
	wanted, reason := p.wanted(seen, s)
	floor := seen.estimate.FloorBytesPerSecond()
	if allowed := max(seen.inForce, p.floor); !seen.evidence.isBelieved && wanted > allowed {
		wanted, reason = allowed, "no new percentile: the rate is not raised"
	}
	if floor > wanted {
		wanted = floor
		reason = fmt.Sprintf("debt at %.0f %% of its limit asks for %.2f MB/s", 100*seen.estimate.Share(), floor/1e6)
	}
	return pace.Steady(seen.inForce, wanted, floor), reason
}

// wanted is the rate that latency allows, but no less than is needed, as it would only be needed later
// and faster; and not much more while no burst is expected.
func (p *Policy) wanted(seen situation, s state) (float64, string) {
	if s.isHeld {
		return p.heldRate(seen, s)
	}
	needed, isKnown := seen.estimate.NeededBytesPerSecond(p.keptFree(seen, s))
	if isKnown && needed > s.rate {
		rate := min(needed, p.ceiling)
		return rate, fmt.Sprintf("%.2f MB/s are needed to finish in time", rate/1e6)
	}
	spread := max(p.floor, spreadFactor*needed)
	if isKnown && spread < s.rate && (!p.expectsBurst(seen.now, s) || p.isHopeless(seen.now, s)) {
		return spread, fmt.Sprintf("no burst expected: %.2f MB/s finish in time", spread/1e6)
	}
	if !seen.evidence.isBelieved {
		return s.rate, "too few new requests to judge the rate by"
	}
	return s.rate, fmt.Sprintf("p99 of %.1f ms against %.1f ms allows %.2f MB/s",
		1e3*seen.evidence.p99, 1e3*p.targetSeconds, s.rate/1e6)
}

// keptFree is the debt to leave room for. Where latency tells nothing of how fast to be done before the next
// burst, because the target is missed anyhow, that is what a burst adds.
func (p *Policy) keptFree(seen situation, s state) float64 {
	if p.expectsBurst(seen.now, s) && p.isHopeless(seen.now, s) {
		return s.burstDebtBytes
	}
	return 0
}

func (p *Policy) heldRate(seen situation, s state) (float64, string) {
	reason := "held until latency is back below the target"
	if seen.isBurst {
		reason = fmt.Sprintf("burst: %.0f requests a second against %.0f on average",
			seen.evidence.requestsPerSecond, s.loadMean)
	}
	if !seen.isBurst && seen.now-s.lastBelieved > idleSeconds {
		return p.floor, "hardly a request for a while: the floor"
	}
	if !p.mayHold {
		return p.floor, reason
	}
	return 0, reason
}

// expectsBurst says that work had better be done soon. Who watches for no bursts can never rule them out.
func (p *Policy) expectsBurst(now float64, s state) bool {
	return !p.watchBursts || s.lastBurst != never && now-s.lastBurst <= p.burstMemory.Seconds()
}

// startsEarly asks for a task: in the quiet after a burst at little debt, so that the next burst finds
// less; out of bursts at more debt, whatever the latency; and at any time when it would soon be too late.
func (p *Policy) startsEarly(target policy.Target, seen situation, s *state) bool {
	if len(seen.tasks) > 0 {
		s.isArmed = s.isArmed && s.startedAt == never
		s.startedAt = never
		return false
	}
	isAskedFor := s.startedAt != never && seen.now-s.startedAt < pace.StartAgainSeconds
	if isAskedFor || !pace.CanStart(target) || !p.isDue(seen, *s) {
		return false
	}
	s.startedAt = seen.now
	return true
}

func (p *Policy) isDue(seen situation, s state) bool {
	if p.startAtShare > 0 && seen.estimate.Urgency() >= 1 {
		return true
	}
	isQuiet := !s.isHeld && seen.evidence.isBelieved && s.goodSince != never
	if isQuiet && s.isArmed && seen.estimate.IsDue(p.startEarlyAtShare) {
		return true
	}
	isSoon := seen.estimate.IsDue(p.startAtShare) || p.startAtShare > 0 && seen.estimate.Urgency() >= startUrgency
	return !seen.isBurst && seen.evidence.isBelieved && isSoon
}

// mostInputs is how many figures a decision rests on at most.
const mostInputs = 11

func (p *Policy) inputs(seen situation, s state) map[string]float64 {
	// A literal would have room for these seven alone, and be made anew when the last ones come.
	inputs := make(map[string]float64, mostInputs)
	inputs["target_seconds"] = p.targetSeconds
	inputs["controlled_bytes_per_second"] = s.rate
	inputs["debt_bytes"] = seen.estimate.Bytes
	inputs["debt_limit_bytes"] = seen.estimate.LimitBytes
	inputs["debt_growth_bytes_per_second"] = seen.estimate.GrowthBytesPerSecond
	inputs["debt_floor_bytes_per_second"] = seen.estimate.FloorBytesPerSecond()
	inputs["remaining_bytes"] = seen.estimate.RemainingBytes
	if seen.evidence.isBelieved {
		inputs["p99_seconds"] = seen.evidence.p99
	}
	if seen.evidence.hasLoad {
		inputs["load_requests_per_second"] = seen.evidence.requestsPerSecond
	}
	if seen.evidence.hasLoad && p.watchBursts {
		inputs["mean_load_requests_per_second"] = s.loadMean
	}
	if needed, isKnown := seen.estimate.NeededBytesPerSecond(0); isKnown && !math.IsInf(needed, 0) {
		inputs["needed_bytes_per_second"] = needed
	}
	return inputs
}
