package simulator

import (
	"math"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// reader is an application as a cache sees it that all share.
type reader struct {
	profile   servicelevel.Profile
	perSecond float64
}

// held is how many bytes of its rows are read at least so often for each byte of them.
func (r reader) held(perSecondAndByte float64) float64 {
	if r.profile.Locality == servicelevel.Random {
		if r.perSecond/r.profile.DataBytes < perSecondAndByte {
			return 0
		}
		return r.profile.DataBytes
	}
	// The row that is read most has this share of the reads, that of rank n this divided by n to the power of 0.99.
	first := r.profile.HitShare(r.profile.RowBytes)
	rows := math.Pow(r.perSecond*first/(r.profile.RowBytes*perSecondAndByte), 1/servicelevel.ZipfianConstant)
	return min(r.profile.DataBytes, rows*r.profile.RowBytes)
}

func heldBy(readers []reader, perSecondAndByte float64) (each []float64, sum float64) {
	for _, one := range readers {
		held := one.held(perSecondAndByte)
		each = append(each, held)
		sum += held
	}
	return each, sum
}

// contents is what a cache of so many bytes holds of each reader, if it holds the rows that are read most often for
// their bytes, whoever reads them.
func contents(readers []reader, bytes float64) []float64 {
	const seldom, often, tries = 1e-20, 1e20, 60
	low, high := seldom, often
	for range tries {
		if middle := math.Sqrt(low * high); sumHeldBy(readers, middle) > bytes {
			low = middle
		} else {
			high = middle
		}
	}
	more, all := heldBy(readers, low)
	fewer, some := heldBy(readers, high)
	// Of rows that are all read equally often some are held, for what is left.
	part := 1.0
	if all > max(bytes, some) {
		part = (bytes - some) / (all - some)
	}
	for i := range fewer {
		fewer[i] += part * (more[i] - fewer[i])
	}
	return fewer
}

func sumHeldBy(readers []reader, perSecondAndByte float64) float64 {
	_, sum := heldBy(readers, perSecondAndByte)
	return sum
}

// serveShared is a second of requests on a node whose cache all applications share.
func (r *serviceRun) serveShared(node *cacheNode, now time.Duration) {
	nodes := float64(len(r.nodes))
	readers := make([]reader, len(r.Applications))
	for i, application := range r.Applications {
		real := application.Object.Profile
		real.Locality = application.Locality
		readers[i] = reader{real, r.loadOf(application, now)}
	}
	capacity := r.OwnCacheBytes + node.reservedBytes()
	node.usedBytes = min(node.usedBytes, capacity)
	for i, bytes := range contents(readers, node.usedBytes*nodes) {
		profile := readers[i].profile
		node.count(r.Applications[i].Object.Scope, readers[i].perSecond/nodes, profile.HitShare(bytes))
		misses := node.second[r.Applications[i].Object.Scope].misses
		node.usedBytes = min(capacity, node.usedBytes+fillFactor*misses*profile.RowBytes)
	}
}

// shareCache makes a target that of a store whose tables share a cache, and have latencies of their own.
func (r *serviceRun) shareCache(node *cacheNode, target *policy.Target) {
	target.Description.Capabilities[0].Settings = []store.SettingName{store.ReservedBytes, store.AddedBytes}
	snapshot := &target.Snapshot
	snapshot.Figures["cache_capacity_bytes"] = r.OwnCacheBytes + node.reservedBytes()
	snapshot.Figures["cache_used_bytes"] = node.usedBytes
	for _, application := range r.Applications {
		scope := application.Object.Scope
		latency := node.latencyOf(r.Costs, *node.second[scope])
		snapshot.ScopeLatencies = append(snapshot.ScopeLatencies, store.ScopeLatency{Scope: scope, Latency: latency})
	}
}
