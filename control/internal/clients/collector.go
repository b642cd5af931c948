package clients

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	// intervalTime is how long intervals are at least: clients report once a second, and not in step.
	intervalTime = 2 * time.Second
	// idleTime is for how long a client that says nothing counts as there, and an interval without a report goes on.
	idleTime = 5 * time.Second
	// keptIntervals is how many are shown, so that a controller that is late misses none.
	keptIntervals = 2
	// shownFor is for how long the last intervals are shown, as those of stores that no longer answer are.
	shownFor = time.Minute
	// maxScopes bounds the parts of a store that are told apart in an interval, the first ones that come.
	maxScopes = 100
)

// Collector adds up what the clients of a node report, for each kind of store that it takes reports of. It is safe for
// concurrent use.
type Collector struct {
	now    func() time.Time
	mutex  sync.Mutex
	stores map[string]*observed
}

// NewCollector takes reports of these kinds of stores. The clock must never jump.
func NewCollector(kinds []string, now func() time.Time) *Collector {
	c := &Collector{now: now, stores: make(map[string]*observed, len(kinds))}
	for _, kind := range kinds {
		c.stores[kind] = &observed{
			seen: make(map[*session]time.Time), series: make(map[series]*histogram), scopes: make(map[string]bool),
			totals: make(map[string]*Totals),
		}
	}
	return c
}

// observed is what is known of a kind of store. The interval that goes on began at a time, and holds series.
type observed struct {
	seen   map[*session]time.Time
	began  time.Time
	spans  time.Duration
	series map[series]*histogram
	scopes map[string]bool
	ended  []interval
	totals map[string]*Totals
	lost   uint64
}

// series are the requests of a class, for a part of the store or, with an empty scope, for all of it.
type series struct{ class, scope string }

// interval is one that has ended.
type interval struct {
	at        time.Time
	latencies []store.ScopeLatency
}

// take adds a report.
func (c *Collector) take(from *session, report Report) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	of := c.stores[report.Store]
	if of == nil {
		return store.Errorf(store.CodeNotFound, "this agent takes no reports of clients of %q", report.Store).
			WithHint("Add it to clients.stores of the agent's configuration; it has: %s.", strings.Join(c.kinds(), ", "))
	}
	now, spans := c.now(), seconds(report.IntervalSeconds)
	of.seen[from] = now
	of.lost += report.LostRequests
	if len(of.series) == 0 && now.Sub(of.began) > idleTime {
		of.began = now.Add(-spans)
	}
	of.spans = max(of.spans, spans)
	for _, requests := range report.Requests {
		of.add(requests)
	}
	of.endInterval(now)
	return nil
}

// leave forgets a client that is gone.
func (c *Collector) leave(from *session) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, of := range c.stores {
		delete(of.seen, from)
	}
}

func (c *Collector) kinds() []string { return slices.Sorted(maps.Keys(c.stores)) }

// add counts requests for their part of the store, for what that is a part of, and for the store.
func (o *observed) add(told Requests) {
	o.of(series{told.Class, ""}).add(told)
	if table, _, isPart := strings.Cut(told.Scope, "/"); isPart && table != "" {
		o.addTo(series{told.Class, table}, told)
	}
	if told.Scope != "" {
		o.addTo(series{told.Class, told.Scope}, told)
	}
}

func (o *observed) addTo(key series, told Requests) {
	if !o.scopes[key.scope] && len(o.scopes) == maxScopes {
		return
	}
	o.scopes[key.scope] = true
	o.of(key).add(told)
}

func (o *observed) of(key series) *histogram {
	if o.series[key] == nil {
		o.series[key] = newHistogram()
	}
	return o.series[key]
}

// endInterval ends the interval if it is time to. One in which nobody has reported goes on.
func (o *observed) endInterval(now time.Time) {
	if len(o.series) == 0 || now.Sub(o.began) < intervalTime {
		return
	}
	// A client that was held up tells of a longer time.
	length := max(now.Sub(o.began), o.spans)
	ended := interval{at: now}
	for key, requests := range o.series {
		if key.scope == "" {
			o.total(key.class).take(requests, length)
		}
		ended.latencies = append(ended.latencies, store.ScopeLatency{Scope: key.scope, Latency: requests.latency(key.class, length)})
	}
	slices.SortFunc(ended.latencies, func(a, b store.ScopeLatency) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Class, b.Class))
	})
	o.ended = append(o.ended, ended)
	o.ended = o.ended[max(0, len(o.ended)-keptIntervals):]
	o.began, o.spans, o.series, o.scopes = now, 0, make(map[series]*histogram), make(map[string]bool)
}

func (h *histogram) latency(class string, length time.Duration) store.Latency {
	found := h.quantiles(0.5, 0.99, 0.999)
	return store.Latency{
		Class: class, Interval: length, Count: h.count, Errors: h.errors,
		Mean: h.mean(), P50: found[0], P99: found[1], P999: found[2], Max: h.max,
	}
}

// clients is how many have reported lately.
func (o *observed) clients(now time.Time) (count int) {
	for _, at := range o.seen {
		if now.Sub(at) <= idleTime {
			count++
		}
	}
	return count
}

// Latencies are those of the last intervals, of each kind of store that there are reports of.
func (c *Collector) Latencies() []policy.ClientLatencies {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	now := c.now()
	var all []policy.ClientLatencies
	for _, kind := range c.kinds() {
		of := c.stores[kind]
		of.endInterval(now)
		of.forget(now)
		clients := of.clients(now)
		if clients == 0 && len(of.ended) == 0 {
			continue
		}
		all = append(all, of.latencies(policy.ClientLatencies{Store: kind, Clients: clients, TakenAt: now}))
	}
	return all
}

// forget drops intervals that say nothing of now.
func (o *observed) forget(now time.Time) {
	o.ended = slices.DeleteFunc(o.ended, func(ended interval) bool { return now.Sub(ended.at) > shownFor })
}

func (o *observed) latencies(all policy.ClientLatencies) policy.ClientLatencies {
	for _, ended := range o.ended {
		for _, latency := range ended.latencies {
			latency.Age = all.TakenAt.Sub(ended.at)
			if latency.Scope == "" {
				all.Latencies = append(all.Latencies, latency.Latency)
				continue
			}
			all.ScopeLatencies = append(all.ScopeLatencies, latency)
		}
	}
	return all
}
