// Package storetest has the contract of store.Driver as tests, which every driver runs against a real
// store.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
)

// Subject is a driver to test, and orders that its store obeys.
type Subject struct {
	// Open makes a driver for a store that runs. The tests close it, and end their leases.
	Open func(t *testing.T) store.Driver
	// Store and Instance are what it must say of itself.
	Store, Instance string
	// Kind and Scope are what orders are for.
	Kind  store.Kind
	Scope string
	// First and Second are different settings of the same aspect.
	First, Second store.Setting
	// Unsupported is a valid setting that the store cannot obey.
	Unsupported store.Setting
}

const (
	owner      = "storetest/first"
	otherOwner = "storetest/second"
	timeToLive = time.Minute
	// deadline is for what must happen, however slow the machine is.
	deadline = time.Minute
	// pollPeriod is how often a condition that is waited for is looked at.
	pollPeriod = 10 * time.Millisecond
)

func (s Subject) order() store.Order {
	return store.Order{Kind: s.Kind, Scope: s.Scope, Setting: s.First, Owner: owner, TimeToLive: timeToLive}
}

// Run tests a driver, each test with one that is newly opened.
func Run(t *testing.T, subject Subject) {
	tests := []struct {
		name string
		run  func(*testing.T, Subject, store.Driver)
	}{
		{"describes itself", testDescribe},
		{"set gives a lease and shows it", testSet},
		{"a snapshot is taken during its call", testTakenAt},
		{"the same order renews", testRenew},
		{"another setting replaces", testReplace},
		{"another owner is refused, and may take over", testConflict},
		{"clear ends the owner's leases alone", testClear},
		{"a lease ends by itself", testExpiry},
		{"a lease outlives the driver that gave it", testReopen},
		{"bad orders change nothing", testBadOrders},
		{"bad selections end nothing", testBadSelections},
		{"bad variants and aborts change nothing", testBadTasks},
		{"an ended context ends the call, not the driver", testContext},
		{"calls at the same time", testConcurrency},
		{"a closed driver is unavailable", testClosed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			driver := subject.Open(t)
			t.Cleanup(func() { _ = driver.Close() })
			endLeases(t, driver)
			test.run(t, subject, driver)
		})
	}
}

// endLeases ends what the test before has left.
func endLeases(t *testing.T, driver store.Driver) {
	t.Helper()
	for _, each := range []string{owner, otherOwner} {
		if _, err := driver.Clear(t.Context(), store.Selection{Owner: each}); err != nil {
			t.Fatal(err)
		}
	}
}

func testDescribe(t *testing.T, subject Subject, driver store.Driver) {
	description, err := driver.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if description.Store != subject.Store || description.Instance != subject.Instance {
		t.Errorf("it is %s/%s, not %s/%s", description.Store, description.Instance, subject.Store, subject.Instance)
	}
	if description.StoreVersion == "" || description.PluginVersion == "" || description.MaxTimeToLive <= 0 {
		t.Errorf("something is missing: %+v", description)
	}
	for _, setting := range []store.SettingName{subject.First.Name, subject.Second.Name} {
		if !offers(description, subject.Kind, setting) {
			t.Errorf("%s of %s is not offered: %+v", setting, subject.Kind, description.Capabilities)
		}
	}
	if offers(description, subject.Kind, subject.Unsupported.Name) {
		t.Errorf("%s is offered", subject.Unsupported.Name)
	}
}

func offers(description store.Description, kind store.Kind, name store.SettingName) bool {
	for _, capability := range description.Capabilities {
		for _, offered := range capability.Settings {
			if capability.Kind == kind && offered == name {
				return true
			}
		}
	}
	return false
}

// mustSet gives an order that must be obeyed.
func mustSet(t *testing.T, driver store.Driver, order store.Order) store.Lease {
	t.Helper()
	lease, err := driver.Set(t.Context(), order)
	if err != nil {
		t.Fatalf("set %+v: %v", order, err)
	}
	expectLease(t, lease, order)
	return lease
}

// leases returns those of the tests' owners.
func leases(t *testing.T, driver store.Driver) []store.Lease {
	t.Helper()
	snapshot, err := driver.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	var own []store.Lease
	for _, lease := range snapshot.Leases {
		if lease.Owner == owner || lease.Owner == otherOwner {
			own = append(own, lease)
		}
	}
	return own
}

func expectLease(t *testing.T, lease store.Lease, order store.Order) {
	t.Helper()
	if lease.TimeLeft <= 0 || lease.TimeLeft > order.TimeToLive {
		t.Errorf("the lease has %v left of %v", lease.TimeLeft, order.TimeToLive)
	}
	want := store.Lease{
		Kind: order.Kind, Scope: order.Scope, Setting: order.Setting, Owner: order.Owner, TimeLeft: lease.TimeLeft,
	}
	if lease != want {
		t.Errorf("the lease is %+v, not %+v", lease, want)
	}
}

// expectOnly makes sure that one order is in force and no other.
func expectOnly(t *testing.T, driver store.Driver, order store.Order) {
	t.Helper()
	all := leases(t, driver)
	if len(all) != 1 {
		t.Fatalf("there are %d leases, not 1: %+v", len(all), all)
	}
	expectLease(t, all[0], order)
}

func expectCode(t *testing.T, what string, err error, want store.Code) {
	t.Helper()
	if err == nil {
		t.Errorf("%s was accepted", what)
		return
	}
	var failure *store.Error
	if !errors.As(err, &failure) {
		t.Errorf("%s: the error is no store.Error but %T: %v", what, err, err)
		return
	}
	if failure.Code != want {
		t.Errorf("%s: the code is %q, not %q: %v", what, failure.Code, want, err)
	}
}

// waitUntil waits for a condition, and fails the test if it does not come true.
func waitUntil(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatal(fmt.Errorf("%s: not within %v", what, deadline))
		case <-ticker.C:
		}
	}
}
