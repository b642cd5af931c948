package storetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
)

// unknownScope is a scope that no store has.
const unknownScope = "no such scope: storetest"

// badOrder is an order that must be refused, whether it is to set or to start.
type badOrder struct {
	name   string
	change func(*store.Order)
	code   store.Code
}

func badOrders(subject Subject, description store.Description) []badOrder {
	return []badOrder{
		{"no owner", func(o *store.Order) { o.Owner = "" }, store.CodeInvalid},
		{"long owner", func(o *store.Order) { o.Owner = strings.Repeat("x", 64) }, store.CodeInvalid},
		{"unprintable owner", func(o *store.Order) { o.Owner = "a\x00b" }, store.CodeInvalid},
		{"no kind", func(o *store.Order) { o.Kind = "" }, store.CodeInvalid},
		{"kind that is not offered", func(o *store.Order) { o.Kind = otherKind(description) }, store.CodeUnsupported},
		{"scope that is not there", func(o *store.Order) { o.Scope = unknownScope }, store.CodeNotFound},
		{"unprintable scope", func(o *store.Order) { o.Scope = "a\x1bb" }, store.CodeInvalid},
		{"no time to live", func(o *store.Order) { o.TimeToLive = 0 }, store.CodeInvalid},
		{"negative time to live", func(o *store.Order) { o.TimeToLive = -time.Second }, store.CodeInvalid},
		{"too long time to live", func(o *store.Order) { o.TimeToLive = description.MaxTimeToLive + time.Second }, store.CodeInvalid},
		{"endless time to live", func(o *store.Order) { o.TimeToLive = math.MaxInt64 }, store.CodeInvalid},
		{"value without a setting", func(o *store.Order) { o.Setting = store.Setting{Number: 1} }, store.CodeInvalid},
		{"value that is not a number", func(o *store.Order) {
			o.Setting = store.Setting{Name: store.RateBytesPerSecond, Number: math.NaN()}
		}, store.CodeInvalid},
		{"unsupported setting", func(o *store.Order) { o.Setting = subject.Unsupported }, store.CodeUnsupported},
	}
}

// otherKind is a kind of another store.
func otherKind(description store.Description) store.Kind {
	kinds := store.Kinds()
	return kinds[slices.IndexFunc(kinds, func(kind store.Kind) bool { return !offersKind(description, kind) })]
}

func offersKind(description store.Description, kind store.Kind) bool {
	return slices.ContainsFunc(description.Capabilities, func(c store.Capability) bool { return c.Kind == kind })
}

func testBadOrders(t *testing.T, subject Subject, driver store.Driver) {
	description, err := driver.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	order := subject.order()
	mustSet(t, driver, order)
	for _, test := range badOrders(subject, description) {
		bad := order
		test.change(&bad)
		_, err := driver.Set(t.Context(), bad)
		expectCode(t, "set: "+test.name, err, test.code)
		expectCode(t, "start: "+test.name, driver.Start(t.Context(), bad), test.code)
	}
	order.Setting = store.Setting{}
	_, err = driver.Set(t.Context(), order)
	expectCode(t, "set: no setting", err, store.CodeInvalid)
	expectOnly(t, driver, subject.order())
}

func testBadSelections(t *testing.T, subject Subject, driver store.Driver) {
	description, err := driver.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustSet(t, driver, subject.order())
	tests := []struct {
		name      string
		selection store.Selection
		code      store.Code
	}{
		{"no owner", store.Selection{}, store.CodeInvalid},
		{"long owner", store.Selection{Owner: strings.Repeat("x", 64)}, store.CodeInvalid},
		{"scope without a kind", store.Selection{Owner: owner, Scope: unknownScope}, store.CodeInvalid},
		{"kind that is not offered", store.Selection{Owner: owner, Kind: otherKind(description)}, store.CodeUnsupported},
		{"scope that is not there", store.Selection{Owner: owner, Kind: subject.Kind, Scope: unknownScope}, store.CodeNotFound},
	}
	for _, test := range tests {
		_, err := driver.Clear(t.Context(), test.selection)
		expectCode(t, "clear: "+test.name, err, test.code)
	}
	expectOnly(t, driver, subject.order())
}

// testBadTasks gives orders for tasks that no store obeys.
func testBadTasks(t *testing.T, subject Subject, driver store.Driver) {
	description, err := driver.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustSet(t, driver, subject.order())
	start := subject.order()
	start.Variant = "no-such-variant"
	expectCode(t, "a variant that is not offered", driver.Start(t.Context(), start), store.CodeUnsupported)
	_, err = driver.Set(t.Context(), start)
	expectCode(t, "a lease with a variant", err, store.CodeInvalid)
	start.Variant = "No Variant"
	expectCode(t, "a variant that is no word", driver.Start(t.Context(), start), store.CodeInvalid)

	missing := store.CodeUnsupported
	if canAbort(description, subject.Kind) {
		missing = store.CodeNotFound
	}
	tests := []struct {
		name   string
		change func(*store.Abortion)
		code   store.Code
	}{
		{"no owner", func(a *store.Abortion) { a.Owner = "" }, store.CodeInvalid},
		{"no kind", func(a *store.Abortion) { a.Kind = "" }, store.CodeInvalid},
		{"no task", func(a *store.Abortion) { a.Task = "" }, store.CodeInvalid},
		{"long task", func(a *store.Abortion) { a.Task = strings.Repeat("x", 256) }, store.CodeInvalid},
		{"unprintable task", func(a *store.Abortion) { a.Task = "a\x1bb" }, store.CodeInvalid},
		{"kind that is not offered", func(a *store.Abortion) { a.Kind = otherKind(description) }, store.CodeUnsupported},
		{"task that is not there", func(*store.Abortion) {}, missing},
	}
	for _, test := range tests {
		abortion := store.Abortion{Kind: subject.Kind, Task: "no such task: storetest", Owner: owner}
		test.change(&abortion)
		expectCode(t, "abort: "+test.name, driver.Abort(t.Context(), abortion), test.code)
	}
	expectOnly(t, driver, subject.order())
}

func canAbort(description store.Description, kind store.Kind) bool {
	return slices.ContainsFunc(description.Capabilities, func(c store.Capability) bool { return c.Kind == kind && c.CanAbort })
}

// eachCall makes every call of a driver, with an order that it would obey, and gives its error to check.
func eachCall(ctx context.Context, subject Subject, driver store.Driver, check func(call string, err error)) {
	_, err := driver.Describe(ctx)
	check("describe", err)
	_, err = driver.Snapshot(ctx)
	check("snapshot", err)
	_, err = driver.Set(ctx, subject.order())
	check("set", err)
	_, err = driver.Clear(ctx, store.Selection{Owner: owner})
	check("clear", err)
	check("start", driver.Start(ctx, subject.order()))
}

func testContext(t *testing.T, subject Subject, driver store.Driver) {
	order := subject.order()
	order.Setting = subject.Second
	mustSet(t, driver, order)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	eachCall(ended, subject, driver, func(call string, err error) {
		expectCode(t, call+" whose context has ended", err, store.CodeUnavailable)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the error does not say that the context has ended: %v", call, err)
		}
	})
	expectOnly(t, driver, order)
}

func testClosed(t *testing.T, subject Subject, driver store.Driver) {
	if err := driver.Close(); err != nil {
		t.Fatal(err)
	}
	eachCall(t.Context(), subject, driver, func(call string, err error) {
		expectCode(t, call+" of a closed driver", err, store.CodeUnavailable)
	})
}
