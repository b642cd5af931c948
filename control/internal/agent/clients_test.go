package agent_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/agent"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
)

const clientReport = `{"jsonrpc":"2.0","id":1,"method":"report","params":{"protocol_version":{"major":1,"minor":0},` +
	`"store":"hbase","interval_seconds":1,"requests":[{"class":"read","scope":"orders/cf","errors":1,` +
	`"sum_seconds":0.04,"max_seconds":0.03,"buckets":[[230,1],[325,1]]}]}}` + "\n"

// report sends a report as a client of a store does.
func report(t *testing.T, socket string) {
	t.Helper()
	connection, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(connection, clientReport); err != nil {
		t.Fatal(err)
	}
	if answer, err := bufio.NewReader(connection).ReadString('\n'); err != nil || !strings.Contains(answer, `"result"`) {
		t.Fatalf("the answer is %q, %v", answer, err)
	}
}

// TestClientsReport to the agent, which passes their latencies on beside those of stores, and exposes them. Its own
// socket is where those of stores are, and is none of them.
func TestClientsReport(t *testing.T) {
	n := newNode(t)
	directory := filepath.Join(n.sockets, "clients")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	n.config.Clients = &agent.Clients{Socket: filepath.Join(directory, "agent.sock"), Stores: []string{"hbase"}}
	n.startStore("a")
	n.start()
	controller := n.controller(1)
	report(t, n.config.Clients.Socket)
	var got *sluicev1.GetSnapshotResponse
	eventually(t, "the interval to end", func() bool {
		var err error
		if got, err = controller.GetSnapshot(t.Context(), &sluicev1.GetSnapshotRequest{}); err != nil {
			t.Fatal(err)
		}
		return len(got.GetClientLatencies()) == 1 && len(got.GetClientLatencies()[0].GetLatencies()) == 1
	})
	clients := got.GetClientLatencies()[0]
	latency := clients.GetLatencies()[0]
	if clients.GetStore() != "hbase" || latency.GetCount() != 2 || latency.GetErrors() != 1 || latency.GetMean().AsDuration() != 20*time.Millisecond {
		t.Errorf("the latencies of clients are %v", clients)
	}
	var scopes []string
	for _, latency := range clients.GetScopeLatencies() {
		scopes = append(scopes, latency.GetScope())
	}
	if strings.Join(scopes, " ") != "orders orders/cf" {
		t.Errorf("there are latencies of %q", scopes)
	}
	if len(got.GetSnapshots()) != 1 || len(describe(t, controller).GetStores()) != 1 {
		t.Errorf("the stores are %v", got.GetSnapshots())
	}
	families := n.scrape(security.RoleViewer, "prometheus")
	durations := families["sluice_client_request_duration_seconds"].GetMetric()
	if len(durations) != 1 || durations[0].GetHistogram().GetSampleCount() != 2 || durations[0].GetHistogram().GetSampleSum() != 0.04 {
		t.Errorf("the histogram is %v", durations)
	}
	if errors := families["sluice_client_request_errors_total"].GetMetric(); len(errors) != 1 || errors[0].GetCounter().GetValue() != 1 {
		t.Errorf("the errors are %v", errors)
	}
}

// TestWithoutClientsThereIsNoSocket: reports are taken only where that is configured.
func TestWithoutClientsThereIsNoSocket(t *testing.T) {
	n := newNode(t)
	n.start()
	got, err := n.controller(0).GetSnapshot(t.Context(), &sluicev1.GetSnapshotRequest{})
	if err != nil || len(got.GetClientLatencies()) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}
