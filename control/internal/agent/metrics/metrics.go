// Package metrics exposes an agent, its stores and its node to Prometheus.
//
// Labels have few values: instances are bounded by discovery, kinds, states and settings by the
// vocabulary. Scopes and owners, of which callers can make up as many as they like, are no labels; what
// they have in common is summed, or shown by its extreme, as the help of each metric says.
package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sluice.dev/control/internal/agent/stores"
	"sluice.dev/control/internal/clients"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// Source is what is read when Prometheus asks.
type Source struct {
	Version string
	// Now must be the clock of the snapshots.
	Now         func() time.Time
	States      func() []*stores.State
	NodeSignals func() policy.NodeSignals
	// Clients are what clients have reported, by kind of store.
	Clients func() map[string]clients.Usage
	// CertificateExpiry is when the agent's own certificate ends.
	CertificateExpiry func() time.Time
	// RefusedHandshakes is how many TLS handshakes were refused since the start.
	RefusedHandshakes func() uint64
}

// Metrics counts what happens, and collects what is.
type Metrics struct {
	registry *prometheus.Registry
	orders   *prometheus.CounterVec
	restored *prometheus.CounterVec
}

// New makes the metrics of an agent, in a registry of their own.
func New(source Source) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		orders: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_orders_total",
			Help: "Orders of callers, by method and by the gRPC code of the answer.",
		}, []string{"method", "code"}),
		restored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_leases_restored_total",
			Help: "Attempts to give a store leases again that it lost by a restart, by result: given, or why not.",
		}, []string{"result"}),
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "sluice_build_info",
		Help:        "Always 1; the labels say what is running.",
		ConstLabels: prometheus.Labels{"component": "agent", "version": source.Version, "go_version": runtime.Version()},
	}, func() float64 { return 1 })
	expiry := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sluice_certificate_expiry_timestamp_seconds",
		Help: "When the agent's certificate ends, in seconds since 1970.",
	}, func() float64 { return float64(source.CertificateExpiry().Unix()) })
	refused := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "sluice_refused_handshakes_total",
		Help: "TLS handshakes that were refused.",
	}, func() float64 { return float64(source.RefusedHandshakes()) })
	m.registry.MustRegister(
		m.orders, m.restored, build, expiry, refused,
		storeCollector{source}, nodeCollector{source}, clientCollector{source},
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(),
	)
	return m
}

// Registry takes what other parts of the agent expose.
func (m *Metrics) Registry() prometheus.Registerer {
	return m.registry
}

// Handler answers Prometheus. What a node has to say is short, and compressing it takes a megabyte of
// buffers.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, DisableCompression: true})
}

// OrderAnswered counts an order.
func (m *Metrics) OrderAnswered(method, code string) {
	m.orders.WithLabelValues(method, code).Inc()
}

// LeaseRestored counts a lease that was given again, or could not be because of an error.
func (m *Metrics) LeaseRestored(err error) {
	result := "given"
	if err != nil {
		result = string(store.CodeOf(err))
	}
	m.restored.WithLabelValues(result).Inc()
}
