// Package metrics exposes remote compactions to Prometheus: those of this node's stores that go elsewhere,
// and those of other nodes that run here.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/admission"
)

// done is the result of a job that has ended well, beside the reasons of those that have not.
const done = "done"

// Client counts the jobs of this node's stores. Its methods may be called by many at once.
type Client struct {
	jobs     *prometheus.CounterVec
	input    *prometheus.CounterVec
	duration prometheus.Histogram
	placed   prometheus.Gauge
	peers    *prometheus.GaugeVec
}

// NewClient registers the metrics of jobs of this node's stores.
func NewClient(registry prometheus.Registerer) *Client {
	c := &Client{
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_compaction_client_jobs_total",
			Help: "Compactions that stores have offered, by result: done elsewhere, or why the store compacted by itself.",
		}, []string{"result"}),
		input: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_compaction_client_input_bytes_total",
			Help: "Input of compactions that stores have offered, by result.",
		}, []string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "sluice_compaction_client_duration_seconds",
			Help:    "How long compactions took that were done elsewhere, from the store's offer to its result.",
			Buckets: prometheus.ExponentialBuckets(0.05, 4, 8),
		}),
		placed: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sluice_compaction_client_jobs",
			Help: "Compactions of this node's stores that run elsewhere now.",
		}),
		peers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sluice_compaction_peer_up",
			Help: "Whether a peer was heard of in the last seconds.",
		}, []string{"peer"}),
	}
	registry.MustRegister(c.jobs, c.input, c.duration, c.placed, c.peers)
	startCounters(c.jobs)
	return c
}

// startCounters has every result there from the start, at 0, so that the first one counts as a rise.
func startCounters(counters *prometheus.CounterVec) {
	counters.WithLabelValues(done)
	for _, reason := range compaction.Reasons() {
		counters.WithLabelValues(string(reason))
	}
}

// Placed counts a job that begins to run elsewhere, and one that no longer does.
func (c *Client) Placed(change int) {
	c.placed.Add(float64(change))
}

// Ended counts a job that was offered; failure is nil if it was done elsewhere.
func (c *Client) Ended(job compaction.Job, failure *compaction.Failure, took time.Duration) {
	result := resultOf(failure)
	c.jobs.WithLabelValues(result).Inc()
	c.input.WithLabelValues(result).Add(float64(job.InputBytes))
	if failure == nil {
		c.duration.Observe(took.Seconds())
	}
}

// PeerIsUp says whether a peer was heard of.
func (c *Client) PeerIsUp(peer string, isUp bool) {
	value := 0.0
	if isUp {
		value = 1
	}
	c.peers.WithLabelValues(peer).Set(value)
}

func resultOf(failure *compaction.Failure) string {
	if failure == nil {
		return done
	}
	return string(failure.Reason)
}

// Worker counts the jobs of other nodes. Its methods may be called by many at once.
type Worker struct {
	jobs     *prometheus.CounterVec
	cpu      prometheus.Counter
	opening  prometheus.Counter
	duration prometheus.Histogram
	unswept  prometheus.Counter
	restarts prometheus.Counter
	resumed  prometheus.Counter
}

// NewWorker registers the metrics of jobs of other nodes. usage is what they have been given.
func NewWorker(registry prometheus.Registerer, usage func() admission.Usage) *Worker {
	w := &Worker{
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_compaction_worker_jobs_total",
			Help: "Compactions of other nodes, by result: done and taken, or why they were refused or had none.",
		}, []string{"result"}),
		cpu: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_compaction_worker_cpu_seconds_total",
			Help: "Processor time of workers, also of those whose compaction was not done.",
		}),
		opening: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_compaction_worker_open_seconds_total",
			Help: "Time that workers whose compaction was done took to open their database.",
		}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "sluice_compaction_worker_duration_seconds",
			Help:    "How long workers whose compaction was done have run.",
			Buckets: prometheus.ExponentialBuckets(0.05, 4, 8),
		}),
		unswept: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_compaction_worker_sweep_failures_total",
			Help: "Attempts to remove what a compaction has left that have failed.",
		}),
		restarts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_compaction_worker_restarts_total",
			Help: "Workers that were started for a job whose first one was lost.",
		}),
		resumed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_compaction_worker_resumed_bytes_total",
			Help: "Output of lost workers that the next one did not have to write again.",
		}),
	}
	registry.MustRegister(w.jobs, w.cpu, w.opening, w.duration, w.unswept, w.restarts, w.resumed,
		gaugeOf("sluice_compaction_worker_jobs", "Compactions of other nodes that run here now.",
			func() float64 { return float64(usage().Jobs) }),
		gaugeOf("sluice_compaction_worker_memory_bytes", "Memory that running compactions of other nodes may take.",
			func() float64 { return float64(usage().MemoryBytes) }),
		gaugeOf("sluice_compaction_worker_temporary_bytes", "Temporary space that running compactions of other nodes may take.",
			func() float64 { return float64(usage().TemporaryBytes) }),
	)
	startCounters(w.jobs)
	return w
}

func gaugeOf(name, help string, value func() float64) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

// Ended counts a job; failure is nil if the caller has taken its result.
func (w *Worker) Ended(failure *compaction.Failure) {
	w.jobs.WithLabelValues(resultOf(failure)).Inc()
}

// Spent counts the processor time of the workers of a job.
func (w *Worker) Spent(cpuTime time.Duration) {
	w.cpu.Add(max(0, cpuTime.Seconds()))
}

// Ran counts how long a worker with a result has taken.
func (w *Worker) Ran(took time.Duration, openSeconds float64) {
	w.duration.Observe(took.Seconds())
	w.opening.Add(max(0, openSeconds))
}

// Restarted counts a second worker of a job.
func (w *Worker) Restarted() {
	w.restarts.Inc()
}

// Resumed counts what a second worker had not to do again.
func (w *Worker) Resumed(bytes uint64) {
	w.resumed.Add(float64(bytes))
}

// SweepFailed counts a directory that could not be removed.
func (w *Worker) SweepFailed() {
	w.unswept.Inc()
}
