package blocks

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count what a node's segments are used for.
type Metrics struct {
	written  prometheus.Counter
	readOut  prometheus.Counter
	failures prometheus.Counter
	syncs    prometheus.Histogram
	scrubbed prometheus.Counter
	damaged  prometheus.Gauge
}

// Space tells the size of the file system and what the pool may still take of it, in bytes.
type Space func() (total, free int64, err error)

// NewMetrics registers the metrics of a node's segments.
func NewMetrics(registry prometheus.Registerer, space Space) *Metrics {
	m := &Metrics{
		written: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_pool_written_bytes_total",
			Help: "Bytes that were added to segments of this node.",
		}),
		readOut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_pool_read_bytes_total",
			Help: "Bytes that were read of segments of this node.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_pool_read_failures_total",
			Help: "Reads of segments of this node that have failed, such as for a wrong checksum.",
		}),
		syncs: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "sluice_pool_sync_duration_seconds",
			Help:    "How long it took to have a segment on the disk.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}),
	}
	m.scrubbed = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "sluice_pool_scrubbed_bytes_total",
		Help: "Bytes of segments of this node that were read to see whether they are what was written.",
	})
	m.damaged = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "sluice_pool_damaged_segments",
		Help: "Segments of this node that the last whole pass of scrubbing has found damaged.",
	})
	free := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sluice_pool_free_bytes",
		Help: "Bytes that the pool may still take of this node's file system; -1 if that cannot be told.",
	}, func() float64 {
		_, free, err := space()
		if err != nil {
			return -1
		}
		return float64(free)
	})
	registry.MustRegister(m.written, m.readOut, m.failures, m.syncs, m.scrubbed, m.damaged, free)
	return m
}

func (m *Metrics) wrote(bytes int) {
	m.written.Add(float64(bytes))
}

func (m *Metrics) read(bytes int, err error) {
	m.readOut.Add(float64(bytes))
	if err != nil {
		m.failures.Inc()
	}
}

// timeSync takes the time until what it returns is called.
func (m *Metrics) timeSync() func() {
	begin := time.Now()
	return func() { m.syncs.Observe(time.Since(begin).Seconds()) }
}

func (m *Metrics) scrubbedPart(bytes int) {
	m.scrubbed.Add(float64(bytes))
}

func (m *Metrics) scrubbedAll(damaged int) {
	m.damaged.Set(float64(damaged))
}
