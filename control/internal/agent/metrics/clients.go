package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/control/internal/clients"
)

// clientMetric describes a metric of what clients of a kind of store on the node have measured.
func clientMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"store"}, labels...), nil)
}

var (
	reportingClients = clientMetric("sluice_clients",
		"Clients on the node that have reported response times lately.")
	lostRequests = clientMetric("sluice_client_lost_requests_total",
		"Requests that clients could tell no agent of, as none answered.")
	clientMean = clientMetric("sluice_client_request_mean_seconds",
		"Mean response time of requests as clients measure it: moving average over intervals, alpha 0.125.", "class")
	clientRate = clientMetric("sluice_client_requests_per_second",
		"Requests of clients that ended well: moving average over intervals, alpha 0.125.", "class")
	clientErrors = clientMetric("sluice_client_request_errors_total",
		"Requests of clients that failed.", "class")
	clientDuration = clientMetric("sluice_client_request_duration_seconds",
		"Response times of requests that ended well, as clients measure them.", "class")
)

// clientCollector shows what clients have reported.
type clientCollector struct {
	source Source
}

// Describe implements prometheus.Collector.
func (c clientCollector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, description := range []*prometheus.Desc{
		reportingClients, lostRequests, clientMean, clientRate, clientErrors, clientDuration,
	} {
		descriptions <- description
	}
}

// Collect implements prometheus.Collector.
func (c clientCollector) Collect(metrics chan<- prometheus.Metric) {
	for store, used := range c.source.Clients() {
		metrics <- gauge(reportingClients, float64(used.Clients), store)
		metrics <- counter(lostRequests, float64(used.LostRequests), store)
		for class, totals := range used.Totals {
			collectTotals(metrics, totals, store, class)
			// Averages of clients that are gone say nothing.
			if used.Clients > 0 {
				metrics <- gauge(clientMean, totals.MeanSeconds, store, class)
				metrics <- gauge(clientRate, totals.RequestsPerSecond, store, class)
			}
		}
	}
}

func collectTotals(metrics chan<- prometheus.Metric, totals clients.Totals, labels ...string) {
	metrics <- counter(clientErrors, float64(totals.Errors), labels...)
	metrics <- prometheus.MustNewConstHistogram(clientDuration, totals.Count, totals.SumSeconds, totals.Below, labels...)
}
