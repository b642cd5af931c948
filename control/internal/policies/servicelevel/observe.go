package servicelevel

import (
	"math"
	"slices"
	"strings"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	reservableFigure = "cache_reservable_bytes"
	reservedFigure   = "cache_reserved_bytes"
	capacityFigure   = "cache_capacity_bytes"
	usedFigure       = "cache_used_bytes"
	cachePrefix      = "cache_"
	hitsSuffix       = "_hits_total"
	missesSuffix     = "_misses_total"
	bytesSuffix      = "_bytes"
	reservedSuffix   = "_reserved_bytes"
	// sameIntervalShare is the part of an interval by which its end may be told differently each time.
	sameIntervalShare = 0.25
	readClass         = "read"
)

// totals are what all scopes of each instance have counted, which every object there compares with.
type totals map[policy.Ref]counted

func (t totals) of(target policy.Target) counted {
	all, isKnown := t[target.Ref]
	if !isKnown {
		all = allCounters(target.Snapshot.Figures)
		t[target.Ref] = all
	}
	return all
}

// observe takes in what is new in the snapshots of an object's targets, and what clients tell. What is not fresh says
// nothing.
func (p *Policy) observe(view policy.View, object *objectState, targets []policy.Target, servers totals) {
	now := view.Now
	var reads arrived
	var own, all counted
	object.isOwn = object.isOwn || object.isMeasuredAtClient() || slices.ContainsFunc(targets, tellsByScope)
	for _, source := range object.sources(view, targets) {
		reads.add(object.take(now, source))
	}
	for _, target := range targets {
		if !target.Fresh {
			continue
		}
		figures, scope := target.Snapshot.Figures, object.demand.Scope
		counts := counted{hits: sumOf(figures, scope, hitsSuffix), misses: sumOf(figures, scope, missesSuffix)}
		own.add(object.hits.since(target.Ref, now-target.Age, counts))
		all.add(object.servers.since(target.Ref, now-target.Age, servers.of(target)))
	}
	object.load.take(now, reads, p.latencyStale)
	object.hits.take(now, own)
	object.servers.take(now, all)
}

// tellsByScope says whether an instance tells latencies of scopes.
func tellsByScope(target policy.Target) bool {
	return target.Fresh && len(target.Snapshot.ScopeLatencies) > 0
}

// arrived is what new intervals tell of reads: how many there were, and what they took.
type arrived struct {
	count, seconds float64
}

func (a *arrived) add(other arrived) {
	a.count += other.count
	a.seconds += other.seconds
}

// take takes in the new intervals of a source.
func (o *objectState) take(now time.Duration, source source) (reads arrived) {
	for _, latency := range source.latencies {
		if !o.load.isNew(now, source, latency) || latency.Class != readClass {
			continue
		}
		o.window.add(latency)
		reads.count += float64(latency.Count)
		reads.seconds += float64(latency.Count) * latency.Mean.Seconds()
	}
	return reads
}

// isNew says whether an interval has not been taken in, and takes note of it: snapshots show the last few again and
// again.
func (l *load) isNew(now time.Duration, from source, latency store.Latency) bool {
	seconds := latency.Interval.Seconds()
	if seconds <= 0 {
		return false
	}
	key := interval{from.ref, latency.Class}
	end := (now - from.age - latency.Age).Seconds()
	if last, isKnown := l.last[key]; isKnown && end <= last.at+sameIntervalShare*seconds {
		return false
	}
	l.last[key] = ended{at: end, seenAt: now, perSecond: float64(latency.Count) / seconds}
	return true
}

// take moves the averages. Without reads there is nothing to go by.
func (l *load) take(now time.Duration, reads arrived, stale time.Duration) {
	if reads.count == 0 {
		return
	}
	mean, requests := reads.seconds/reads.count, l.perSecond(now, stale)
	if !l.isThere {
		l.meanSeconds, l.requestsPerSecond, l.isThere = mean, requests, true
	}
	l.meanSeconds += alpha * (mean - l.meanSeconds)
	l.requestsPerSecond += alpha * (requests - l.requestsPerSecond)
	l.seenAt = now
}

// perSecond adds up what each source has told last: their intervals take longer than a period, and do not end at the
// same time.
func (l *load) perSecond(now, stale time.Duration) (sum float64) {
	var rates []float64
	for _, last := range l.last {
		if now-last.seenAt <= stale {
			rates = append(rates, last.perSecond)
		}
	}
	// In an order of their own, so that the sum is the same each time to the last digit.
	slices.Sort(rates)
	for _, rate := range rates {
		sum += rate
	}
	return sum
}

// allCounters adds up those of all scopes of a server.
func allCounters(figures map[string]float64) (all counted) {
	for name, figure := range figures {
		switch {
		case !strings.HasPrefix(name, cachePrefix):
		case strings.HasSuffix(name, hitsSuffix):
			all.hits += figure
		case strings.HasSuffix(name, missesSuffix):
			all.misses += figure
		}
	}
	return all
}

// sumOf is a figure of a scope; where a store has those of a table's families alone, that of the table is their sum.
func sumOf(figures map[string]float64, scope, suffix string) float64 {
	sum := figures[store.FigureName("cache", scope, suffix[1:])]
	if strings.Contains(scope, "/") {
		return sum
	}
	begin := strings.TrimSuffix(store.FigureName("cache", scope+"/", ""), "_")
	for name, figure := range figures {
		if strings.HasPrefix(name, begin) && strings.HasSuffix(name, suffix) && !strings.HasSuffix(name, reservedSuffix) {
			sum += figure
		}
	}
	return sum
}

// since is how much a second counters of an instance have counted since the last look. Those that have gone back are of
// a server that has restarted: what they count is new from there on.
func (h *hits) since(ref policy.Ref, at time.Duration, is counted) counted {
	is.at = at
	was, isKnown := h.last[ref]
	if isKnown && at <= was.at {
		return counted{}
	}
	h.last[ref] = is
	if !isKnown || is.hits < was.hits || is.misses < was.misses {
		return counted{}
	}
	seconds := (at - was.at).Seconds()
	return counted{hits: (is.hits - was.hits) / seconds, misses: (is.misses - was.misses) / seconds}
}

// take moves the averages by what all instances have counted. Without lookups there is nothing to go by.
func (h *hits) take(now time.Duration, new counted) {
	if new.hits+new.misses == 0 {
		return
	}
	if !h.isThere {
		h.hits, h.misses, h.isThere = new.hits, new.misses, true
	}
	h.hits += alpha * (new.hits - h.hits)
	h.misses += alpha * (new.misses - h.misses)
	h.seenAt = now
}

// measurement is what an object is judged by at a decision.
type measurement struct {
	// missing is why it cannot be judged; empty if it can.
	missing string
	// seconds is its target's statistic; isEstimated says that it is not as measured.
	seconds     float64
	isEstimated bool
	operations  float64
	hitShare    float64
	// hasHits says whether hitShare is there.
	hasHits bool
	// missSeconds is what a miss takes, in the mean.
	missSeconds float64
}

// aloneShare is the share of its servers' lookups from which on an object is taken to be alone there.
const aloneShare = 0.95

// measure judges an object by what has been seen since the last decision.
func (p *Policy) measure(now time.Duration, object *objectState) measurement {
	switch {
	case object.isMeasuredAtClient() && object.isSilent(now, p.latencyStale):
		return measurement{missing: "no client has reported reads of it lately: do its clients report to the agents of their nodes, is there load?"}
	case object.isSilent(now, p.latencyStale):
		return measurement{missing: "its servers have reported no reads of it lately: is their latency measured, is there load?"}
	case !object.hits.isThere || now-object.hits.seenAt > p.latencyStale:
		return measurement{missing: "its servers have counted no lookups of it lately: does the scope exist, is it cached, is there load?"}
	}
	judged := measurement{hitShare: object.hits.hitShare(), hasHits: true}
	share, misses := object.lookupShare(), object.servers.missShare()
	if object.isOwn {
		share, misses = 1, object.hits.missShare()
	}
	judged.operations = object.load.requestsPerSecond * share
	judged.missSeconds = max(0, object.load.meanSeconds-p.costs.HitSeconds) / max(misses, leastMisses)
	if share >= aloneShare {
		judged.seconds = object.asMeasured()
		return judged
	}
	judged.isEstimated = true
	judged.seconds = p.response(object, judged.missSeconds, object.hits.missShare())
	return judged
}

// isSilent says whether nobody has told of reads of an object lately.
func (o *objectState) isSilent(now, stale time.Duration) bool {
	return !o.load.isThere || now-o.load.seenAt > stale
}

// lookupShare is an object's share of the lookups of its servers.
func (o *objectState) lookupShare() float64 {
	return min(1, o.hits.lookups()/max(o.servers.lookups(), math.SmallestNonzeroFloat64))
}

// leastMisses keeps what a miss takes from being worked out of next to none.
const leastMisses = 0.001

// asMeasured is the statistic of all reads that the object is judged by.
func (o *objectState) asMeasured() float64 {
	quantile, isQuantile := o.demand.Target.Statistic.Quantile()
	if !isQuantile || o.window.total == 0 {
		return o.load.meanSeconds
	}
	return o.window.quantile(quantile)
}

// response is what the statistic of an object comes to where a miss takes so long and a share of its reads misses.
func (p *Policy) response(object *objectState, missSeconds, missShare float64) float64 {
	costs := p.costs
	costs.ReadSeconds = missSeconds
	return costs.Response(object.demand.Target.Statistic, missShare, 0)
}
