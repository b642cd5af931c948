package storetest

import (
	"sync"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
)

func testSet(t *testing.T, subject Subject, driver store.Driver) {
	mustSet(t, driver, subject.order())
	expectOnly(t, driver, subject.order())
}

func testTakenAt(t *testing.T, _ Subject, driver store.Driver) {
	before := time.Now()
	snapshot, err := driver.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if snapshot.TakenAt.Before(before) || snapshot.TakenAt.After(time.Now()) {
		t.Errorf("taken at %v, not during the call that began at %v", snapshot.TakenAt, before)
	}
}

func testRenew(t *testing.T, subject Subject, driver store.Driver) {
	order := subject.order()
	order.TimeToLive = timeToLive / 2
	short := mustSet(t, driver, order)
	order.TimeToLive = timeToLive
	long := mustSet(t, driver, order)
	if long.TimeLeft <= short.TimeLeft {
		t.Errorf("renewed for %v, the lease has %v left; it had %v", timeToLive, long.TimeLeft, short.TimeLeft)
	}
	expectOnly(t, driver, order)
}

func testReplace(t *testing.T, subject Subject, driver store.Driver) {
	order := subject.order()
	mustSet(t, driver, order)
	order.Setting = subject.Second
	mustSet(t, driver, order)
	expectOnly(t, driver, order)
}

func testConflict(t *testing.T, subject Subject, driver store.Driver) {
	first, second := subject.order(), subject.order()
	second.Owner, second.Setting = otherOwner, subject.Second
	mustSet(t, driver, first)
	_, err := driver.Set(t.Context(), second)
	expectCode(t, "an order against another owner's lease", err, store.CodeConflict)
	err = driver.Start(t.Context(), second)
	expectCode(t, "a start against another owner's lease", err, store.CodeConflict)
	expectOnly(t, driver, first)
	second.Replace = true
	mustSet(t, driver, second)
	expectOnly(t, driver, second)
}

func testClear(t *testing.T, subject Subject, driver store.Driver) {
	mustSet(t, driver, subject.order())
	tests := []struct {
		name      string
		selection store.Selection
		cleared   int
	}{
		{"another owner's", store.Selection{Owner: otherOwner}, 0},
		{"of the kind and scope", store.Selection{Owner: owner, Kind: subject.Kind, Scope: subject.Scope}, 1},
		{"all", store.Selection{Owner: owner}, 1},
	}
	for _, test := range tests {
		mustSet(t, driver, subject.order())
		cleared, err := driver.Clear(t.Context(), test.selection)
		if err != nil || cleared != test.cleared {
			t.Errorf("%s: cleared %d, %v; not %d", test.name, cleared, err, test.cleared)
		}
		if left := len(leases(t, driver)); left != 1-test.cleared {
			t.Errorf("%s: %d leases are left", test.name, left)
		}
	}
}

func testExpiry(t *testing.T, subject Subject, driver store.Driver) {
	order := subject.order()
	order.TimeToLive = time.Second
	ends := time.Now().Add(order.TimeToLive)
	mustSet(t, driver, order)
	waitUntil(t, "the end of the lease", func() bool { return len(leases(t, driver)) == 0 })
	if early := time.Until(ends); early > 0 {
		t.Errorf("the lease ended %v too early", early)
	}
}

func testConcurrency(t *testing.T, subject Subject, driver store.Driver) {
	const callers, calls = 8, 10
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range calls {
				if _, err := driver.Set(t.Context(), subject.order()); err != nil {
					t.Errorf("set: %v", err)
				}
				if _, err := driver.Snapshot(t.Context()); err != nil {
					t.Errorf("snapshot: %v", err)
				}
			}
		})
	}
	all.Wait()
	expectOnly(t, driver, subject.order())
}

// testReopen is what an agent does that was started again: the lease is the store's.
func testReopen(t *testing.T, subject Subject, driver store.Driver) {
	mustSet(t, driver, subject.order())
	if err := driver.Close(); err != nil {
		t.Fatal(err)
	}
	next := subject.Open(t)
	t.Cleanup(func() { _ = next.Close() })
	expectOnly(t, next, subject.order())
}
