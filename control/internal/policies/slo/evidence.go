package slo

import (
	"fmt"
	"math"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	// sameIntervalShare is the part of an interval by which its end may be told differently each time.
	sameIntervalShare = 0.25
	// risingShare is the part of the longest burst in which load may still rise to what then lasts.
	risingShare = 0.25
)

// evidence is what is new about latency since the last decision.
type evidence struct {
	// missing says why there is no latency to go by; empty if there is.
	missing string
	// isBelieved says that p99 is new and rests on enough requests, of the time since start.
	isBelieved bool
	p99, start float64
	// tolerance is by how much its moments may be told differently each time.
	tolerance         float64
	requestsPerSecond float64
	hasLoad           bool
}

// observe takes in the latencies that have come since the last decision.
func (p *Policy) observe(view policy.View, target policy.Target, s *state) evidence {
	if p.signal != "" {
		return p.observeSignal(view, s)
	}
	newest := time.Duration(math.MaxInt64)
	for _, latency := range target.Snapshot.Latencies {
		if p.counts(latency) {
			newest = min(newest, latency.Age)
		}
	}
	if newest == math.MaxInt64 {
		return evidence{missing: fmt.Sprintf("the store reports no latency of %s requests: switch its measurement on, "+
			"or name a PromQL signal", p.requestClass)}
	}
	if age := newest + target.Age; age > p.latencyStale {
		return evidence{missing: fmt.Sprintf("the last latency is %.1f s old, more than %.1f s",
			age.Seconds(), p.latencyStale.Seconds())}
	}
	return p.addUp(view.Now-target.Age, newest, target.Snapshot.Latencies, s)
}

func (p *Policy) observeSignal(view policy.View, s *state) evidence {
	signal, isKnown := view.Signals[p.signal]
	switch {
	case !isKnown:
		return evidence{missing: fmt.Sprintf("there is no signal %q: declare it under signals", p.signal)}
	case !signal.Fresh:
		return evidence{missing: fmt.Sprintf("the signal %q is missing: %s", p.signal, signal.Missing)}
	case signal.Age > p.latencyStale:
		return evidence{missing: fmt.Sprintf("the signal %q is %.1f s old, more than %.1f s",
			p.signal, signal.Age.Seconds(), p.latencyStale.Seconds())}
	case math.IsNaN(signal.Value) || signal.Value < 0:
		return evidence{missing: fmt.Sprintf("the signal %q is %v, which is no latency", p.signal, signal.Value)}
	}
	end := (view.Now - signal.Age).Seconds()
	tolerance := sameIntervalShare * view.Period.Seconds()
	if s.loadEnd != never && end <= s.loadEnd+tolerance {
		return evidence{}
	}
	s.loadEnd = end
	return evidence{isBelieved: true, p99: signal.Value, start: end - p.signalWindow.Seconds(), tolerance: tolerance}
}

// addUp joins the new intervals to those that had too few requests. The highest of their percentiles is
// at least that of all their requests.
func (p *Policy) addUp(taken, newest time.Duration, latencies []store.Latency, s *state) evidence {
	var e evidence
	lastEnd := s.loadEnd
	for _, latency := range latencies {
		end := (taken - latency.Age).Seconds()
		interval := latency.Interval.Seconds()
		if !p.counts(latency) || interval <= 0 || lastEnd != never && end <= lastEnd+sameIntervalShare*interval {
			continue
		}
		if s.pendingCount == 0 {
			s.pendingStart = end - interval
		}
		s.pendingStart = min(s.pendingStart, end-interval)
		s.pendingCount += float64(latency.Count)
		s.pendingP99 = max(s.pendingP99, latency.P99.Seconds())
		s.loadEnd = max(s.loadEnd, end)
		e.tolerance = sameIntervalShare * interval
		if (latency.Age - newest).Seconds() < sameIntervalShare*interval {
			e.requestsPerSecond += float64(latency.Count) / interval
			e.hasLoad = true
		}
	}
	if s.pendingCount < p.minimumRequests {
		return e
	}
	e.isBelieved, e.p99, e.start = true, s.pendingP99, s.pendingStart
	s.pendingCount, s.pendingP99 = 0, 0
	return e
}

func (p *Policy) counts(latency store.Latency) bool {
	return p.requestClass == "both" || p.requestClass == latency.Class
}

// inBurst compares the load with its mean outside of bursts. A burst is over when the load has fallen
// half of the way from its highest; one that lasts is the new load.
func (p *Policy) inBurst(e evidence, before float64, s *state) bool {
	switch {
	case !e.hasLoad || !p.watchBursts:
	case s.loadMean == never:
		s.loadMean = e.requestsPerSecond
	case s.burstSince == never:
		p.watchForBurst(e.requestsPerSecond, s.loadEnd-before, s)
	default:
		p.watchBurst(e.requestsPerSecond, s)
	}
	return s.burstSince != never
}

func (p *Policy) watchForBurst(load, elapsed float64, s *state) {
	// Three standard deviations of a Poisson count over a second, so that few requests make no burst. They
	// are those of what was counted: the mean of an idle store is 0, and so would its deviation be.
	if load > p.burstLoadFactor*s.loadMean+3*math.Sqrt(load) {
		s.burstSince, s.burstPeak, s.burstLow, s.burstBefore = s.loadEnd, load, never, s.lastBurst
		return
	}
	s.loadMean += (1 - math.Exp(-elapsed/p.loadMemory.Seconds())) * (load - s.loadMean)
}

func (p *Policy) watchBurst(load float64, s *state) {
	s.burstPeak = max(s.burstPeak, load)
	lasted := s.loadEnd - s.burstSince
	if lasted >= risingShare*p.longestBurst.Seconds() && (s.burstLow == never || load < s.burstLow) {
		s.burstLow = load
	}
	if lasted > p.longestBurst.Seconds() {
		p.takeAsNewLoad(load, s)
		return
	}
	if load < (s.loadMean+s.burstPeak)/2 {
		s.burstSince = never
	}
}

// takeAsNewLoad ends what was no burst, so that none is to be expected because of it. What has lasted is its
// lowest load: upon that a burst may be on at this moment.
func (p *Policy) takeAsNewLoad(load float64, s *state) {
	s.loadMean, s.lastBurst, s.burstSince, s.isArmed = s.burstLow, s.burstBefore, never, false
	p.watchForBurst(load, 0, s)
}
