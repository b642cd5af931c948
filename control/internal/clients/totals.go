package clients

import (
	"maps"
	"time"
)

// alpha is that of the moving averages: of each new interval an eighth.
const alpha = 0.125

// Totals are all requests of a class since the agent has started.
type Totals struct {
	// MeanSeconds and RequestsPerSecond are moving averages over intervals.
	MeanSeconds, RequestsPerSecond float64
	Count, Errors                  uint64
	SumSeconds                     float64
	// Below is how many took less than so many seconds.
	Below map[float64]uint64
}

// The bounds of Below: powers of two of microseconds, at which buckets end.
const (
	leastBound  = 64 * time.Microsecond
	boundsCount = 22
)

func (o *observed) total(class string) *Totals {
	if o.totals[class] == nil {
		o.totals[class] = &Totals{Below: make(map[float64]uint64, boundsCount)}
	}
	return o.totals[class]
}

// take adds an interval.
func (t *Totals) take(requests *histogram, length time.Duration) {
	rate, mean := float64(requests.count)/length.Seconds(), requests.mean().Seconds()
	if t.Count == 0 {
		t.MeanSeconds, t.RequestsPerSecond = mean, rate
	}
	t.RequestsPerSecond += alpha * (rate - t.RequestsPerSecond)
	if requests.count > 0 {
		t.MeanSeconds += alpha * (mean - t.MeanSeconds)
	}
	t.Count += requests.count
	t.Errors += requests.errors
	t.SumSeconds += requests.sumSeconds
	for i := range boundsCount {
		bound := leastBound << i
		t.Below[bound.Seconds()] += requests.below(bound)
	}
}

// Usage is what clients of a kind of store have reported.
type Usage struct {
	// Clients is how many have reported lately.
	Clients int
	// LostRequests is how many they have told nobody of.
	LostRequests uint64
	// Totals are by class.
	Totals map[string]Totals
}

// Usage is that of each kind of store.
func (c *Collector) Usage() map[string]Usage {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	now := c.now()
	all := make(map[string]Usage, len(c.stores))
	for kind, of := range c.stores {
		of.endInterval(now)
		used := Usage{Clients: of.clients(now), LostRequests: of.lost, Totals: make(map[string]Totals, len(of.totals))}
		for class, totals := range of.totals {
			shown := *totals
			shown.Below = maps.Clone(totals.Below)
			used.Totals[class] = shown
		}
		all[kind] = used
	}
	return all
}
