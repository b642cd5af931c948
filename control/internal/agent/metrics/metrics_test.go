package metrics

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"sluice.dev/control/internal/agent/stores"
	"sluice.dev/control/internal/clients"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// exposed asks the handler as Prometheus does, and returns every sample as "name{label=value,...}".
func exposed(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := recorder.Body.Bytes()
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	samples := make(map[string]float64)
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			labels := make(model.LabelSet)
			for _, pair := range metric.GetLabel() {
				labels[model.LabelName(pair.GetName())] = model.LabelValue(pair.GetValue())
			}
			samples[name+labels.String()] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	return samples
}

func wantSamples(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, value := range want {
		if is, exists := got[name]; !exists || is != value {
			t.Errorf("%s is %v (there: %v), want %v", name, is, exists, value)
		}
	}
}

// node is what an agent has found: a store that answered 2 s ago, and one that never has.
func node(now time.Time, snapshot store.Snapshot) Source {
	description := store.Description{
		Store: "rocksdb", Instance: "a", Capabilities: []store.Capability{{Kind: store.Compaction}},
	}
	up := stores.State{
		Ref: stores.Ref{Store: "rocksdb", Instance: "a"}, Description: &description, Snapshot: &snapshot,
		SnapshotDuration: 5 * time.Millisecond, SeenAt: now, Failures: 3,
	}
	down := stores.State{Ref: stores.Ref{Store: "hbase", Instance: "down"}, Problem: "no answer", SeenAt: now}
	return Source{
		Version: "1.2.3", Now: func() time.Time { return now },
		States: func() []*stores.State { return []*stores.State{&up, &down} },
		Clients: func() map[string]clients.Usage {
			return map[string]clients.Usage{
				"hbase": {Clients: 2, LostRequests: 7, Totals: map[string]clients.Totals{"read": {
					MeanSeconds: 0.02, RequestsPerSecond: 40, Count: 90, Errors: 3, SumSeconds: 1.5,
				}}},
				"cassandra": {Totals: map[string]clients.Totals{"read": {MeanSeconds: 1, RequestsPerSecond: 1}}},
			}
		},
		NodeSignals: func() policy.NodeSignals {
			return policy.NodeSignals{
				SampledAt: now.Add(-750 * time.Millisecond),
				CPUUsed:   0.25, CPUPressure: -1, IOPressure: 0.5, MemoryPressure: 0,
				Devices: []policy.DeviceSignals{{
					Name: "sda", InFlight: 1.5, ReadBytesPerSecond: 10, WriteBytesPerSecond: 20, Utilisation: 0.75,
				}},
			}
		},
		CertificateExpiry: func() time.Time { return time.Unix(1_900_000_000, 0) },
		RefusedHandshakes: func() uint64 { return 7 },
	}
}

func TestMetrics(t *testing.T) {
	now := time.Now()
	m := New(node(now, store.Snapshot{
		TakenAt: now.Add(-2 * time.Second),
		Tasks: []store.Task{
			{ID: "1", Kind: store.Compaction, Scope: "a", State: store.Running, RateBytesPerSecond: 5e6},
			{ID: "2", Kind: store.Compaction, Scope: "b", State: store.Running, RateBytesPerSecond: 1e6},
			{ID: "3", Kind: store.Compaction, Scope: "c", State: store.Held},
		},
		Debts: []store.Debt{{
			Kind: store.Compaction, Bytes: 75, TriggerBytes: 50, LimitBytes: 100, Files: 3, EstimatedRecovery: 4 * time.Second,
		}},
		Leases: []store.Lease{
			{Kind: store.Compaction, Scope: "a", Setting: store.Setting{Name: store.Hold}, Owner: "x", TimeLeft: 5 * time.Second},
			{Kind: store.Compaction, Scope: "b", Setting: store.Setting{Name: store.Hold}, Owner: "y", TimeLeft: 3 * time.Second},
		},
		Latencies: []store.Latency{
			{Class: "read", Age: 2 * time.Second, Interval: time.Second, Count: 1, P99: time.Hour},
			{
				Class: "read", Age: time.Second, Interval: 2 * time.Second, Count: 100, Errors: 4, Mean: 2 * time.Second,
				P50: time.Second, P99: 3 * time.Second, P999: 4 * time.Second, Max: 5 * time.Second,
			},
			{Class: "write", Interval: time.Second},
			{Class: "made up by a plug-in", Interval: time.Second, Count: 1},
		},
	}))
	m.OrderAnswered("SetLease", "OK")
	m.OrderAnswered("SetLease", "OK")
	m.LeaseRestored(nil)
	m.LeaseRestored(store.Errorf(store.CodeConflict, "taken"))
	m.LeaseRestored(errors.New("gone"))

	got := exposed(t, m)
	wantSamples(t, got, map[string]float64{
		`sluice_store_up{store="rocksdb", store_instance="a"}`:                                                   1,
		`sluice_store_up{store="hbase", store_instance="down"}`:                                                  0,
		`sluice_snapshot_age_seconds{store="rocksdb", store_instance="a"}`:                                       2,
		`sluice_snapshot_duration_seconds{store="rocksdb", store_instance="a"}`:                                  0.005,
		`sluice_snapshot_failures_total{store="rocksdb", store_instance="a"}`:                                    3,
		`sluice_tasks{kind="compaction", state="running", store="rocksdb", store_instance="a"}`:                  2,
		`sluice_tasks{kind="compaction", state="held", store="rocksdb", store_instance="a"}`:                     1,
		`sluice_tasks{kind="compaction", state="failed", store="rocksdb", store_instance="a"}`:                   0,
		`sluice_task_rate_bytes_per_second{kind="compaction", store="rocksdb", store_instance="a"}`:              6e6,
		`sluice_debt_bytes{kind="compaction", store="rocksdb", store_instance="a"}`:                              75,
		`sluice_debt_trigger_bytes{kind="compaction", store="rocksdb", store_instance="a"}`:                      50,
		`sluice_debt_limit_bytes{kind="compaction", store="rocksdb", store_instance="a"}`:                        100,
		`sluice_debt_limit_used_ratio{kind="compaction", store="rocksdb", store_instance="a"}`:                   0.75,
		`sluice_debt_files{kind="compaction", store="rocksdb", store_instance="a"}`:                              3,
		`sluice_debt_estimated_recovery_seconds{kind="compaction", store="rocksdb", store_instance="a"}`:         4,
		`sluice_leases{kind="compaction", setting="hold", store="rocksdb", store_instance="a"}`:                  2,
		`sluice_lease_time_left_seconds{kind="compaction", setting="hold", store="rocksdb", store_instance="a"}`: 1,
		`sluice_request_latency_seconds{class="read", statistic="p50", store="rocksdb", store_instance="a"}`:     1,
		`sluice_request_latency_seconds{class="read", statistic="p99", store="rocksdb", store_instance="a"}`:     3,
		`sluice_request_latency_seconds{class="read", statistic="p999", store="rocksdb", store_instance="a"}`:    4,
		`sluice_request_latency_seconds{class="read", statistic="max", store="rocksdb", store_instance="a"}`:     5,
		`sluice_request_latency_seconds{class="read", statistic="mean", store="rocksdb", store_instance="a"}`:    2,
		`sluice_requests_per_second{class="read", result="ok", store="rocksdb", store_instance="a"}`:             50,
		`sluice_requests_per_second{class="read", result="error", store="rocksdb", store_instance="a"}`:          2,
		`sluice_requests_per_second{class="write", result="ok", store="rocksdb", store_instance="a"}`:            0,
		`sluice_orders_total{code="OK", method="SetLease"}`:                                                      2,
		`sluice_leases_restored_total{result="given"}`:                                                           1,
		`sluice_leases_restored_total{result="conflict"}`:                                                        1,
		`sluice_leases_restored_total{result="unavailable"}`:                                                     1,
		`sluice_certificate_expiry_timestamp_seconds{}`:                                                          1_900_000_000,
		`sluice_refused_handshakes_total{}`:                                                                      7,
		`sluice_node_signals_age_seconds{}`:                                                                      0.75,
		`sluice_node_cpu_used_ratio{}`:                                                                           0.25,
		`sluice_node_pressure_ratio{resource="io"}`:                                                              0.5,
		`sluice_node_pressure_ratio{resource="memory"}`:                                                          0,
		`sluice_node_device_in_flight_requests{device="sda"}`:                                                    1.5,
		`sluice_node_device_read_bytes_per_second{device="sda"}`:                                                 10,
		`sluice_node_device_write_bytes_per_second{device="sda"}`:                                                20,
		`sluice_node_device_utilisation_ratio{device="sda"}`:                                                     0.75,
	})
	for _, absent := range []string{
		`sluice_node_pressure_ratio{resource="cpu"}`,
		`sluice_request_latency_seconds{class="write", statistic="p50", store="rocksdb", store_instance="a"}`,
		`sluice_requests_per_second{class="made up by a plug-in", result="ok", store="rocksdb", store_instance="a"}`,
		`sluice_snapshot_age_seconds{store="hbase", store_instance="down"}`,
	} {
		if value, exists := got[absent]; exists {
			t.Errorf("%s is there: %v", absent, value)
		}
	}
	if _, exists := got[`process_resident_memory_bytes{}`]; !exists {
		t.Error("the metrics of the process are missing")
	}
}

func TestMetricsOfClients(t *testing.T) {
	now := time.Now()
	got := exposed(t, New(node(now, store.Snapshot{TakenAt: now})))
	wantSamples(t, got, map[string]float64{
		`sluice_clients{store="hbase"}`: 2, `sluice_clients{store="cassandra"}`: 0,
		`sluice_client_lost_requests_total{store="hbase"}`:                    7,
		`sluice_client_request_mean_seconds{class="read", store="hbase"}`:     0.02,
		`sluice_client_requests_per_second{class="read", store="hbase"}`:      40,
		`sluice_client_request_errors_total{class="read", store="hbase"}`:     3,
		`sluice_client_request_duration_seconds{class="read", store="hbase"}`: 0, // a histogram has other samples
		`sluice_client_request_errors_total{class="read", store="cassandra"}`: 0,
	})
	if value, exists := got[`sluice_client_request_mean_seconds{class="read", store="cassandra"}`]; exists {
		t.Errorf("the average of clients that are gone is there: %v", value)
	}
}

func TestSnapshotOfAStoreThatIsGoneIsNotExposedForEver(t *testing.T) {
	now := time.Now()
	source := node(now, store.Snapshot{TakenAt: now})
	source.Now = func() time.Time { return now.Add(time.Minute) }
	got := exposed(t, New(source))
	if value, exists := got[`sluice_snapshot_age_seconds{store="rocksdb", store_instance="a"}`]; exists {
		t.Errorf("a snapshot of a minute ago is there: %v", value)
	}
	if _, exists := got[`sluice_store_up{store="rocksdb", store_instance="a"}`]; !exists {
		t.Error("the store is not there at all")
	}
}

func TestTotalDebts(t *testing.T) {
	part := func(scope string, bytes, limit uint64, recovery time.Duration) store.Debt {
		return store.Debt{
			Kind: store.Compaction, Scope: scope, Bytes: bytes, TriggerBytes: 10, LimitBytes: limit, Files: 1,
			EstimatedRecovery: recovery,
		}
	}
	tests := map[string]struct {
		debts []store.Debt
		want  total
	}{
		"parts": {
			[]store.Debt{part("a", 30, 100, -1), part("b", 20, 40, 2*time.Second), part("c", 5, 0, time.Second)},
			total{Debt: store.Debt{
				Bytes: 55, TriggerBytes: 30, LimitBytes: 140, Files: 3, EstimatedRecovery: 2 * time.Second,
			}, used: 0.5},
		},
		"store before its parts": {
			[]store.Debt{part("", 50, 100, -1), part("a", 30, 40, -1)},
			total{Debt: part("", 50, 100, -1), used: 0.75, ofStore: true},
		},
		"store after its parts": {
			[]store.Debt{part("a", 30, 40, time.Second), part("", 50, 100, -1)},
			total{Debt: part("", 50, 100, time.Second), used: 0.75, ofStore: true},
		},
		"no bound": {
			[]store.Debt{part("", 50, 0, -1)},
			total{Debt: part("", 50, 0, -1), used: -1, ofStore: true},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := totalDebts(test.debts)[store.Compaction]; got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}
