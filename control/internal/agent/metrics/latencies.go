package metrics

import (
	"time"

	"sluice.dev/control/internal/store"
)

// lastLatencies picks the youngest interval of each class that the vocabulary has.
func lastLatencies(latencies []store.Latency) map[string]store.Latency {
	last := make(map[string]store.Latency)
	for _, latency := range latencies {
		if latency.Class != "read" && latency.Class != "write" {
			continue
		}
		if previous, known := last[latency.Class]; !known || latency.Age <= previous.Age {
			last[latency.Class] = latency
		}
	}
	return last
}

func (s sink) latency(class string, latency store.Latency) {
	if latency.Interval > 0 {
		seconds := latency.Interval.Seconds()
		s.gauge(requestRate, float64(latency.Count)/seconds, class, "ok")
		s.gauge(requestRate, float64(latency.Errors)/seconds, class, "error")
	}
	if latency.Count == 0 {
		return
	}
	for statistic, value := range map[string]time.Duration{
		"mean": latency.Mean, "p50": latency.P50, "p99": latency.P99, "p999": latency.P999, "max": latency.Max,
	} {
		s.gauge(requestLatency, value.Seconds(), class, statistic)
	}
}
