package wire_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

func requireEqual(t rapid.TB, got, want any, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

func TestSetLeaseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref, order := refs("n1").Draw(t, "ref"), orders.Draw(t, "order")
		gotRef, got, err := wire.DecodeSetLease("n1", overTheNetwork(t, wire.EncodeSetLease(ref, order)))
		requireEqual(t, got, order, err)
		requireEqual(t, gotRef, ref, err)
	})
}

func TestStartTaskRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref, order := refs("n1").Draw(t, "ref"), orders.Draw(t, "order")
		if rapid.Bool().Draw(t, "without setting") {
			order.Setting = store.Setting{}
		}
		if rapid.Bool().Draw(t, "with variant") {
			order.Variant = variants.Draw(t, "variant")
		}
		gotRef, got, err := wire.DecodeStartTask("n1", overTheNetwork(t, wire.EncodeStartTask(ref, order)))
		requireEqual(t, got, order, err)
		requireEqual(t, gotRef, ref, err)
	})
}

func TestAbortTaskRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref, abortion := refs("n1").Draw(t, "ref"), abortions.Draw(t, "abortion")
		gotRef, got, err := wire.DecodeAbortTask("n1", overTheNetwork(t, wire.EncodeAbortTask(ref, abortion)))
		requireEqual(t, got, abortion, err)
		requireEqual(t, gotRef, ref, err)
	})
}

func TestClearLeasesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref, selection := refs("n1").Draw(t, "ref"), store.Selection{Owner: names.Draw(t, "owner")}
		if rapid.Bool().Draw(t, "of one kind") {
			selection.Kind, selection.Scope = kinds.Draw(t, "kind"), texts.Draw(t, "scope")
		}
		gotRef, got, err := wire.DecodeClearLeases("n1", overTheNetwork(t, wire.EncodeClearLeases(ref, selection)))
		requireEqual(t, got, selection, err)
		requireEqual(t, gotRef, ref, err)
	})
}

func TestNodeSnapshotRoundTrip(t *testing.T) {
	now := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		want := wire.NodeSnapshot{
			Node:         "n1",
			Version:      texts.Draw(t, "version"),
			Signals:      signals(now).Draw(t, "signals"),
			Descriptions: listOf(descriptions).Draw(t, "descriptions"),
			Instances:    listOf(instances("n1", now)).Draw(t, "instances"),
			Clients:      listOf(clientLatencies("n1", now)).Draw(t, "clients"),
		}
		got, err := wire.DecodeNodeSnapshot("n1", overTheNetwork(t, wire.EncodeNodeSnapshot(want, now)), now)
		requireEqual(t, got, want, err)
	})
}

func TestLeaseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := leases.Draw(t, "lease")
		got, err := wire.DecodeLease(overTheNetwork(t, wire.EncodeLease(want)))
		requireEqual(t, got, want, err)
	})
}

func TestDecisionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := decisions.Draw(t, "decision")
		got, err := wire.DecodeDecision(overTheNetwork(t, wire.EncodeDecision(want)))
		requireEqual(t, got, want, err)
	})
}

// The clocks of the two nodes have nothing to do with each other, and a snapshot never gets fresher on
// its way.
func TestSnapshotKeepsItsAge(t *testing.T) {
	taken := time.Now()
	agentNow, controllerAsked := taken.Add(3*time.Second), taken.Add(-1000*time.Hour)
	instance := wire.InstanceSnapshot{Snapshot: store.Snapshot{TakenAt: taken}}
	instance.Ref.Store, instance.Ref.Instance = "postgres", "main"
	got, err := wire.DecodeSnapshot("n1", overTheNetwork(t, wire.EncodeSnapshot(instance, agentNow)), controllerAsked)
	if err != nil {
		t.Fatal(err)
	}
	if age := controllerAsked.Sub(got.Snapshot.TakenAt); age != 3*time.Second {
		t.Errorf("the age is %v, was 3s", age)
	}
	signals, err := wire.DecodeNodeSignals(
		overTheNetwork(t, wire.EncodeNodeSignals(policy.NodeSignals{SampledAt: taken}, agentNow)), controllerAsked)
	if err != nil {
		t.Fatal(err)
	}
	if age := controllerAsked.Sub(signals.SampledAt); age != 3*time.Second {
		t.Errorf("the age of the signals is %v, was 3s", age)
	}
}

// An agent before protocol 1.2 goes on to be read.
func TestSignalsWithoutAnAgeAreOfTheAnswer(t *testing.T) {
	asked := time.Now()
	got, err := wire.DecodeNodeSignals(&sluicev1.NodeSignals{CpuUsed: 0.5}, asked)
	if err != nil || !got.SampledAt.Equal(asked) {
		t.Errorf("the signals are %+v, %v", got, err)
	}
}
