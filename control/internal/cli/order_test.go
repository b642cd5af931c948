package cli

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/internal/cli/clitest"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

var (
	postgres     = &sluicev1.StoreRef{Store: "postgres", Instance: "main"}
	regionServer = &sluicev1.StoreRef{Store: "hbase", Instance: "regionserver"}
)

func rate(number float64) *sluicev1.Setting {
	return &sluicev1.Setting{Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: number}}
}

func TestOrdersThatAreSent(t *testing.T) {
	set := &sluicev1.SetLeaseRequest{
		Ref: postgres, Kind: sluicev1.Kind_KIND_CHECKPOINT, Setting: rate(6e6), Owner: "operator/ann",
		TimeToLive: durationpb.New(30 * time.Second),
	}
	scoped := &sluicev1.SetLeaseRequest{
		Ref: postgres, Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "a", Owner: "operator/night", Replace: true,
		Setting:    &sluicev1.Setting{Name: "tier", Value: &sluicev1.Setting_Text{Text: "ssd"}},
		TimeToLive: durationpb.New(90 * time.Second),
	}
	start := &sluicev1.StartTaskRequest{
		Ref: postgres, Kind: sluicev1.Kind_KIND_CHECKPOINT, Owner: "operator/ann",
		TimeToLive: durationpb.New(30 * time.Second),
	}
	paced := proto.CloneOf(start)
	paced.Setting, paced.TimeToLive = rate(2e7), durationpb.New(time.Minute)
	major := &sluicev1.StartTaskRequest{
		Ref: regionServer, Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "orders/cf", Owner: "operator/ann",
		TimeToLive: durationpb.New(30 * time.Second), Variant: "major",
	}
	abort := &sluicev1.AbortTaskRequest{
		Ref: regionServer, Kind: sluicev1.Kind_KIND_COMPACTION, TaskId: "compaction-17", Owner: "operator/night",
	}
	clear := &sluicev1.ClearLeasesRequest{Ref: postgres, Owner: "operator/ann"}
	clearKind := &sluicev1.ClearLeasesRequest{
		Ref: postgres, Owner: "policy/nightly", Kind: sluicev1.Kind_KIND_CHECKPOINT, Scope: "a",
	}
	for _, test := range []struct {
		command string
		relayed proto.Message
		direct  proto.Message
		want    string
	}{
		{
			"set db1/postgres/main checkpoint rate_bytes_per_second=6MB --for 30s",
			&sluicev1.RelaySetLeaseRequest{Node: "db1", Request: set}, set,
			"db1/postgres/main checkpoint: rate_bytes_per_second=6MB/s for 30s, owner operator/ann\n",
		},
		{
			"set db1/postgres/main compaction tier=ssd --for 1m30s --scope a --owner operator/night --replace",
			&sluicev1.RelaySetLeaseRequest{Node: "db1", Request: scoped}, scoped,
			"db1/postgres/main compaction of a: tier=ssd for 1m30s, owner operator/night\n",
		},
		{
			"start db1/postgres/main checkpoint",
			&sluicev1.RelayStartTaskRequest{Node: "db1", Request: start}, start,
			"db1/postgres/main checkpoint: asked to start\n",
		},
		{
			"start db1/postgres/main checkpoint rate_bytes_per_second=20MB/s --for 1m",
			&sluicev1.RelayStartTaskRequest{Node: "db1", Request: paced}, paced,
			"db1/postgres/main checkpoint: asked to start, rate_bytes_per_second=20MB/s for 1m0s, owner operator/ann\n",
		},
		{
			"start db1/hbase/regionserver compaction --scope orders/cf --variant major",
			&sluicev1.RelayStartTaskRequest{Node: "db1", Request: major}, major,
			"db1/hbase/regionserver compaction of orders/cf: asked to start, variant major\n",
		},
		{
			"abort db1/hbase/regionserver compaction compaction-17 --owner operator/night",
			&sluicev1.RelayAbortTaskRequest{Node: "db1", Request: abort}, abort,
			"db1/hbase/regionserver compaction compaction-17: asked to end\n",
		},
		{
			"clear db1/postgres/main",
			&sluicev1.RelayClearLeasesRequest{Node: "db1", Request: clear}, clear,
			"db1/postgres/main: 2 leases of operator/ann ended\n",
		},
		{
			"clear db1/postgres/main checkpoint --scope a --owner policy/nightly",
			&sluicev1.RelayClearLeasesRequest{Node: "db1", Request: clearKind}, clearKind,
			"db1/postgres/main: 2 leases of policy/nightly ended\n",
		},
		{"policy pause nightly", &sluicev1.PausePolicyRequest{Name: "nightly"}, nil, "policy nightly: paused\n"},
		{"policy resume nightly", &sluicev1.ResumePolicyRequest{Name: "nightly"}, nil, "policy nightly: resumed\n"},
	} {
		t.Run(test.command, func(t *testing.T) {
			w := newWorld(t)
			got := w.run(t, strings.Fields(test.command)...)
			if got.code != exitOK || got.stdout != test.want {
				t.Errorf("exit code %d, output %q, want %q; error %q", got.code, got.stdout, test.want, got.stderr)
			}
			expectOrder(t, &w.controller.Orders, test.relayed)
			if test.direct == nil {
				return
			}
			if got := w.run(t, strings.Fields(test.command+" --context db1")...); got.code != exitOK {
				t.Errorf("to the agent: exit code %d, error %q", got.code, got.stderr)
			}
			expectOrder(t, &w.agent.Orders, test.direct)
		})
	}
}

func expectOrder(t *testing.T, orders *clitest.Orders, want proto.Message) {
	t.Helper()
	taken := orders.Taken()
	if len(taken) != 1 || !proto.Equal(taken[0], want) {
		t.Errorf("orders are %v, want %v", taken, want)
	}
}

// A variant that is not offered is not sent: an agent of an older release would take no notice of it.
func TestVariantsThatAreNotOfferedAreNotSent(t *testing.T) {
	for command, want := range map[string]string{
		"start db1/hbase/regionserver compaction --variant huge":  "It offers: minor, major",
		"start db1/hbase/regionserver flush --variant major":      "offers no variants of flush",
		"start db1/postgres/main checkpoint --variant major":      "offers no variants of checkpoint",
		"start db2/postgres/main checkpoint --variant major":      "nothing is known of what db2/postgres/main can start",
		"start db9/hbase/regionserver compaction --variant major": "nothing is known of what db9/hbase/regionserver can start",
	} {
		w := newWorld(t)
		got := w.run(t, strings.Fields(command)...)
		if got.code != exitFailure || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit code %d, error %q, without %q", command, got.code, got.stderr, want)
		}
		if taken := w.controller.Taken(); len(taken) > 0 {
			t.Errorf("%s: sent %v", command, taken)
		}
	}
}

func TestTasksAsDocuments(t *testing.T) {
	for command, want := range map[string]string{
		"start db1/hbase/regionserver compaction --variant minor --scope orders -o json": `{
  "target": "db1/hbase/regionserver",
  "kind": "compaction",
  "scope": "orders",
  "variant": "minor"
}
`,
		"abort db1/hbase/regionserver compaction compaction-17 -o yaml": `target: db1/hbase/regionserver
kind: compaction
task: compaction-17
`,
	} {
		if got := newWorld(t).run(t, strings.Fields(command)...); got.code != exitOK || got.stdout != want {
			t.Errorf("%s: exit code %d, output %q; error %q", command, got.code, got.stdout, got.stderr)
		}
	}
}

func TestLeaseAsADocument(t *testing.T) {
	w := newWorld(t)
	got := w.run(t, strings.Fields(anOrder+" -o json")...)
	compare(t, "set.json", got.stdout)
}

func TestKeepRenewsUntilInterrupted(t *testing.T) {
	for flag, wantCleared := range map[string]bool{"": false, " --clear-at-end": true} {
		w := newWorld(t)
		kept := w.start(t, strings.Fields("set db1/postgres/main checkpoint hold --for 90ms --replace --keep"+flag)...)
		await(t, "the lease is not renewed", func() bool { return len(w.controller.Taken()) >= 3 })
		got := kept.interrupt(t)
		if got.code != exitOK || strings.Count(got.stdout, "\n") != 1 {
			t.Errorf("exit code %d, output %q, error %q", got.code, got.stdout, got.stderr)
		}
		orders := w.controller.Taken()
		for i, order := range orders[:3] {
			set := order.(*sluicev1.RelaySetLeaseRequest).GetRequest()
			// Another owner's lease is taken over once, not again and again.
			if set.GetReplace() != (i == 0) {
				t.Errorf("order %d: replace is %t", i, set.GetReplace())
			}
		}
		last, cleared := orders[len(orders)-1].(*sluicev1.RelayClearLeasesRequest)
		if cleared != wantCleared {
			t.Errorf("%q: cleared is %t", flag, cleared)
		}
		if cleared && last.GetRequest().GetKind() != sluicev1.Kind_KIND_CHECKPOINT {
			t.Errorf("cleared %v", last)
		}
	}
}

func TestKeepGivesUp(t *testing.T) {
	for _, test := range []struct {
		name    string
		refusal error
		later   time.Duration
		code    int
	}{
		{"when somebody else has the lease", store.Errorf(store.CodeConflict, "bob has it"), 0, exitRefused},
		{"when the lease has run out", store.Errorf(store.CodeUnavailable, "gone"), time.Hour, exitUnreachable},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			started := clitest.Now()
			w.environment.Now = func() time.Time {
				if len(w.controller.Taken()) > 1 {
					return started.Add(test.later)
				}
				return started
			}
			kept := w.start(t, strings.Fields("set db1/postgres/main checkpoint hold --for 300ms --keep")...)
			await(t, "the lease is not given", func() bool { return len(w.controller.Taken()) == 1 })
			w.controller.Refuse(test.refusal)
			got := kept.wait(t)
			if got.code != test.code || !strings.Contains(got.stderr, "no longer renewed") {
				t.Errorf("exit code %d, error %q", got.code, got.stderr)
			}
		})
	}
}

func TestKeepGoesOnWhenOneRenewalFails(t *testing.T) {
	w := newWorld(t)
	kept := w.start(t, strings.Fields("set db1/postgres/main checkpoint hold --for 90ms --keep")...)
	await(t, "the lease is not given", func() bool { return len(w.controller.Taken()) >= 1 })
	w.controller.Refuse(store.Errorf(store.CodeUnavailable, "the agent is gone"))
	await(t, "the failure is not told", func() bool { return strings.Contains(kept.stderr.String(), "renewing again") })
	w.controller.Refuse(nil)
	before := len(w.controller.Taken())
	await(t, "the lease is not renewed again", func() bool { return len(w.controller.Taken()) > before+1 })
	if got := kept.interrupt(t); got.code != exitOK {
		t.Errorf("exit code %d, error %q", got.code, got.stderr)
	}
}
