package servicelevel

import (
	"fmt"
	"time"

	"sluice.dev/control/internal/quantity"
)

// explain is the arithmetic of some shares of a plan, and of all together, one step a line.
func (p plan) explain(shares []share) []string {
	r := p.resources
	lines := []string{
		fmt.Sprintf("nodes: %d, each with %s of cache that may be reserved, in steps of %s: %d steps",
			r.Nodes, quantity.FormatBytes(r.ReservableBytes), quantity.FormatBytes(r.StepBytes), r.steps()),
		fmt.Sprintf("devices: %d nodes x %g reads at a time / %s = %s, of which %s may be promised: %s",
			r.Nodes, r.Costs.ParallelReads, duration(r.Costs.ReadSeconds), rate(r.readsAtMost()),
			quantity.FormatShare(r.Costs.MostUtilisation), rate(r.readsPerSecond())),
		fmt.Sprintf("a miss on devices that are so busy: %s / (1 - %g) = %s; a hit: %s",
			duration(r.Costs.ReadSeconds), r.Costs.MostUtilisation, duration(p.missSeconds()), duration(r.Costs.HitSeconds)),
	}
	if r.IsShared {
		lines = append(lines, "the cache of a node is one for all objects: each is counted as if it had a part of its own, "+
			"and has less while others read more")
	}
	for _, given := range shares {
		lines = append(lines, p.explainShare(given)...)
	}
	return append(lines,
		fmt.Sprintf("cache of all: %s of %s on each node", p.cache(p.steps), p.cache(r.steps())),
		fmt.Sprintf("reads of the devices for all: %s of %s", rate(p.readsPerSecond), rate(r.readsPerSecond())))
}

func (p plan) explainShare(given share) []string {
	object, r := given.object, p.resources
	lines := []string{p.explainTarget(given)}
	if given.mostMisses < 0 {
		return lines
	}
	hits := r.hitShare(object, given.steps)
	why := "the least with which it is held"
	if given.steps > given.leastSteps {
		why = fmt.Sprintf("%s would do for it, the rest saves the devices work", p.cache(given.leastSteps))
	}
	return append(lines,
		fmt.Sprintf("%s: cache on each node: %s (%s): %s: %s of its reads hit", object.Name, p.cache(given.steps), why,
			p.explainHits(given), percent(hits)),
		fmt.Sprintf("%s: %g operations/s x %s reads x %s misses = %s of the devices", object.Name,
			object.MostOperationsPerSecond, percent(object.Profile.ReadShare), percent(1-hits),
			rate(r.diskReads(object, given.steps))))
}

// explainTarget shows how many reads may miss.
func (p plan) explainTarget(given share) string {
	target := given.object.Target
	quantile, isQuantile := target.Statistic.Quantile()
	formula := fmt.Sprintf("(%s - %s) / %s", duration(target.Seconds), duration(p.resources.Costs.HitSeconds), duration(p.missSeconds()))
	if isQuantile {
		formula = fmt.Sprintf("%.3g x exp(%s)", 1-quantile, formula)
	}
	if given.mostMisses < 0 {
		return fmt.Sprintf("%s: target %s %s%s, less than the %s of a hit", given.object.Name, target.Statistic,
			duration(target.Seconds), target.Where(), duration(p.resources.Costs.HitSeconds))
	}
	return fmt.Sprintf("%s: target %s %s%s: at most %s = %s of its reads may miss", given.object.Name, target.Statistic,
		duration(target.Seconds), target.Where(), formula, percent(given.mostMisses))
}

// explainHits shows the share of hits.
func (p plan) explainHits(given share) string {
	profile := given.object.Profile
	cached := float64(given.steps) * p.resources.StepBytes * float64(p.resources.Nodes)
	if profile.Locality == Random {
		return fmt.Sprintf("random, %s of %s", quantity.FormatBytes(cached), quantity.FormatBytes(profile.DataBytes))
	}
	return fmt.Sprintf("zipfian, H(%.3g rows) / H(%.3g rows) = %.4g / %.4g", cached/profile.RowBytes,
		profile.DataBytes/profile.RowBytes, harmonic(cached/profile.RowBytes), harmonic(profile.DataBytes/profile.RowBytes))
}

func (p plan) missSeconds() float64 {
	return p.resources.Costs.ReadSeconds / (1 - p.resources.Costs.MostUtilisation)
}

func (p plan) cache(steps int) string {
	return quantity.FormatBytes(float64(steps) * p.resources.StepBytes)
}

func duration(seconds float64) string {
	return quantity.FormatDuration(time.Duration(seconds * float64(time.Second)))
}

func rate(readsPerSecond float64) string { return fmt.Sprintf("%.4g reads/s", readsPerSecond) }

func percent(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }
