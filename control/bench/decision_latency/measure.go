package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/tests/ports"
)

const (
	controllerName = "bench"
	viewerName     = "viewer"
	readyFile      = "ready"
	startDeadline  = 3 * time.Minute
	endDeadline    = 20 * time.Second
	// scrapeInterval is a fraction of a period, so that each period shows by itself.
	scrapeInterval = 200 * time.Millisecond
)

// result is what was measured with one number of agents.
type result struct {
	Agents            int     `json:"agents"`
	Tasks             int     `json:"tasks_per_agent"`
	Periods           int     `json:"periods"`
	PeriodP50Seconds  float64 `json:"period_p50_seconds"`
	PeriodP99Seconds  float64 `json:"period_p99_seconds"`
	PeriodMaxSeconds  float64 `json:"period_max_seconds"`
	ReadMeanSeconds   float64 `json:"read_mean_seconds"`
	DecideMeanSeconds float64 `json:"decide_mean_seconds"`
	WriteMeanSeconds  float64 `json:"write_mean_seconds"`
	CoresUsed         float64 `json:"cores_used"`
	CoresAllowed      int     `json:"cores_allowed"`
	ResidentBytes     float64 `json:"resident_bytes"`
	SkippedPeriods    int     `json:"skipped_periods"`
	OrdersWritten     int     `json:"orders_written"`
	OrdersFailed      int     `json:"orders_failed"`
	DecisionsStop     int     `json:"decisions_stop"`
}

// measure starts the processes, waits for them to settle, and measures.
func measure(ctx context.Context, o options, count int) (result, error) {
	directory, err := os.MkdirTemp("", "decision-latency-")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(directory)
	ctx, cancel := context.WithCancelCause(ctx)
	running := &parts{cancel: cancel, options: o}
	defer running.stop()
	ports, err := freePorts(3)
	if err != nil {
		return result{}, err
	}
	plan, err := json.Marshal(agentsPlan{Count: count, Port: ports[0], Directory: directory})
	if err != nil {
		return result{}, err
	}
	planFile := filepath.Join(directory, "agents.json")
	if err := os.WriteFile(planFile, plan, 0o600); err != nil {
		return result{}, err
	}
	if _, err := running.start(ctx, "agents", planFile); err != nil {
		return result{}, err
	}
	if err := waitFor(ctx, func() error { _, err := os.Stat(filepath.Join(directory, readyFile)); return err }); err != nil {
		return result{}, err
	}
	configFile := filepath.Join(directory, "controller.yaml")
	if err := os.WriteFile(configFile, configuration(directory, count, ports, o.lease), 0o600); err != nil {
		return result{}, err
	}
	controller, err := running.start(ctx, "controller", configFile)
	if err != nil {
		return result{}, err
	}
	scraper, err := newScraper(directory, ports[2])
	if err != nil {
		return result{}, err
	}
	defer scraper.close()
	measured, err := scraper.measure(ctx, o, count)
	if err != nil {
		return result{}, err
	}
	measured.ResidentBytes, err = peakResidentBytes(controller)
	return measured, err
}

func configuration(directory string, count int, ports []int, lease time.Duration) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, `cluster: %s
name: %s
listen: 127.0.0.1:%d
page: {listen: "127.0.0.1:%d", require_client_certificate: true}
tls: {certificate_file: %[5]s/%[2]s.crt, key_file: %[5]s/%[2]s.key, ca_file: %[5]s/ca.crt}
lease_time_to_live_seconds: %[7]g
policies:
- name: hold-p99
  type: slo
  targets: {store: %[6]s, kind: compaction}
  parameters: {target_seconds: 0.02, ceiling_bytes_per_second: 1.0e+8}
agents:
`, clusterName, controllerName, ports[1], ports[2], directory, storeName, lease.Seconds())
	for i := range count {
		fmt.Fprintf(&text, "- {node: %s, address: \"%s\"}\n", nodeName(i), agentAddress(i, ports[0]))
	}
	return []byte(text.String())
}

func freePorts(count int) ([]int, error) {
	var free []int
	for range count {
		port, err := ports.Free()
		if err != nil {
			return nil, err
		}
		free = append(free, port)
	}
	return free, nil
}

func waitFor(ctx context.Context, condition func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startDeadline)
	defer cancel()
	for {
		err := condition()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(scrapeInterval):
		}
	}
}

// scraper reads the metrics of the controller.
type scraper struct {
	credentials *security.Credentials
	client      *http.Client
	url         string
}

func newScraper(directory string, port int) (*scraper, error) {
	files := security.Files{
		CertificateFile: filepath.Join(directory, viewerName+".crt"),
		KeyFile:         filepath.Join(directory, viewerName+".key"),
		CAFile:          filepath.Join(directory, "ca.crt"),
	}
	credentials, err := security.Open(files, clusterName, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: credentials.ClientConfig(security.RoleController, controllerName)}
	return &scraper{credentials, &http.Client{Transport: transport}, fmt.Sprintf("https://127.0.0.1:%d/metrics", port)}, nil
}

func (s *scraper) close() {
	s.client.CloseIdleConnections()
	s.credentials.Close()
}

type families map[string]*dto.MetricFamily

func (s *scraper) scrape(ctx context.Context) (families, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return nil, fmt.Errorf("%s: %s", response.Status, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(response.Body)
}

// measure waits until every agent answers, and takes the time of each period from then on.
func (s *scraper) measure(ctx context.Context, o options, count int) (result, error) {
	err := waitFor(ctx, func() error {
		found, err := s.scrape(ctx)
		if err != nil {
			return err
		}
		if answering := found.value("sluice_controller_agents_answering"); int(answering) < count {
			return fmt.Errorf("%.0f of %d agents answer", answering, count)
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	if err := sleep(ctx, o.settle); err != nil {
		return result{}, err
	}
	first, err := s.scrape(ctx)
	if err != nil {
		return result{}, err
	}
	startedAt := time.Now()
	var durations []float64
	last := first
	for time.Since(startedAt) < o.measure {
		if err := sleep(ctx, scrapeInterval); err != nil {
			return result{}, err
		}
		next, err := s.scrape(ctx)
		if err != nil {
			return result{}, err
		}
		if periods := next.count(periodMetric) - last.count(periodMetric); periods > 0 {
			durations = append(durations, (next.sum(periodMetric, "")-last.sum(periodMetric, ""))/periods)
		}
		last = next
	}
	measured := summarise(first, last, time.Since(startedAt).Seconds(), durations)
	measured.Agents, measured.Tasks, measured.CoresAllowed = count, o.tasks, o.procs
	return measured, nil
}

func sleep(ctx context.Context, duration time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(duration):
		return nil
	}
}

const (
	periodMetric = "sluice_controller_period_duration_seconds"
	phaseMetric  = "sluice_controller_phase_duration_seconds"
)

func summarise(first, last families, seconds float64, durations []float64) result {
	slices.Sort(durations)
	periods := last.count(periodMetric) - first.count(periodMetric)
	mean := func(phase string) float64 {
		return (last.sum(phaseMetric, phase) - first.sum(phaseMetric, phase)) / periods
	}
	grown := func(name, label string) int { return int(last.labelled(name, label) - first.labelled(name, label)) }
	return result{
		Periods:           int(periods),
		PeriodP50Seconds:  quantile(durations, 0.5),
		PeriodP99Seconds:  quantile(durations, 0.99),
		PeriodMaxSeconds:  quantile(durations, 1),
		ReadMeanSeconds:   mean("read"),
		DecideMeanSeconds: mean("decide"),
		WriteMeanSeconds:  mean("write"),
		CoresUsed:         (last.value("process_cpu_seconds_total") - first.value("process_cpu_seconds_total")) / seconds,
		SkippedPeriods:    grown("sluice_controller_skipped_periods_total", ""),
		OrdersWritten:     grown("sluice_controller_orders_total", "success"),
		OrdersFailed:      grown("sluice_controller_orders_total", "failure"),
		DecisionsStop:     grown("sluice_controller_decisions_total", "stop"),
	}
}

// quantile takes the next higher of sorted values, so that p99 of a hundred is not the highest.
func quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

func (f families) value(name string) float64 { return f.labelled(name, "") }

// labelled is the sum of the metrics with a value of some label, or of all if it is empty.
func (f families) labelled(name, label string) float64 {
	total := 0.0
	for _, metric := range f[name].GetMetric() {
		if label == "" || hasLabel(metric, label) {
			total += metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	return total
}

func (f families) count(name string) float64 {
	total := 0.0
	for _, metric := range f[name].GetMetric() {
		total += float64(metric.GetHistogram().GetSampleCount())
	}
	return total
}

func (f families) sum(name, label string) float64 {
	total := 0.0
	for _, metric := range f[name].GetMetric() {
		if label == "" || hasLabel(metric, label) {
			total += metric.GetHistogram().GetSampleSum()
		}
	}
	return total
}

func hasLabel(metric *dto.Metric, value string) bool {
	return slices.ContainsFunc(metric.GetLabel(), func(label *dto.LabelPair) bool { return label.GetValue() == value })
}
