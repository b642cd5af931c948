package agent_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/local"
	"sluice.dev/control/internal/wire"
)

func rate(bytesPerSecond float64) *sluicev1.Setting {
	return &sluicev1.Setting{
		Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: bytesPerSecond},
	}
}

// Each is refused by an answer, the exchange goes on, and the lease stays what it was.
func TestBadOrdersOfAnExchange(t *testing.T) {
	n := newNode(t)
	process := n.startStore("a")
	n.start()
	s := steer(t, n.controller(1))
	s.begin()
	good := hold("a", "policy/a", 5*time.Minute)
	s.send(order(good))
	if err := wire.DecodeOutcome(s.answer().GetStatus()); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 5000)
	tests := map[string]struct {
		change func(*sluicev1.SetLeaseRequest)
		code   store.Code
		says   string
	}{
		"unknown store": {
			func(r *sluicev1.SetLeaseRequest) { r.Ref.Store = "nothing" },
			store.CodeNotFound, "there is no store nothing/a on this node (There are: reference/a.)",
		},
		"no store":      {func(r *sluicev1.SetLeaseRequest) { r.Ref = nil }, store.CodeInvalid, "ref.store is missing"},
		"long store":    {func(r *sluicev1.SetLeaseRequest) { r.Ref.Store = long }, store.CodeInvalid, "ref.store is 5000 bytes long"},
		"long instance": {func(r *sluicev1.SetLeaseRequest) { r.Ref.Instance = long }, store.CodeInvalid, "ref.instance is 5000 bytes long"},
		"long owner":    {func(r *sluicev1.SetLeaseRequest) { r.Owner = "policy/" + long }, store.CodeInvalid, "the owner is 5007 bytes long"},
		"long scope":    {func(r *sluicev1.SetLeaseRequest) { r.Scope = long }, store.CodeInvalid, "the scope is 5000 bytes long"},
		"control in it": {func(r *sluicev1.SetLeaseRequest) { r.Owner = "policy/\x1b[2J" }, store.CodeInvalid, "is not printable text"},
		"long setting":  {func(r *sluicev1.SetLeaseRequest) { r.Setting.Name = long }, store.CodeInvalid, "the setting.name is 5000 bytes long"},
		"long text": {
			func(r *sluicev1.SetLeaseRequest) {
				r.Setting = &sluicev1.Setting{Name: "tier", Value: &sluicev1.Setting_Text{Text: long}}
			},
			store.CodeInvalid, "the value of tier is 5000 bytes long",
		},
		"unknown kind":   {func(r *sluicev1.SetLeaseRequest) { r.Kind = 99 }, store.CodeInvalid, "number 99 is not known"},
		"negative rate":  {func(r *sluicev1.SetLeaseRequest) { r.Setting = rate(-1) }, store.CodeInvalid, "must be a number of at least"},
		"rate of NaN":    {func(r *sluicev1.SetLeaseRequest) { r.Setting = rate(math.NaN()) }, store.CodeInvalid, "not NaN"},
		"endless rate":   {func(r *sluicev1.SetLeaseRequest) { r.Setting = rate(math.Inf(1)) }, store.CodeInvalid, "not +Inf"},
		"number in hold": {func(r *sluicev1.SetLeaseRequest) { r.Setting = rate(7); r.Setting.Name = "hold" }, store.CodeInvalid, "hold takes no number"},
		"no time to live": {
			func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = durationpb.New(0) }, store.CodeInvalid, "the time to live must be positive",
		},
		"negative time to live": {
			func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = durationpb.New(-time.Second) }, store.CodeInvalid, "must not be negative",
		},
		"no valid time to live": {
			func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = &durationpb.Duration{Seconds: math.MaxInt64} },
			store.CodeInvalid, "time_to_live is no valid duration",
		},
		"long time to live": {
			func(r *sluicev1.SetLeaseRequest) { r.TimeToLive = durationpb.New(24 * time.Hour) },
			store.CodeInvalid, "gives leases for at most 10m0s",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			// It would replace the lease if it were obeyed.
			request := proto.CloneOf(good)
			request.Setting, request.Replace = rate(1e6), true
			test.change(request)
			s.send(order(request))
			err := wire.DecodeOutcome(s.answer().GetStatus())
			if store.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one of %s that says %q", err, test.code, test.says)
			}
		})
	}
	for name, timeout := range map[string]*durationpb.Duration{
		"timeout is missing": nil, "must not be negative": durationpb.New(-1), "no valid duration": {Nanos: -1, Seconds: 1},
	} {
		request := proto.CloneOf(good)
		request.Setting = rate(1e6)
		s.send(&sluicev1.SteerRequest{Order: &sluicev1.SteerRequest_SetLease{SetLease: request}, Timeout: timeout})
		if err := wire.DecodeOutcome(s.answer().GetStatus()); store.CodeOf(err) != store.CodeInvalid || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one that says %q", err, name)
		}
	}
	driver := local.Open(process.SocketPath)
	defer driver.Close()
	now, err := driver.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(now.Leases) != 1 || now.Leases[0].Owner != "policy/a" || now.Leases[0].Setting.Name != store.Hold {
		t.Errorf("the store has the leases %v, want that of the good order alone", now.Leases)
	}
}

// The orders for a store that does not go on are under way, and wait for the first of them.
func TestTooManyOrdersOfAnExchange(t *testing.T) {
	n := newNode(t)
	stuck := n.startStore("a")
	n.startStore("b")
	n.start()
	client := n.controller(2)
	if err := stuck.Pause(); err != nil {
		t.Fatal(err)
	}
	s := steer(t, client)
	s.begin()
	for range 64 {
		s.send(order(hold("a", "policy/a", time.Minute)))
	}
	s.send(order(hold("b", "policy/a", time.Minute)))
	err := s.ending()
	if store.CodeOf(err) != store.CodeRefused || !strings.Contains(err.Error(), "64 orders are under way already") ||
		!strings.Contains(err.Error(), "Wait for their answers.") {
		t.Errorf("the exchange ended with %v", err)
	}
	// Had the last order been obeyed, the lease would be another owner's.
	mustSet(t, client, hold("b", "policy/b", time.Minute))
}
