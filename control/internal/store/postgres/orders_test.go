package postgres

import (
	"context"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/store"
)

func order(setting store.Setting) store.Order {
	return store.Order{Kind: store.Checkpoint, Setting: setting, Owner: "test", TimeToLive: 1500 * time.Millisecond}
}

func TestCallsToSet(t *testing.T) {
	tests := []struct {
		setting store.Setting
		want    call
	}{
		{store.Setting{Name: store.Hold}, call{paceQuery, []any{"hold", "test", 1.5, nil, nil, false}}},
		{store.Setting{Name: store.Full}, call{paceQuery, []any{"full", "test", 1.5, nil, nil, false}}},
		{store.Setting{Name: store.Stock}, call{paceQuery, []any{"stock", "test", 1.5, nil, nil, false}}},
		{store.Setting{Name: store.RateBytesPerSecond, Number: 6e6},
			call{paceQuery, []any{"rate", "test", 1.5, int64(6e6), nil, false}}},
		{store.Setting{Name: store.DurationSeconds, Number: 20},
			call{paceQuery, []any{"duration", "test", 1.5, nil, 20.0, false}}},
		{store.Setting{Name: store.SyncGapSeconds, Number: 0.2}, call{syncGapQuery, []any{0.2, "test", 1.5, false}}},
		{store.Setting{Name: store.DeferUntilDebtBytes, Number: 2e8},
			call{deferralQuery, []any{int64(2e8), "test", 1.5, false}}},
	}
	for _, test := range tests {
		got, err := callToSet(order(test.setting))
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: got %v, %v, want %v", test.setting, got, err, test.want)
		}
	}
}

// Whatever number is asked for fits the types of SQL, so that it is the extension that refuses it.
func TestNumbersFitTheTypesOfSQL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(1, math.MaxFloat64).Draw(t, "number")
		if got := boundedBytes(store.Setting{Number: number}); got < 1 || float64(got) > number+0.5 {
			t.Errorf("%v bytes: got %v", number, got)
		}
		if got := boundedSeconds(store.Setting{Number: number}); got > number || got*1e6 > math.MaxInt64 {
			t.Errorf("%v s: got %v", number, got)
		}
	})
}

// These never reach the server; there is none.
func TestOrdersThatNoCheckpointCanObey(t *testing.T) {
	driver, err := Open(Config{Instance: "main", SocketDirectory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close()
	with := func(change func(*store.Order)) store.Order {
		o := order(store.Setting{Name: store.Hold})
		change(&o)
		return o
	}
	tests := []struct {
		name       string
		order      store.Order
		set, start store.Code
	}{
		{"no owner", with(func(o *store.Order) { o.Owner = "" }), store.CodeInvalid, store.CodeInvalid},
		{"no time to live", with(func(o *store.Order) { o.TimeToLive = 0 }), store.CodeInvalid, store.CodeInvalid},
		{"another kind", with(func(o *store.Order) { o.Kind = store.Flush }), store.CodeUnsupported, store.CodeUnsupported},
		{"an unknown kind", with(func(o *store.Order) { o.Kind = "vacuum" }), store.CodeInvalid, store.CodeInvalid},
		{"a scope", with(func(o *store.Order) { o.Scope = "pages" }), store.CodeNotFound, store.CodeNotFound},
		{"concurrency", order(store.Setting{Name: store.Concurrency, Number: 2}), store.CodeUnsupported, store.CodeUnsupported},
		{"a bad number", order(store.Setting{Name: store.RateBytesPerSecond, Number: math.NaN()}), store.CodeInvalid, store.CodeInvalid},
		{"a gap, to start", order(store.Setting{Name: store.SyncGapSeconds, Number: 1}), store.CodeUnavailable, store.CodeUnsupported},
		{"no setting", order(store.Setting{}), store.CodeInvalid, store.CodeUnavailable},
	}
	for _, test := range tests {
		if _, err := driver.Set(context.Background(), test.order); store.CodeOf(err) != test.set {
			t.Errorf("set, %s: got %v, want %s", test.name, err, test.set)
		}
		if err := driver.Start(context.Background(), test.order); store.CodeOf(err) != test.start {
			t.Errorf("start, %s: got %v, want %s", test.name, err, test.start)
		}
	}
	for name, selection := range map[string]store.Selection{
		"no owner": {}, "a scope without a kind": {Owner: "test", Scope: "pages"},
	} {
		if _, err := driver.Clear(context.Background(), selection); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("clear, %s: got %v, want %s", name, err, store.CodeInvalid)
		}
	}
	if _, err := driver.Clear(context.Background(), store.Selection{Owner: "test", Kind: store.Cache}); store.CodeOf(err) != store.CodeUnsupported {
		t.Errorf("clear, another kind: got %v, want %s", err, store.CodeUnsupported)
	}
}
