package storetest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
)

func testSet(t *testing.T, subject Subject, driver store.Driver) {
	mustSet(t, driver, subject.order())
	expectOnly(t, driver, subject.order())
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

func testBadOrders(t *testing.T, subject Subject, driver store.Driver) {
	order := subject.order()
	mustSet(t, driver, order)
	tests := []struct {
		name   string
		change func(*store.Order)
		code   store.Code
	}{
		{"no owner", func(o *store.Order) { o.Owner = "" }, store.CodeInvalid},
		{"long owner", func(o *store.Order) { o.Owner = strings.Repeat("x", 64) }, store.CodeInvalid},
		{"unprintable owner", func(o *store.Order) { o.Owner = "a\x00b" }, store.CodeInvalid},
		{"no kind", func(o *store.Order) { o.Kind = "" }, store.CodeInvalid},
		{"no time to live", func(o *store.Order) { o.TimeToLive = 0 }, store.CodeInvalid},
		{"negative time to live", func(o *store.Order) { o.TimeToLive = -time.Second }, store.CodeInvalid},
		{"endless time to live", func(o *store.Order) { o.TimeToLive = math.MaxInt64 }, store.CodeInvalid},
		{"no setting", func(o *store.Order) { o.Setting = store.Setting{} }, store.CodeInvalid},
		{"value that is not a number", func(o *store.Order) {
			o.Setting = store.Setting{Name: store.RateBytesPerSecond, Number: math.NaN()}
		}, store.CodeInvalid},
		{"unsupported setting", func(o *store.Order) { o.Setting = subject.Unsupported }, store.CodeUnsupported},
	}
	for _, test := range tests {
		bad := order
		test.change(&bad)
		_, err := driver.Set(t.Context(), bad)
		expectCode(t, test.name, err, test.code)
		var failure *store.Error
		if err != nil && !errors.As(err, &failure) {
			t.Errorf("%s: the error is %T", test.name, err)
		}
	}
	expectOnly(t, driver, order)
	_, err := driver.Clear(t.Context(), store.Selection{})
	expectCode(t, "clear without an owner", err, store.CodeInvalid)
	expectOnly(t, driver, order)
}

func testContext(t *testing.T, subject Subject, driver store.Driver) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := driver.Snapshot(ended)
	expectCode(t, "a call whose context has ended", err, store.CodeUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error does not say that the context has ended: %v", err)
	}
	mustSet(t, driver, subject.order())
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

func testClosed(t *testing.T, _ Subject, driver store.Driver) {
	if err := driver.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := driver.Snapshot(t.Context())
	expectCode(t, "a call on a closed driver", err, store.CodeUnavailable)
}
