package agent_test

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/health/grpc_health_v1"

	"sluice.dev/control/internal/agent"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

func TestSeveralStoresComeAndGo(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	client := n.controller(1)

	n.startStore("b")
	last := n.startStore("c")
	eventually(t, "the stores that came later", func() bool {
		return len(describe(t, client).GetStores()) == 3
	})
	answer := snapshot(t, client)
	if _, err := wire.DecodeNodeSnapshot(nodeName, answer, time.Now()); err != nil {
		t.Errorf("the snapshot is not valid: %v", err)
	}
	if len(answer.GetDescriptions()) != 3 || len(answer.GetSnapshots()) != 3 || answer.GetNode() != nodeName {
		t.Errorf("answer %v", answer)
	}
	for _, each := range answer.GetSnapshots() {
		if each.GetProblem() != "" || len(each.GetDebts()) == 0 {
			t.Errorf("snapshot %v", each)
		}
	}

	if err := last.Terminate(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the problem of the store that is gone", func() bool {
		return snapshotOf(t, client, "c").GetProblem() != ""
	})
	if gone := snapshotOf(t, client, "c"); len(gone.GetDebts()) == 0 {
		t.Errorf("the last snapshot is not shown: %v", gone)
	}
	if stores := describe(t, client).GetStores(); len(stores) != 2 {
		t.Errorf("%d stores answer, want 2", len(stores))
	}
}

func TestNodeSignalsAreSampled(t *testing.T) {
	n := newNode(t)
	n.start()
	client := n.client(security.RoleViewer, "anna")
	// Until there was a sample, an unknown node must not pass for an idle one.
	if used := snapshot(t, client).GetSignals().GetCpuUsed(); used <= 0 || used > 1 {
		t.Errorf("%v of the processors used", used)
	}
	var before time.Duration
	eventually(t, "a newer sample", func() bool {
		age := snapshot(t, client).GetSignals().GetAge().AsDuration()
		isNewer := age < before
		before = age
		return isNewer
	})
	if used := snapshot(t, client).GetSignals().GetCpuUsed(); used <= 0 || used > 1 {
		t.Errorf("%v of the processors used, by samples", used)
	}
}

func TestHangingStoreDelaysNoOther(t *testing.T) {
	n := newNode(t)
	n.hang("a")
	n.startStore("b")
	n.start()
	client := n.controller(1)
	mustSet(t, client, hold("b", "policy/a", time.Minute))
	eventually(t, "the lease in the snapshot, and the problem of the store that hangs", func() bool {
		return len(snapshotOf(t, client, "b").GetLeases()) == 1 &&
			strings.Contains(snapshotOf(t, client, "a").GetProblem(), "deadline exceeded")
	})
}

func TestRestartedStoreGetsItsLeasesAgain(t *testing.T) {
	n := newNode(t)
	process := n.startStore("a")
	n.start()
	client := n.controller(1)
	given := mustSet(t, client, hold("a", "policy/a", time.Minute))
	kill(t, process)
	eventually(t, "the loss of the store", func() bool { return snapshotOf(t, client, "a").GetProblem() != "" })
	n.startStore("a")
	var lease *sluicev1.Lease
	eventually(t, "the lease in the new process", func() bool {
		now := snapshotOf(t, client, "a")
		if now.GetProblem() != "" || len(now.GetLeases()) == 0 {
			return false
		}
		lease = now.GetLeases()[0]
		return true
	})
	if left := lease.GetTimeLeft().AsDuration(); lease.GetOwner() != "policy/a" || left >= given.GetTimeLeft().AsDuration() {
		t.Errorf("lease %v, before the restart %v", lease, given)
	}
	records := n.log.records(t, "a lease that the store had lost by a restart")
	if len(records) != 1 || records[0]["given_again"] != true || records[0]["owner"] != "policy/a" {
		t.Errorf("log %v", records)
	}
}

func TestAgentRestartLeavesLeases(t *testing.T) {
	n := newNode(t)
	process := n.startStore("a")
	stop := n.start()
	mustSet(t, n.controller(1), hold("a", "policy/a", time.Minute))
	stop()

	stop = n.start()
	client := n.controller(1)
	leases := snapshotOf(t, client, "a").GetLeases()
	if len(leases) != 1 || leases[0].GetOwner() != "policy/a" {
		t.Fatalf("leases after the restart of the agent: %v", leases)
	}
	left := leases[0].GetTimeLeft().AsDuration()
	if renewed := mustSet(t, client, hold("a", "policy/a", 5*time.Minute)); renewed.GetTimeLeft().AsDuration() <= left {
		t.Errorf("%v left after the renewal, %v before", renewed.GetTimeLeft().AsDuration(), left)
	}
	stop()

	// An agent that knows nothing gives nothing again.
	kill(t, process)
	n.startStore("a")
	n.start()
	client = n.controller(1)
	if leases := snapshotOf(t, client, "a").GetLeases(); len(leases) != 0 {
		t.Errorf("leases after the restart of both: %v", leases)
	}
}

func TestCertificateOfAnotherNode(t *testing.T) {
	n := newNode(t)
	n.config.Node = "db-2"
	_, err := agent.Open(t.Context(), n.config, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "sluice://east/agent/db-1, not of sluice://east/agent/db-2") {
		t.Errorf("error %v does not name both", err)
	}
}

func TestPortInUse(t *testing.T) {
	n := newNode(t)
	n.start()
	n.config.MetricsListen = n.agent.MetricsAddress().String()
	if _, err := agent.Open(t.Context(), n.config, slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), "metrics_listen") {
		t.Errorf("error %v does not name the key", err)
	}
}

func TestHealth(t *testing.T) {
	n := newNode(t)
	n.start()
	health := grpc_health_v1.NewHealthClient(n.connection(security.RoleViewer, "probe"))
	for _, service := range []string{"", "sluice.v1.AgentService"} {
		answer, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		if err != nil || answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", service, answer, err)
		}
	}
	list, err := health.List(t.Context(), &grpc_health_v1.HealthListRequest{})
	if err != nil || len(list.GetStatuses()) != 2 {
		t.Errorf("more is told than that the agent serves: %v, %v", list, err)
	}
}

// A probe that watches would else keep the agent from stopping until its time is over.
func TestHealthWatchesDoNotHoldUpTheEnd(t *testing.T) {
	n := newNode(t)
	stop := n.start()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watch, err := grpc_health_v1.NewHealthClient(n.connection(security.RoleViewer, "probe")).
		Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	stop()
	for err == nil {
		_, err = watch.Recv()
	}
	if store.CodeOf(err) != store.CodeUnavailable || !strings.Contains(err.Error(), "this server stops") {
		t.Errorf("the watch ended with %v, and so by force", err)
	}
}

func TestSystemdIsTold(t *testing.T) {
	n := newNode(t)
	path := filepath.Join(n.sockets, "notify")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- agent.Run(ctx, n.config, slog.New(slog.DiscardHandler)) }()
	for _, want := range []string{"READY=1", "STOPPING=1"} {
		if err := systemd.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 100)
		length, err := systemd.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(buffer[:length]); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		cancel()
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
