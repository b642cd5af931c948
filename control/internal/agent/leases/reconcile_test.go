package leases_test

import (
	"context"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
)

// What a start with a variant has given is a lease, and given again without the variant.
func TestLeaseOfAStartWithAVariantIsGivenAgain(t *testing.T) {
	n := newNode(t)
	n.clock.advance(2 * time.Second)
	order := hold("operator/a", time.Minute)
	order.Variant = store.Major
	if err := n.keeper.Start(context.Background(), n.session(), order, n.clock.now); err != nil {
		t.Fatal(err)
	}
	n.restart(t)
	if restored := n.reconcile(t); len(restored) != 1 || restored[0].Err != nil {
		t.Errorf("restored %+v", restored)
	}
	if lease := n.onlyLease(t); lease.Setting != order.Setting {
		t.Errorf("the store has %+v", lease)
	}
}

func TestRestartedStoreGetsTheTimeThatWasLeft(t *testing.T) {
	n := newNode(t)
	n.mustSet(t, hold("policy/a", 10*time.Second))
	n.reconcile(t)
	n.clock.advance(4 * time.Second)
	n.restart(t)
	restored := n.reconcile(t)
	if len(restored) != 1 || restored[0].Err != nil || restored[0].Order.Owner != "policy/a" {
		t.Fatalf("restored %v", restored)
	}
	// Three snapshots have taken 10 ms each.
	if lease := n.onlyLease(t); lease.TimeLeft != 10*time.Second-4*time.Second-3*10*time.Millisecond {
		t.Errorf("%v left", lease.TimeLeft)
	}
	if again := n.reconcile(t); len(again) != 0 {
		t.Errorf("restored twice: %v", again)
	}
}

func TestStartedTasksLeaseIsRestored(t *testing.T) {
	n := newNode(t)
	n.config.WriteBytesPerSecond = 1e6
	n.restart(t)
	n.clock.advance(time.Second)
	if err := n.keeper.Start(context.Background(), n.session(), hold("operator/a", 10*time.Second), n.clock.now); err != nil {
		t.Fatal(err)
	}
	n.restart(t)
	n.reconcile(t)
	if lease := n.onlyLease(t); lease.Owner != "operator/a" {
		t.Errorf("the store has %v", lease)
	}
}

// A start does not tell how the store rounds its setting.
func TestStartWhoseSettingTheStoreRoundsIsRestored(t *testing.T) {
	n := newNode(t)
	n.config.WriteBytesPerSecond = 1e6
	n.restart(t)
	n.process.rounds = true
	n.clock.advance(time.Second)
	order := hold("operator/a", time.Minute)
	order.Setting = store.Setting{Name: store.RateBytesPerSecond, Number: 1.5e6 + 0.4}
	if err := n.keeper.Start(context.Background(), n.session(), order, n.clock.now); err != nil {
		t.Fatal(err)
	}
	n.reconcile(t)
	n.restart(t)
	if restored := n.reconcile(t); len(restored) != 1 || restored[0].Err != nil {
		t.Errorf("restored %+v", restored)
	}
	if lease := n.onlyLease(t); lease.Setting != order.Setting {
		t.Errorf("the store has %+v", lease)
	}
}

func TestNotRestored(t *testing.T) {
	tests := map[string]func(t *testing.T, n *node){
		"ran out": func(_ *testing.T, n *node) {
			n.clock.advance(10 * time.Second)
		},
		"cleared": func(t *testing.T, n *node) {
			if _, err := n.keeper.Clear(context.Background(), n.session(), store.Selection{Owner: "policy/a"}); err != nil {
				t.Fatal(err)
			}
		},
		"clearing broke off": func(t *testing.T, n *node) {
			n.process.before = func() error { return unavailable }
			selection := store.Selection{Owner: "policy/a", Kind: store.Compaction}
			if _, err := n.keeper.Clear(context.Background(), n.session(), selection); err == nil {
				t.Fatal("no error")
			}
		},
		"cleared while out of reach": func(t *testing.T, n *node) {
			if err := n.keeper.Forget(context.Background(), store.Selection{Owner: "policy/a"}); err != nil {
				t.Fatal(err)
			}
		},
		"cleared by somebody else": func(t *testing.T, n *node) {
			if _, err := n.process.Clear(context.Background(), store.Selection{Owner: "policy/a"}); err != nil {
				t.Fatal(err)
			}
			n.reconcile(t)
		},
		"replaced by somebody else": func(t *testing.T, n *node) {
			order := hold("operator/b", time.Second)
			order.Replace = true
			if _, err := n.process.Set(context.Background(), order); err != nil {
				t.Fatal(err)
			}
			n.reconcile(t)
		},
		"another setting through somebody else": func(t *testing.T, n *node) {
			order := hold("policy/a", time.Second)
			order.Setting = store.Setting{Name: store.Full}
			if _, err := n.process.Set(context.Background(), order); err != nil {
				t.Fatal(err)
			}
			n.reconcile(t)
		},
		"replacing it broke off": func(t *testing.T, n *node) {
			n.process.before = func() error { return unavailable }
			order := hold("policy/a", 20*time.Second)
			order.Setting = store.Setting{Name: store.Full}
			if _, err := n.set(order); err == nil {
				t.Fatal("no error")
			}
		},
	}
	for name, happens := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.mustSet(t, hold("policy/a", 10*time.Second))
			n.reconcile(t)
			happens(t, n)
			n.restart(t)
			if restored := n.reconcile(t); len(restored) != 0 {
				t.Errorf("restored %v", restored)
			}
			n.wantNone(t)
		})
	}
}

func TestLeaseThatTheStoresLimitEndedIsNotRestored(t *testing.T) {
	n := newNode(t)
	n.config.WriteBytesPerSecond, n.config.BurstBytesPerSecond = 50e6, 50e6
	n.restart(t)
	n.mustSet(t, hold("policy/a", 5*time.Minute))
	n.reconcile(t)
	n.clock.advance(time.Minute) // at 50 MB/s, held, for a limit of 1 GB
	n.wantNone(t)
	if restored := n.reconcile(t); len(restored) != 0 {
		t.Errorf("restored %v", restored)
	}
	n.restart(t)
	if restored := n.reconcile(t); len(restored) != 0 {
		t.Errorf("restored after a restart: %v", restored)
	}
}

func TestWhoeverHasTakenTheLeaseKeepsIt(t *testing.T) {
	n := newNode(t)
	order := hold("policy/a", 10*time.Second)
	order.Replace = true
	n.mustSet(t, order)
	n.restart(t)
	seen := n.inForce(t)
	if _, err := n.process.Set(context.Background(), hold("operator/b", 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	restored, err := n.keeper.Reconcile(context.Background(), n.session(), seen)
	if err != nil {
		t.Fatal(err)
	}
	if len(restored) != 1 || store.CodeOf(restored[0].Err) != store.CodeConflict {
		t.Errorf("restored %v, want one conflict", restored)
	}
	if lease := n.onlyLease(t); lease.Owner != "operator/b" {
		t.Errorf("the store has %v", lease)
	}
	if restored := n.reconcile(t); len(restored) != 0 {
		t.Errorf("tried again: %v", restored)
	}
}

func TestSnapshotThatBeganBeforeTheOrderTellsNothing(t *testing.T) {
	n := newNode(t)
	seen := n.inForce(t)
	n.mustSet(t, hold("policy/a", 10*time.Second))
	if _, err := n.keeper.Reconcile(context.Background(), n.session(), seen); err != nil {
		t.Fatal(err)
	}
	n.restart(t)
	if restored := n.reconcile(t); len(restored) != 1 {
		t.Errorf("restored %v, want the lease", restored)
	}
}

func TestRestoringIsTriedAgainWhileTheStoreIsUnavailable(t *testing.T) {
	n := newNode(t)
	n.mustSet(t, hold("policy/a", 10*time.Second))
	n.restart(t)
	n.process.before = func() error { return unavailable }
	if restored := n.reconcile(t); len(restored) != 1 || restored[0].Err == nil {
		t.Fatalf("restored %v, want one failure", restored)
	}
	n.process.before = nil
	if restored := n.reconcile(t); len(restored) != 1 || restored[0].Err != nil {
		t.Fatalf("restored %v, want the lease", restored)
	}
	if lease := n.onlyLease(t); lease.Owner != "policy/a" {
		t.Errorf("the store has %v", lease)
	}
}

func TestRefusedOrderChangesNothing(t *testing.T) {
	n := newNode(t)
	n.mustSet(t, hold("policy/a", 10*time.Second))
	if _, err := n.set(hold("operator/b", 20*time.Second)); store.CodeOf(err) != store.CodeConflict {
		t.Fatalf("error %v, want a conflict", err)
	}
	n.restart(t)
	n.reconcile(t)
	if lease := n.onlyLease(t); lease.Owner != "policy/a" {
		t.Errorf("the store has %v", lease)
	}
}
