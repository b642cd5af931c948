package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/servicelevel"
)

// metrics counts what a controller does.
type metrics struct {
	registry       *prometheus.Registry
	decisions      *prometheus.CounterVec
	orders         *prometheus.CounterVec
	queries        *prometheus.CounterVec
	periodSeconds  prometheus.Histogram
	phaseSeconds   *prometheus.HistogramVec
	skippedPeriods prometheus.Counter
	reloads        *prometheus.CounterVec
	reloadSuccess  prometheus.Gauge
}

// periodBuckets reach from one agent to ten thousand, in seconds.
func periodBuckets() []float64 {
	return []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 1.5, 2, 5}
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_controller_decisions_total", Help: "Decisions by policy and verdict.",
		}, []string{"policy", "verdict"}),
		orders: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_controller_orders_total", Help: "Orders to agents by policy and result.",
		}, []string{"policy", "result"}),
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_controller_signal_queries_total", Help: "Queries of signals by policy, signal and result.",
		}, []string{"policy", "signal", "result"}),
		periodSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "sluice_controller_period_duration_seconds", Help: "Time that reading, deciding and writing took in a period.",
			Buckets: periodBuckets(),
		}),
		phaseSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_controller_phase_duration_seconds", Help: "Time that a part of a period's work took.",
			Buckets: periodBuckets(),
		}, []string{"phase"}),
		skippedPeriods: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_controller_skipped_periods_total", Help: "Periods left out because one before took too long.",
		}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_controller_config_reloads_total", Help: "Attempts to read the configuration again by result.",
		}, []string{"result"}),
		reloadSuccess: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sluice_controller_config_last_reload_successful",
			Help: "Whether the configuration in use is the one in the file.",
		}),
	}
	m.reloadSuccess.Set(1)
	m.registry.MustRegister(m.decisions, m.orders, m.queries, m.periodSeconds, m.phaseSeconds, m.skippedPeriods,
		m.reloads, m.reloadSuccess, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// observe adds gauges of the state of a controller, read when they are asked for.
func (m *metrics) observe(c *Controller, credentials *security.Credentials) {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("sluice_controller_active", "Whether this controller is the active one.",
		func() float64 { return number(c.elector.State().Active) })
	gauge("sluice_controller_coordination_ok", "Whether an election of the active controller can be held.",
		func() float64 { return number(c.elector.State().Problem == "") })
	gauge("sluice_controller_dry_run", "Whether nothing is written.",
		func() float64 { return number(c.published.Load().config.DryRun) })
	gauge("sluice_controller_agents", "Agents in the configuration.",
		func() float64 { return float64(len(c.published.Load().nodes)) })
	gauge("sluice_controller_agents_answering", "Agents that answered when they were last asked.",
		func() float64 { return float64(c.countAnswering()) })
	gauge("sluice_controller_agents_steered", "Agents that send their snapshots unasked.",
		func() float64 { return float64(c.countSteered()) })
	gauge("sluice_controller_policies_paused", "Policies that are paused.",
		func() float64 { return float64(c.countPaused()) })
	gauge("sluice_controller_certificate_expiry_timestamp_seconds", "When the certificate in use expires.",
		func() float64 { return float64(credentials.ExpiresAt().Unix()) })
	for _, state := range servicelevel.States() {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sluice_controller_service_levels", Help: "Service levels by how they fare; at the active controller alone.",
			ConstLabels: prometheus.Labels{"state": string(state)},
		}, func() float64 { return float64(c.countLevels(state)) }))
	}
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "sluice_controller_refused_handshakes_total", Help: "TLS handshakes that were refused.",
	}, func() float64 { return float64(credentials.RefusedHandshakes()) }))
}

func number(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}

func resultLabel(good bool) string {
	if good {
		return "success"
	}
	return "failure"
}

func (m *metrics) decided(result *outcome) {
	name := result.policy.config.Name
	m.decisions.WithLabelValues(name, string(result.decision.Verdict)).Inc()
	if result.wasWritten || result.problem != "" {
		m.orders.WithLabelValues(name, resultLabel(result.wasWritten)).Inc()
	}
}

func (m *metrics) queried(policy, signal string, fresh bool) {
	m.queries.WithLabelValues(policy, signal, resultLabel(fresh)).Inc()
}

func (m *metrics) phase(name string, took time.Duration) {
	m.phaseSeconds.WithLabelValues(name).Observe(took.Seconds())
}

func (m *metrics) periodDone(took time.Duration) {
	m.periodSeconds.Observe(took.Seconds())
}

func (m *metrics) skipped(periods int) {
	m.skippedPeriods.Add(float64(periods))
}

func (m *metrics) reloaded(good bool) {
	m.reloads.WithLabelValues(resultLabel(good)).Inc()
	m.reloadSuccess.Set(number(good))
}
