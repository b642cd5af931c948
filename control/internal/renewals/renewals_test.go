package renewals

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

const timeToLive = 5 * time.Second

var (
	start   = time.Now()
	primary = &sluicev1.StoreRef{Store: "postgres", Instance: "main"}
)

func rate(number float64) *sluicev1.Setting {
	return &sluicev1.Setting{Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: number}}
}

func setLease(change func(*sluicev1.SetLeaseRequest)) *sluicev1.SetLeaseRequest {
	request := &sluicev1.SetLeaseRequest{
		Ref: primary, Kind: sluicev1.Kind_KIND_CHECKPOINT, Setting: rate(5e6),
		Owner: "policy/a", TimeToLive: durationpb.New(timeToLive),
	}
	if change != nil {
		change(request)
	}
	return request
}

// given is the order that comes a second after the one before.
func given(request any) Order {
	return Order{Caller: "c1", Node: "n1", Request: request, Received: start.Add(time.Second)}
}

func TestWhatRenews(t *testing.T) {
	failed := given(setLease(nil))
	failed.Failed = true
	refused := given(setLease(func(r *sluicev1.SetLeaseRequest) { r.Owner = "operator/b" }))
	refused.Failed = true
	ofAnother := given(setLease(nil))
	ofAnother.Caller = "c2"
	elsewhere := given(setLease(nil))
	elsewhere.Node = "n2"
	late := given(setLease(nil))
	late.Received = start.Add(timeToLive)
	clearAll := &sluicev1.ClearLeasesRequest{Ref: primary, Owner: "policy/a"}
	tests := map[string]struct {
		// then are the orders after the first one, of which the last one is judged.
		then []Order
		want bool
	}{
		"the same":                {[]Order{given(setLease(nil))}, true},
		"the same twice":          {[]Order{given(setLease(nil)), given(setLease(nil))}, true},
		"another setting":         {[]Order{given(setLease(func(r *sluicev1.SetLeaseRequest) { r.Setting = rate(6e6) }))}, false},
		"the hold instead":        {[]Order{given(setLease(func(r *sluicev1.SetLeaseRequest) { r.Setting = &sluicev1.Setting{Name: "hold"} }))}, false},
		"another owner":           {[]Order{given(setLease(func(r *sluicev1.SetLeaseRequest) { r.Owner = "operator/b" }))}, false},
		"another scope":           {[]Order{given(setLease(func(r *sluicev1.SetLeaseRequest) { r.Scope = "orders" }))}, false},
		"another time":            {[]Order{given(setLease(func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = durationpb.New(time.Second) }))}, true},
		"another caller":          {[]Order{ofAnother}, false},
		"another node":            {[]Order{elsewhere}, false},
		"after its time":          {[]Order{late}, false},
		"one that failed":         {[]Order{failed}, false},
		"after a failure":         {[]Order{failed, given(setLease(nil))}, false},
		"after another's failure": {[]Order{refused, given(setLease(nil))}, true},
		"after it was ended":      {[]Order{given(clearAll), given(setLease(nil))}, false},
		"the end itself":          {[]Order{given(clearAll)}, false},
		"after another's end":     {[]Order{given(&sluicev1.ClearLeasesRequest{Ref: primary, Owner: "operator/b"}), given(setLease(nil))}, true},
		"after the end elsewhere": {[]Order{
			given(&sluicev1.ClearLeasesRequest{Ref: primary, Owner: "policy/a", Kind: sluicev1.Kind_KIND_CHECKPOINT, Scope: "orders"}),
			given(setLease(nil)),
		}, true},
		"a start": {[]Order{given(&sluicev1.StartTaskRequest{
			Ref: primary, Kind: sluicev1.Kind_KIND_CHECKPOINT, Setting: rate(5e6), Owner: "policy/a", TimeToLive: durationpb.New(timeToLive),
		})}, false},
		"what is no order": {[]Order{given(&sluicev1.GetSnapshotRequest{})}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tracker := &Tracker{}
			first := given(setLease(nil))
			first.Received = start
			if tracker.IsRenewal(first) {
				t.Error("the first order renews something")
			}
			var got bool
			for _, order := range test.then {
				got = tracker.IsRenewal(order)
			}
			if got != test.want {
				t.Errorf("renewal: %v, want %v", got, test.want)
			}
		})
	}
}

func TestLeaseOfAStartIsRenewed(t *testing.T) {
	tracker := &Tracker{}
	tracker.IsRenewal(given(&sluicev1.StartTaskRequest{
		Ref: primary, Kind: sluicev1.Kind_KIND_CHECKPOINT, Setting: rate(5e6), Owner: "policy/a", TimeToLive: durationpb.New(timeToLive),
	}))
	if !tracker.IsRenewal(given(setLease(nil))) {
		t.Error("the lease of the start is not known")
	}
}

func TestMemoryIsBoundedByWhatCanBeInForce(t *testing.T) {
	tracker := &Tracker{}
	for i := range 10 * pruneFrom {
		order := given(setLease(func(r *sluicev1.SetLeaseRequest) { r.Scope = fmt.Sprint(i) }))
		order.Received = start.Add(time.Duration(i) * time.Second)
		tracker.IsRenewal(order)
	}
	if len(tracker.given) > pruneFrom {
		t.Errorf("%d leases are remembered, of which at most 5 can be in force", len(tracker.given))
	}
}
