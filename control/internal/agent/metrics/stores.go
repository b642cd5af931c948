package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/control/internal/agent/stores"
	"sluice.dev/control/internal/store"
)

// storeMetric describes a metric of an instance, which has these two labels and some more.
func storeMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"store", "store_instance"}, labels...), nil)
}

var (
	storeUp = storeMetric("sluice_store_up",
		"Whether the last attempt to take a snapshot of a store succeeded.")
	snapshotAge = storeMetric("sluice_snapshot_age_seconds",
		"Time since the last snapshot was taken.")
	snapshotDuration = storeMetric("sluice_snapshot_duration_seconds",
		"Time that taking the last snapshot took.")
	snapshotFailures = storeMetric("sluice_snapshot_failures_total",
		"Attempts to take a snapshot that failed.")
	tasks = storeMetric("sluice_tasks",
		"Background tasks, over all scopes.", "kind", "state")
	taskRate = storeMetric("sluice_task_rate_bytes_per_second",
		"How fast the tasks of a kind go together.", "kind")
	leasesInForce = storeMetric("sluice_leases",
		"Leases in force, over all scopes and owners.", "kind", "setting")
	leaseTimeLeft = storeMetric("sluice_lease_time_left_seconds",
		"Time until the first lease ends unless it is renewed.", "kind", "setting")
	debtBytes = storeMetric("sluice_debt_bytes",
		"Bytes of work put off: of the store as a whole if it says, else summed over scopes.", "kind")
	debtTrigger = storeMetric("sluice_debt_trigger_bytes",
		"Debt at which the store starts a task by itself, as sluice_debt_bytes; missing if there is none.", "kind")
	debtLimit = storeMetric("sluice_debt_limit_bytes",
		"Hard bound of the debt, at which every order ends, as sluice_debt_bytes; missing if there is none.", "kind")
	debtUsed = storeMetric("sluice_debt_limit_used_ratio",
		"Debt as a share of its hard bound, of the scope that is nearest to it; missing if there is no bound.", "kind")
	debtFiles = storeMetric("sluice_debt_files",
		"Files put off, as sluice_debt_bytes.", "kind")
	debtRecovery = storeMetric("sluice_debt_estimated_recovery_seconds",
		"How long recovery would take now, the longest of all scopes; missing if it is not known.", "kind")
	requestLatency = storeMetric("sluice_request_latency_seconds",
		"Latency of requests in the last interval, by statistic: mean, p50, p99, p999, max.", "class", "statistic")
	requestRate = storeMetric("sluice_requests_per_second",
		"Requests that ended in the last interval, by result.", "class", "result")
)

// storeCollector shows the last snapshot of each store, as long as it is shown to controllers.
type storeCollector struct {
	source Source
}

// Describe implements prometheus.Collector.
func (c storeCollector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, description := range []*prometheus.Desc{
		storeUp, snapshotAge, snapshotDuration, snapshotFailures, tasks, taskRate, leasesInForce, leaseTimeLeft,
		debtBytes, debtTrigger, debtLimit, debtUsed, debtFiles, debtRecovery,
		requestLatency, requestRate,
	} {
		descriptions <- description
	}
}

// Collect implements prometheus.Collector.
func (c storeCollector) Collect(metrics chan<- prometheus.Metric) {
	now := c.source.Now()
	for _, state := range c.source.States() {
		out := sink{metrics, state, now}
		out.gauge(storeUp, boolean(out.state.IsUp()))
		out.metrics <- counter(snapshotFailures, float64(out.state.Failures), out.labels()...)
		if out.state.Snapshot != nil && out.state.IsShown(now) {
			out.snapshot(*out.state.Snapshot)
		}
	}
}

// sink sends the metrics of one instance.
type sink struct {
	metrics chan<- prometheus.Metric
	state   *stores.State
	now     time.Time
}

func (s sink) labels(more ...string) []string {
	return append([]string{s.state.Ref.Store, s.state.Ref.Instance}, more...)
}

func (s sink) gauge(description *prometheus.Desc, value float64, labels ...string) {
	s.metrics <- gauge(description, value, s.labels(labels...)...)
}

func (s sink) snapshot(snapshot store.Snapshot) {
	age := s.now.Sub(snapshot.TakenAt)
	s.gauge(snapshotAge, age.Seconds())
	s.gauge(snapshotDuration, s.state.SnapshotDuration.Seconds())
	s.tasks(snapshot.Tasks)
	s.leases(snapshot.Leases, age)
	for kind, debt := range totalDebts(snapshot.Debts) {
		s.debt(kind, debt)
	}
	for class, latency := range lastLatencies(snapshot.Latencies) {
		s.latency(class, latency)
	}
}

// tasks shows a zero for each state that no task is in, so that it can be seen to have ended.
func (s sink) tasks(list []store.Task) {
	if s.state.Description == nil {
		return
	}
	for _, capability := range s.state.Description.Capabilities {
		counts := make(map[store.State]int)
		rate := 0.0
		for _, task := range list {
			if task.Kind == capability.Kind {
				counts[task.State]++
				rate += task.RateBytesPerSecond
			}
		}
		for _, state := range store.States() {
			s.gauge(tasks, float64(counts[state]), string(capability.Kind), string(state))
		}
		s.gauge(taskRate, rate, string(capability.Kind))
	}
}

func (s sink) leases(list []store.Lease, age time.Duration) {
	type label struct {
		kind    store.Kind
		setting store.SettingName
	}
	counts := make(map[label]int)
	first := make(map[label]time.Duration)
	for _, lease := range list {
		label := label{lease.Kind, lease.Setting.Name}
		if left, known := first[label]; !known || lease.TimeLeft < left {
			first[label] = lease.TimeLeft
		}
		counts[label]++
	}
	for label, count := range counts {
		s.gauge(leasesInForce, float64(count), string(label.kind), string(label.setting))
		left := max(0, first[label]-age)
		s.gauge(leaseTimeLeft, left.Seconds(), string(label.kind), string(label.setting))
	}
}

func boolean(value bool) float64 {
	if value {
		return 1
	}
	return 0
}
