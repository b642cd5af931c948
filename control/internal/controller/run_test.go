package controller

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
	processes "sluice.dev/control/tests/process"
)

// running is a controller as the program runs it, with an agent that is not there.
type running struct {
	authority *securitytest.Authority
	config    Config
	stop      func() error
}

func run(t *testing.T, extra string) *running {
	t.Helper()
	r := &running{authority: securitytest.NewAuthority(t, "test")}
	files := r.authority.Files(t, security.RoleController, "c1")
	text := fmt.Sprintf(`cluster: test
name: c1
listen: %q
page: {listen: %q}
tls: {certificate_file: %s, key_file: %s, ca_file: %s}
period_seconds: 0.1
agents: [{node: n1, address: %q}]
policies:
- name: p
  type: script
  targets: {store: reference, kind: compaction, nodes: [n1], instances: [main]}
  parameters: {source: "def decide(view):\n    return {'setting': 'full', 'reason': 'test'}\n"}
%s`, processes.FreeAddress(t), processes.FreeAddress(t), files.CertificateFile, files.KeyFile, files.CAFile, processes.FreeAddress(t), extra)
	path := filepath.Join(t.TempDir(), "controller.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.config, err = Load(path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, r.config, slog.New(slog.DiscardHandler), nil) }()
	r.stop = func() error {
		cancel()
		return <-ended
	}
	return r
}

func (r *running) dial(t *testing.T, role security.Role, name string) *grpc.ClientConn {
	t.Helper()
	options := protocol.DialOptions(r.authority.Open(t, role, name), security.RoleController, "c1")
	connection, err := grpc.NewClient("passthrough:///"+r.config.Listen,
		append(options, grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

func inTime(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testDeadline)
	t.Cleanup(cancel)
	return ctx
}

func TestRunningController(t *testing.T) {
	r := run(t, "")
	viewer := sluicev1.NewControllerServiceClient(r.dial(t, security.RoleViewer, "v"))
	operator := sluicev1.NewControllerServiceClient(r.dial(t, security.RoleOperator, "ann"))

	t.Run("cluster", func(t *testing.T) {
		cluster, err := viewer.GetCluster(inTime(t), &sluicev1.GetClusterRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if cluster.GetCluster() != "test" || !cluster.GetIsActive() || cluster.GetActiveController() != "c1" ||
			len(cluster.GetNodes()) != 1 || cluster.GetNodes()[0].GetProblem() == "" {
			t.Errorf("the cluster is %v", cluster)
		}
	})
	t.Run("decisions", func(t *testing.T) {
		stream, err := viewer.WatchDecisions(inTime(t), &sluicev1.WatchDecisionsRequest{Policy: "p", ChangesOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		message, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		decision := message.GetDecision()
		if decision.GetVerdict() != sluicev1.Verdict_VERDICT_STOP || decision.GetNode() != "n1" || decision.GetReason() == "" {
			t.Errorf("the decision is %v", decision)
		}
		list, err := viewer.ListDecisions(inTime(t), &sluicev1.ListDecisionsRequest{Limit: 1})
		if err != nil || len(list.GetDecisions()) != 1 || list.GetDecisions()[0].GetSequence() < decision.GetSequence() {
			t.Errorf("the newest decision is %v, %v", list, err)
		}
		policies, err := viewer.ListPolicies(inTime(t), &sluicev1.ListPoliciesRequest{})
		if err != nil || len(policies.GetPolicies()) != 1 || len(policies.GetPolicies()[0].GetLastDecisions()) != 1 ||
			!strings.Contains(policies.GetPolicies()[0].GetParametersJson(), "def decide") {
			t.Errorf("the policies are %v, %v", policies, err)
		}
	})
	t.Run("pause", func(t *testing.T) {
		if _, err := viewer.PausePolicy(inTime(t), &sluicev1.PausePolicyRequest{Name: "p"}); store.CodeOf(err) != store.CodeForbidden {
			t.Errorf("a viewer paused a policy: %v", err)
		}
		if _, err := operator.PausePolicy(inTime(t), &sluicev1.PausePolicyRequest{Name: "q"}); store.CodeOf(err) != store.CodeNotFound {
			t.Errorf("a policy that is not there was paused: %v", err)
		}
		if _, err := operator.PausePolicy(inTime(t), &sluicev1.PausePolicyRequest{Name: "p"}); err != nil {
			t.Error(err)
		}
		policies, err := viewer.ListPolicies(inTime(t), &sluicev1.ListPoliciesRequest{})
		if err != nil || !policies.GetPolicies()[0].GetIsPaused() {
			t.Errorf("the policies are %v, %v", policies, err)
		}
		if _, err := operator.ResumePolicy(inTime(t), &sluicev1.ResumePolicyRequest{Name: "p"}); err != nil {
			t.Error(err)
		}
	})
	t.Run("relay", func(t *testing.T) {
		order := &sluicev1.RelayClearLeasesRequest{Node: "n1", Request: &sluicev1.ClearLeasesRequest{}}
		if _, err := viewer.RelayClearLeases(inTime(t), order); store.CodeOf(err) != store.CodeForbidden {
			t.Errorf("a viewer gave an order: %v", err)
		}
		if _, err := operator.RelayClearLeases(inTime(t), order); store.CodeOf(err) != store.CodeUnavailable {
			t.Errorf("an order for an agent that is not there: %v", err)
		}
		lease := &sluicev1.RelaySetLeaseRequest{Node: "n9", Request: &sluicev1.SetLeaseRequest{}}
		if _, err := operator.RelaySetLease(inTime(t), lease); store.CodeOf(err) != store.CodeNotFound {
			t.Errorf("an order for a node that is not there: %v", err)
		}
		start := &sluicev1.RelayStartTaskRequest{Node: "n1", Request: &sluicev1.StartTaskRequest{}}
		if _, err := operator.RelayStartTask(inTime(t), start); store.CodeOf(err) != store.CodeUnavailable {
			t.Errorf("an order for an agent that is not there: %v", err)
		}
	})
	// The agent would take the relayed order for one of the controller.
	t.Run("relay in the name of a policy", func(t *testing.T) {
		_, setErr := operator.RelaySetLease(inTime(t), &sluicev1.RelaySetLeaseRequest{
			Node: "n1", Request: &sluicev1.SetLeaseRequest{Owner: "policy/p"},
		})
		_, startErr := operator.RelayStartTask(inTime(t), &sluicev1.RelayStartTaskRequest{
			Node: "n1", Request: &sluicev1.StartTaskRequest{Owner: "policy/p"},
		})
		for _, err := range []error{setErr, startErr} {
			if store.CodeOf(err) != store.CodeForbidden {
				t.Errorf("error %v, want forbidden", err)
			}
		}
	})
	t.Run("health", func(t *testing.T) {
		health := grpc_health_v1.NewHealthClient(r.dial(t, security.RoleViewer, "v"))
		for _, name := range []string{"", activeHealth} {
			answer, err := health.Check(inTime(t), &grpc_health_v1.HealthCheckRequest{Service: name})
			if err != nil || answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
				t.Errorf("the health of %q is %v, %v", name, answer, err)
			}
		}
	})
	t.Run("metrics", func(t *testing.T) {
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig: r.authority.Open(t, security.RoleViewer, "v").ClientConfig(security.RoleController, "c1"),
		}}
		text := get(t, client, "https://"+r.config.Page.Listen+"/metrics")
		for _, want := range []string{
			"sluice_controller_active 1", "sluice_controller_agents 1", "sluice_controller_agents_answering 0",
			`sluice_controller_decisions_total{policy="p",verdict="stop"}`, "sluice_controller_period_duration_seconds_count",
			"sluice_controller_refused_handshakes_total 0", `sluice_controller_service_levels{state="missed"} 0`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the metrics have no %s", want)
			}
		}
		if page := get(t, client, "https://"+r.config.Page.Listen+"/"); !strings.Contains(page, "<html") {
			t.Errorf("the page is %q", page)
		}
	})
	if err := r.stop(); err != nil {
		t.Errorf("the controller ended with %v", err)
	}
}

// Leases would run out while a controller that is restarted waits for somebody to stop watching.
func TestWatchersDoNotHoldUpTheEnd(t *testing.T) {
	r := run(t, "")
	viewer := sluicev1.NewControllerServiceClient(r.dial(t, security.RoleViewer, "v"))
	stream, err := viewer.WatchDecisions(inTime(t), &sluicev1.WatchDecisionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	health, err := grpc_health_v1.NewHealthClient(r.dial(t, security.RoleViewer, "v")).
		Watch(inTime(t), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := health.Recv(); err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil {
		t.Errorf("the controller ended with %v", err)
	}
	for err == nil {
		_, err = health.Recv()
	}
	if store.CodeOf(err) != store.CodeUnavailable || !strings.Contains(err.Error(), "this server stops") {
		t.Errorf("the watch of its health ended with %v, and so by force", err)
	}
	for err = nil; err == nil; {
		_, err = stream.Recv()
	}
	if store.CodeOf(err) != store.CodeUnavailable || !strings.Contains(err.Error(), "this controller stops") {
		t.Errorf("the stream ended with %v, and so by force", err)
	}
}

func get(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(inTime(t), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", url, response.Status, err)
	}
	return string(text)
}

// Nothing is served to those without a certificate but the page, and that only if it may be.
func TestCertificatesAreNeeded(t *testing.T) {
	r := run(t, "")
	anybody := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	viewer := sluicev1.NewControllerServiceClient(r.dial(t, security.RoleViewer, "v"))
	if _, err := viewer.GetCluster(inTime(t), &sluicev1.GetClusterRequest{}); err != nil {
		t.Fatal(err)
	}
	get(t, anybody, "https://"+r.config.Page.Listen+"/")
	if response, err := anybody.Get("http://" + r.config.Page.Listen + "/"); err == nil && response.StatusCode == http.StatusOK {
		t.Error("the page was served without encryption")
	}
	stranger := &running{authority: securitytest.NewAuthority(t, "test"), config: r.config}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	client := sluicev1.NewControllerServiceClient(stranger.dial(t, security.RoleOperator, "eve"))
	if _, err := client.GetCluster(ctx, &sluicev1.GetClusterRequest{}); err == nil {
		t.Error("the holder of a certificate of another authority was answered")
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}

func TestControllerThatCannotStart(t *testing.T) {
	authority := securitytest.NewAuthority(t, "test")
	occupied, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer occupied.Close()
	config := defaultConfig()
	config.Cluster, config.Name, config.Listen = "test", "c1", occupied.Addr().String()
	tests := []struct {
		name, want string
		change     func(*Config)
	}{
		{"certificate of another", "is that of sluice://test/controller/c2, not of sluice://test/controller/c1",
			func(c *Config) { c.TLS = TLS(authority.Files(t, security.RoleController, "c2")) }},
		{"certificate of another role", "is that of sluice://test/agent/c1",
			func(c *Config) { c.TLS = TLS(authority.Files(t, security.RoleAgent, "c1")) }},
		{"no certificate", "no such file", func(c *Config) { c.TLS.CertificateFile = "/none" }},
		{"port in use", "listen: ", func(*Config) {}},
		{"no certificate for etcd", "coordination.etcd.tls: ", func(c *Config) {
			c.Coordination = &Coordination{Etcd{Endpoints: []string{"https://etcd:2379"}, TLS: &TLS{CAFile: "/none"}}}
		}},
		{"no certificate for Prometheus", "prometheus.tls: ",
			func(c *Config) { c.Prometheus = &Prometheus{URL: "https://p:9090", TLS: &TLS{CAFile: "/none"}} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wrong := config
			wrong.TLS = TLS(authority.Files(t, security.RoleController, "c1"))
			test.change(&wrong)
			err := Run(inTime(t), wrong, slog.New(slog.DiscardHandler), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}
