package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
)

func TestBadOrders(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	client := n.controller(1)
	tests := map[string]struct {
		change func(*sluicev1.SetLeaseRequest)
		code   store.Code
		says   string
	}{
		"no instance": {func(r *sluicev1.SetLeaseRequest) { r.Ref = nil }, store.CodeInvalid, "ref.store is missing"},
		"unknown instance": {
			func(r *sluicev1.SetLeaseRequest) { r.Ref.Instance = "b" },
			store.CodeNotFound, "there is no store reference/b on this node (There are: reference/a.)",
		},
		"no kind":    {func(r *sluicev1.SetLeaseRequest) { r.Kind = 0 }, store.CodeInvalid, "kind is missing"},
		"no setting": {func(r *sluicev1.SetLeaseRequest) { r.Setting = nil }, store.CodeInvalid, "setting is missing"},
		"unknown setting": {
			func(r *sluicev1.SetLeaseRequest) { r.Setting.Name = "speed" }, store.CodeInvalid, "speed",
		},
		"no owner":        {func(r *sluicev1.SetLeaseRequest) { r.Owner = "" }, store.CodeInvalid, "owner"},
		"no time to live": {func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = nil }, store.CodeInvalid, "time_to_live"},
		"kind not offered": {
			func(r *sluicev1.SetLeaseRequest) { r.Kind = sluicev1.Kind_KIND_CHECKPOINT },
			store.CodeUnsupported, "It takes them for: compaction",
		},
		"setting not offered": {
			func(r *sluicev1.SetLeaseRequest) {
				r.Setting = &sluicev1.Setting{Name: "tier", Value: &sluicev1.Setting_Text{Text: "ssd"}}
			},
			store.CodeUnsupported, "It offers: ",
		},
		"time to live too long": {
			func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = durationpb.New(24 * time.Hour) },
			store.CodeInvalid, "gives leases for at most 10m0s",
		},
		"scope that is not there": {
			func(r *sluicev1.SetLeaseRequest) { r.Scope = "nothing" }, store.CodeNotFound, `no table "nothing"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := hold("a", "policy/a", time.Minute)
			test.change(request)
			_, err := client.SetLease(t.Context(), request)
			if err == nil || store.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one of %s that says %q", err, test.code, test.says)
			}
		})
	}
	if leases := snapshotOf(t, client, "a").GetLeases(); len(leases) != 0 {
		t.Errorf("bad orders gave leases: %v", leases)
	}
}

func TestOwnersCompete(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	client := n.controller(1)
	mustSet(t, client, hold("a", "policy/a", time.Minute))
	other := hold("a", "operator/b", time.Minute)
	if _, err := client.SetLease(t.Context(), other); store.CodeOf(err) != store.CodeConflict || !strings.Contains(err.Error(), "policy/a") {
		t.Errorf("error %v, want a conflict that names the owner", err)
	}
	other.Replace = true
	mustSet(t, client, other)
	cleared, err := client.ClearLeases(t.Context(), &sluicev1.ClearLeasesRequest{Ref: other.GetRef(), Owner: "operator/b"})
	if err != nil || cleared.GetCleared() != 1 {
		t.Errorf("cleared %v, %v", cleared, err)
	}
	eventually(t, "a snapshot without leases", func() bool { return len(snapshotOf(t, client, "a").GetLeases()) == 0 })
}

func TestRolesThatMayNotOrder(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	n.controller(1)
	for _, role := range []security.Role{security.RoleViewer, security.RoleAgent} {
		client := n.client(role, "other")
		request := hold("a", "policy/a", time.Minute)
		_, setErr := client.SetLease(t.Context(), request)
		_, clearErr := client.ClearLeases(t.Context(), &sluicev1.ClearLeasesRequest{Ref: request.GetRef(), Owner: "policy/a"})
		_, startErr := client.StartTask(t.Context(), &sluicev1.StartTaskRequest{
			Ref: request.GetRef(), Kind: request.GetKind(), Owner: "policy/a", TimeToLive: request.GetTimeToLive(),
		})
		_, abortErr := client.AbortTask(t.Context(), &sluicev1.AbortTaskRequest{
			Ref: request.GetRef(), Kind: request.GetKind(), Owner: "policy/a", TaskId: "compaction-1",
		})
		for _, err := range []error{setErr, clearErr, startErr, abortErr} {
			if store.CodeOf(err) != store.CodeForbidden {
				t.Errorf("%s: error %v, want forbidden", role, err)
			}
		}
		now := snapshotOf(t, client, "a")
		if now == nil || len(now.GetLeases()) > 0 || len(now.GetTasks()) > 0 {
			t.Errorf("%s: snapshot %v", role, now)
		}
	}
}

// A policy would take a lease under its name for its own, and renew it.
func TestOperatorsMayNotOrderInTheNameOfAPolicy(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	controller, operator := n.controller(1), n.client(security.RoleOperator, "ann")
	forged := hold("a", "policy/a", time.Minute)
	start := &sluicev1.StartTaskRequest{
		Ref: forged.GetRef(), Kind: forged.GetKind(), Scope: "orders", Setting: forged.GetSetting(),
		Owner: "policy/a", TimeToLive: forged.GetTimeToLive(),
	}
	_, setErr := operator.SetLease(t.Context(), forged)
	_, startErr := operator.StartTask(t.Context(), start)
	_, abortErr := operator.AbortTask(t.Context(), &sluicev1.AbortTaskRequest{
		Ref: forged.GetRef(), Kind: forged.GetKind(), Owner: "policy/a", TaskId: "compaction-1",
	})
	for _, err := range []error{setErr, startErr, abortErr} {
		if store.CodeOf(err) != store.CodeForbidden || !strings.Contains(err.Error(), "operator/ann") {
			t.Errorf("error %v, want forbidden, and the owner to take instead", err)
		}
	}
	if now := snapshotOf(t, operator, "a"); len(now.GetLeases()) > 0 || len(now.GetTasks()) > 0 {
		t.Errorf("the orders were obeyed: %v", now)
	}

	// To end what a policy has ordered is for everybody who may order.
	mustSet(t, controller, forged)
	cleared, err := operator.ClearLeases(t.Context(), &sluicev1.ClearLeasesRequest{Ref: forged.GetRef(), Owner: "policy/a"})
	if err != nil || cleared.GetCleared() != 1 {
		t.Errorf("cleared %v, %v", cleared, err)
	}
	mustSet(t, operator, hold("a", "operator/ann", time.Minute))
}

func TestOrdersAreLogged(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	mustSet(t, n.controller(1), hold("a", "policy/a", time.Minute))
	refused := hold("a", "policy/a", time.Minute)
	refused.Scope = strings.Repeat("x", 10_000)
	if _, err := n.client(security.RoleViewer, "anna").SetLease(t.Context(), refused); err == nil {
		t.Fatal("a viewer has given an order")
	}
	records := n.log.records(t, "order")
	if len(records) != 2 {
		t.Fatalf("%d records, want 2: %v", len(records), records)
	}
	want := map[string]any{
		"level": "INFO", "method": "SetLease", "caller": "sluice://east/controller/main", "code": "OK",
		"store": "reference", "instance": "a", "kind": "KIND_COMPACTION", "scope": "", "owner": "policy/a",
		"setting": "hold", "time_to_live_seconds": 60.0, "replace": false,
	}
	for key, value := range want {
		if records[0][key] != value {
			t.Errorf("%s is %v, want %v", key, records[0][key], value)
		}
	}
	if records[1]["level"] != "WARN" || records[1]["code"] != "PermissionDenied" ||
		records[1]["caller"] != "sluice://east/viewer/anna" || len(records[1]["scope"].(string)) > 300 {
		t.Errorf("record of the refused order: %v", records[1])
	}
}

// A lease is renewed each second: only its begin, its changes and its end are for everybody's eyes.
func TestRenewalsAreLoggedForDebuggingOnly(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	first, second := n.controller(1), n.client(security.RoleController, "other")
	full := hold("a", "policy/a", time.Minute)
	full.Setting = &sluicev1.Setting{Name: "full"}
	for range 3 {
		mustSet(t, first, hold("a", "policy/a", time.Minute))
	}
	mustSet(t, first, full)
	mustSet(t, first, full)
	mustSet(t, second, full)
	if _, err := first.SetLease(t.Context(), hold("a", "policy/b", time.Minute)); err == nil {
		t.Fatal("another owner's lease was replaced")
	}
	mustSet(t, second, full)
	end := &sluicev1.ClearLeasesRequest{Ref: full.GetRef(), Owner: full.GetOwner()}
	if _, err := second.ClearLeases(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	mustSet(t, second, full)

	want := []string{
		"INFO main hold", "DEBUG main hold", "DEBUG main hold", "INFO main full", "DEBUG main full",
		"INFO other full", "WARN main hold", "DEBUG other full", "INFO other <nil>", "INFO other full",
	}
	var got []string
	for _, record := range n.log.records(t, "order") {
		_, caller, _ := strings.Cut(record["caller"].(string), "/controller/")
		got = append(got, fmt.Sprintf("%s %s %v", record["level"], caller, record["setting"]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the log has\n%q, want\n%q", got, want)
	}
}

func TestEndOfALeaseIsLogged(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	client := n.controller(1)
	mustSet(t, client, hold("a", "policy/a", time.Minute))
	eventually(t, "a snapshot with the lease", func() bool { return len(snapshotOf(t, client, "a").GetLeases()) == 1 })
	end := &sluicev1.ClearLeasesRequest{Ref: hold("a", "", 0).GetRef(), Owner: "policy/a"}
	if _, err := client.ClearLeases(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the record of the end", func() bool { return len(n.log.records(t, "a lease has ended")) == 1 })
	record := n.log.records(t, "a lease has ended")[0]
	if record["level"] != "INFO" || record["owner"] != "policy/a" || record["setting"] != "hold" ||
		record["instance"] != "a" || record["seconds_before_its_time"].(float64) <= 0 {
		t.Errorf("the record of the end: %v", record)
	}
}

// slowStore is a reference store whose leases are given when the test says so.
type slowStore struct {
	*reference.Store
	asked, release chan struct{}
}

func (s *slowStore) Set(ctx context.Context, order store.Order) (store.Lease, error) {
	s.asked <- struct{}{}
	<-s.release
	return s.Store.Set(ctx, order)
}

func (n *node) startSlowStore() *slowStore {
	n.t.Helper()
	config := reference.DefaultConfig()
	config.Instance = "slow"
	made, err := reference.New(config, time.Now)
	if err != nil {
		n.t.Fatal(err)
	}
	slow := &slowStore{Store: made, asked: make(chan struct{}, 10), release: make(chan struct{})}
	folder := filepath.Join(n.sockets, reference.StoreName)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		n.t.Fatal(err)
	}
	listener, err := localprotocol.Listen(n.t.Context(), filepath.Join(folder, "slow.sock"))
	if err != nil {
		n.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- localprotocol.NewServer(slow, slog.New(slog.DiscardHandler)).Serve(ctx, listener) }()
	n.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			n.t.Error(err)
		}
	})
	return slow
}

func TestShutdownLetsCallsEnd(t *testing.T) {
	n := newNode(t)
	slow := n.startSlowStore()
	stop := n.start()
	client := n.controller(1)
	answered := make(chan error, 1)
	go func() {
		_, err := client.SetLease(context.Background(), hold("slow", "policy/a", time.Minute))
		answered <- err
	}()
	<-slow.asked
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	eventually(t, "new calls to be refused", func() bool {
		_, err := client.Describe(t.Context(), &sluicev1.DescribeRequest{})
		return err != nil
	})
	close(slow.release)
	if err := <-answered; err != nil {
		t.Errorf("the call that was under way failed: %v", err)
	}
	<-stopped
	given, err := slow.Snapshot(t.Context())
	if err != nil || len(given.Leases) != 1 {
		t.Errorf("the store has %v, %v; want the lease, which an agent that stops leaves alone", given.Leases, err)
	}
}

func TestDeadlineOfTheCallerHolds(t *testing.T) {
	n := newNode(t)
	slow := n.startSlowStore()
	n.start()
	client := n.controller(1)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := client.SetLease(ctx, hold("slow", "policy/a", time.Minute))
		failed <- err
	}()
	<-slow.asked
	cancel()
	if err := <-failed; status.Code(err) != codes.Canceled {
		t.Errorf("error %v, want the cancellation", err)
	}
	// The agent must have given up as well, or the next order would wait for its turn.
	eventually(t, "the record of the order", func() bool { return len(n.log.records(t, "order")) == 1 })
	if code := n.log.records(t, "order")[0]["code"]; code == "OK" {
		t.Error("the order was answered")
	}
	close(slow.release)
	mustSet(t, client, hold("slow", "policy/a", time.Minute))
}
