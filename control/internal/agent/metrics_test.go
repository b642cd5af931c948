package agent_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"sluice.dev/control/internal/security"
)

// scrape reads the metrics as the holder of a certificate.
func (n *node) scrape(role security.Role, name string) map[string]*dto.MetricFamily {
	n.t.Helper()
	credentials := n.authority.Open(n.t, role, name)
	transport := &http.Transport{TLSClientConfig: credentials.ClientConfig(security.RoleAgent, nodeName)}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	answer, err := client.Get("https://" + n.agent.MetricsAddress().String() + "/metrics")
	if err != nil {
		n.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		n.t.Fatal(answer.Status)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return families
}

func TestMetricsOverTLS(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	mustSet(t, n.controller(1), hold("a", "policy/a", time.Minute))
	var families map[string]*dto.MetricFamily
	eventually(t, "the lease in the metrics", func() bool {
		families = n.scrape(security.RoleViewer, "prometheus")
		return len(families["sluice_leases"].GetMetric()) == 1
	})
	for name, want := range map[string]float64{
		"sluice_store_up": 1, "sluice_leases": 1, "sluice_orders_total": 1, "sluice_build_info": 1,
	} {
		list := families[name].GetMetric()
		if len(list) != 1 {
			t.Errorf("%s: %v", name, list)
			continue
		}
		if got := list[0].GetGauge().GetValue() + list[0].GetCounter().GetValue(); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{
		"sluice_snapshot_age_seconds", "sluice_snapshot_duration_seconds", "sluice_tasks",
		"sluice_task_rate_bytes_per_second", "sluice_debt_bytes", "sluice_debt_limit_bytes",
		"sluice_lease_time_left_seconds", "sluice_node_cpu_used_ratio", "process_resident_memory_bytes",
	} {
		if len(families[name].GetMetric()) == 0 {
			t.Errorf("%s is missing", name)
		}
	}
	left := families["sluice_lease_time_left_seconds"].GetMetric()[0].GetGauge().GetValue()
	if left <= 0 || left > time.Minute.Seconds() {
		t.Errorf("the lease has %v s left", left)
	}
	expiry := families["sluice_certificate_expiry_timestamp_seconds"].GetMetric()[0].GetGauge().GetValue()
	if until := time.Until(time.Unix(int64(expiry), 0)); until <= 0 || until > time.Hour {
		t.Errorf("the certificate ends in %v, which was made for an hour", until)
	}
}

func TestMetricsNeedACertificate(t *testing.T) {
	n := newNode(t)
	n.start()
	// Whose the server is, is not what is tested here.
	anonymous := &tls.Config{InsecureSkipVerify: true}
	transport := &http.Transport{TLSClientConfig: anonymous}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	answer, err := client.Get("https://" + n.agent.MetricsAddress().String() + "/metrics")
	if err == nil {
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		t.Fatalf("answered without a certificate: %s", text)
	}
	if !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("error %v", err)
	}
	plain, err := http.Get("http://" + n.agent.MetricsAddress().String() + "/metrics")
	if err == nil {
		defer plain.Body.Close()
		if plain.StatusCode == http.StatusOK {
			t.Error("answered without encryption")
		}
	}
}
