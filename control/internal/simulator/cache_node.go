package simulator

import (
	"fmt"
	"math"
	"time"

	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// cacheNode is a node with a device and a cache of which parts are kept for scopes.
type cacheNode struct {
	name   string
	leases map[string]cacheLease
	// cachedBytes is how much of its reservation each scope has filled.
	cachedBytes map[string]float64
	// usedBytes is what is filled of a cache that all scopes share.
	usedBytes float64
	counted   map[string]*lookups
	// second is what this second has had; utilisation is that of the device in it.
	second      map[string]*lookups
	utilisation float64
	latency     store.Latency
}

type cacheLease struct {
	bytes   float64
	setting store.Setting
	until   time.Duration
}

type lookups struct{ hits, misses float64 }

func newCacheNode(number int) *cacheNode {
	return &cacheNode{
		name: fmt.Sprintf("node%d", number), leases: map[string]cacheLease{}, cachedBytes: map[string]float64{},
		counted: map[string]*lookups{},
	}
}

// expire gives the memory of leases that have run out back.
func (n *cacheNode) expire(now time.Duration) {
	for scope, lease := range n.leases {
		if now >= lease.until {
			delete(n.leases, scope)
			delete(n.cachedBytes, scope)
		}
	}
}

func (n *cacheNode) loseShare(left float64) {
	for scope := range n.cachedBytes {
		n.cachedBytes[scope] *= left
	}
	n.usedBytes *= left
}

func (n *cacheNode) reservedBytes() float64 {
	reserved := 0.0
	for _, lease := range n.leases {
		reserved += lease.bytes
	}
	return reserved
}

func (n *cacheNode) begin() { n.second = map[string]*lookups{} }

// read is a second of reads of a scope: what misses fills its reservation.
func (n *cacheNode) read(scope string, reads, hitShare, rowBytes float64) {
	n.count(scope, reads, hitShare)
	n.cachedBytes[scope] = min(n.leases[scope].bytes, n.cachedBytes[scope]+fillFactor*n.second[scope].misses*rowBytes)
}

func (n *cacheNode) count(scope string, reads, hitShare float64) {
	n.second[scope] = &lookups{hits: reads * hitShare, misses: reads * (1 - hitShare)}
	if n.counted[scope] == nil {
		n.counted[scope] = &lookups{}
	}
	n.counted[scope].hits += n.second[scope].hits
	n.counted[scope].misses += n.second[scope].misses
}

// fillFactor is how many rows come into the cache with the one that was read, as rows of a block do. Without it the
// model's caches would take hours to fill.
const fillFactor = 64

func (n *cacheNode) missShare(scope string) float64 {
	all := n.second[scope]
	return all.misses / max(all.hits+all.misses, math.SmallestNonzeroFloat64)
}

// end works out what the requests of the second took: all misses are in one queue, on what a move leaves of the device.
func (n *cacheNode) end(costs servicelevel.Costs, moveShare float64) {
	var all lookups
	for _, each := range n.second {
		all.hits += each.hits
		all.misses += each.misses
	}
	n.utilisation = min(mostUtilisation, all.misses*costs.ReadSeconds/costs.ParallelReads+moveShare)
	n.latency = n.latencyOf(costs, all)
}

// latencyOf is what these requests took in the second.
func (n *cacheNode) latencyOf(costs servicelevel.Costs, all lookups) store.Latency {
	missShare := all.misses / max(all.hits+all.misses, math.SmallestNonzeroFloat64)
	of := func(statistic servicelevel.Statistic) time.Duration {
		return time.Duration(costs.Response(statistic, missShare, n.utilisation) * float64(time.Second))
	}
	return store.Latency{
		Class: "read", Interval: time.Second, Count: uint64(all.hits + all.misses), Mean: of(servicelevel.Mean),
		P50: of(servicelevel.P50), P99: of(servicelevel.P99), P999: of(servicelevel.P999), Max: 2 * of(servicelevel.P999),
	}
}

// figures are those of a store whose cache keeps reservations.
func (n *cacheNode) figures(reservable float64) map[string]float64 {
	figures := map[string]float64{"cache_reservable_bytes": reservable, "cache_reserved_bytes": n.reservedBytes()}
	for scope, counted := range n.counted {
		figures[store.FigureName("cache", scope, "hits_total")] = math.Floor(counted.hits)
		figures[store.FigureName("cache", scope, "misses_total")] = math.Floor(counted.misses)
		figures[store.FigureName("cache", scope, "bytes")] = n.cachedBytes[scope]
		figures[store.FigureName("cache", scope, "reserved_bytes")] = n.leases[scope].bytes
	}
	return figures
}
