package repair

import "github.com/prometheus/client_golang/prometheus"

// Metrics count what this process has repaired.
type Metrics struct {
	bytes      *prometheus.CounterVec
	segments   *prometheus.CounterVec
	failures   prometheus.Counter
	left       prometheus.Gauge
	unreadable prometheus.Gauge
}

// Why segments are made anew, or removed.
const (
	forRepair  = "repair"
	forBalance = "balance"
	asOrphan   = "orphan"
)

// NewMetrics registers the metrics of repair.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_pool_repair_bytes_total",
			Help: "Bytes of segments that this node has made anew on servers of the pool, by why: repair or balance.",
		}, []string{"reason"}),
		segments: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_pool_repair_segments_total",
			Help: "Segments that this node has made anew, for repair or balance, or removed as an orphan, which no file has.",
		}, []string{"reason"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_pool_repair_failures_total",
			Help: "Segments that this node could not make anew or remove, or passes that it could not make; it does so later.",
		}),
		left: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sluice_pool_repair_segments_left",
			Help: "Segments that are to be made anew, if this node is the one that repairs the pool; 0 on others.",
		}),
		unreadable: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sluice_pool_repair_unreadable_slots",
			Help: "Parts of sealed files of which no server that answers has a copy, if this node repairs the pool; 0 on others.",
		}),
	}
	for _, reason := range []string{forRepair, forBalance} {
		m.bytes.WithLabelValues(reason)
		m.segments.WithLabelValues(reason)
	}
	m.segments.WithLabelValues(asOrphan)
	registry.MustRegister(m.bytes, m.segments, m.failures, m.left, m.unreadable)
	return m
}

func (m *Metrics) remade(reason string, bytes int64) {
	m.bytes.WithLabelValues(reason).Add(float64(bytes))
	m.segments.WithLabelValues(reason).Inc()
	if reason == forRepair {
		m.left.Dec()
	}
}

func (m *Metrics) removedOrphan() {
	m.segments.WithLabelValues(asOrphan).Inc()
}

func (m *Metrics) surveyed(survey *Survey) {
	m.left.Set(float64(survey.Left))
	m.unreadable.Set(float64(survey.Unreadable))
}

// notMine is for a node that does not repair.
func (m *Metrics) notMine() {
	m.surveyed(&Survey{})
}
