package controller

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice.dev/control/internal/election"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/servicelevel/objectstore"
	"sluice.dev/control/internal/store"
)

const levelsPolicy = `- name: levels
  type: service-level
  targets: {store: reference, kind: cache}
  parameters: {read_seconds: 0.005, step_bytes: 100000000, decision_seconds: 5}
`

func levelsConfig(c *Config) {
	c.Policies = []Policy{{
		Name: "levels", Type: levelsType, Targets: Targets{Store: "reference", Kind: "cache"},
		Parameters: map[string]any{"read_seconds": 0.005, "step_bytes": 1e8, "decision_seconds": 5.0},
	}}
}

// newLevelsWorld has the nodes of newWorld, whose stores have 1 GB of cache to reserve and slow reads, and service levels
// in a file.
func newLevelsWorld(t *testing.T) (*world, *service) {
	t.Helper()
	w := newWorld(t, levelsConfig)
	kept := objectstore.NewFile(filepath.Join(t.TempDir(), "levels.json"))
	w.levels = &serviceLevels{kept: kept, log: slog.New(slog.DiscardHandler), now: w.clock.now}
	for _, agent := range w.agents {
		agent.instances["main"].figures = map[string]float64{
			"cache_reservable_bytes": 1e9, "cache_orders_2fcf_hits_total": 0, "cache_orders_2fcf_misses_total": 0,
		}
	}
	w.load()
	return w, &service{controller: w.Controller}
}

// load lets a second of requests pass on each node, all of which miss.
func (w *world) load() {
	for _, agent := range w.agents {
		instance := agent.instances["main"]
		instance.figures["cache_orders_2fcf_misses_total"] += 100
		instance.latencies = []store.Latency{{
			Class: "read", Interval: time.Second, Count: 100, Mean: 80 * time.Millisecond, P50: 60 * time.Millisecond,
			P99: 200 * time.Millisecond, P999: 300 * time.Millisecond, Max: 300 * time.Millisecond,
		}}
	}
}

func (w *world) stepUnderLoad() []*sluicev1.Decision {
	w.load()
	return w.step()
}

func ordersLevel() *sluicev1.ServiceLevel {
	return &sluicev1.ServiceLevel{
		Name: "orders", Store: "reference", Scope: "orders/cf", MostOperationsPerSecond: 200, Weight: 1,
		Profile: &sluicev1.ServiceLevelProfile{DataBytes: 1e9, Locality: "zipfian", RowBytes: 1000, ReadShare: 1},
		Target:  &sluicev1.ServiceLevelTarget{Statistic: "mean", Seconds: 0.03},
	}
}

func apply(t *testing.T, s *service, level *sluicev1.ServiceLevel) *sluicev1.ServiceLevelAdmission {
	t.Helper()
	answer, err := s.ApplyServiceLevels(t.Context(), &sluicev1.ApplyServiceLevelsRequest{ServiceLevels: []*sluicev1.ServiceLevel{level}})
	if err != nil {
		t.Fatal(err)
	}
	if answer.GetIsStored() != answer.GetAdmissions()[0].GetIsAdmitted() {
		t.Errorf("the answer is %v", answer)
	}
	return answer.GetAdmissions()[0]
}

func TestAServiceLevelGetsCacheOnEachNode(t *testing.T) {
	w, s := newLevelsWorld(t)
	w.step()
	if admission := apply(t, s, ordersLevel()); !admission.GetIsAdmitted() || len(admission.GetLines()) < 5 {
		t.Fatalf("the admission is %v", admission)
	}
	var made []*sluicev1.Decision
	for range 7 {
		made = w.stepUnderLoad()
	}
	if len(made) != 2 || made[0].GetScope() != "orders/cf" || made[0].GetKind() != sluicev1.Kind_KIND_CACHE {
		t.Fatalf("the decisions are %v", made)
	}
	want := store.Setting{Name: store.ReservedBytes, Number: 1e8}
	for name, agent := range w.agents {
		if lease := agent.lease("main"); lease == nil || lease.Setting != want || lease.Owner != "policy/levels" {
			t.Errorf("the lease on %s is %+v", name, lease)
		}
	}
	listed, err := s.ListServiceLevels(t.Context(), &sluicev1.ListServiceLevelsRequest{})
	if err != nil || len(listed.GetServiceLevels()) != 1 {
		t.Fatalf("there is %v, %v", listed, err)
	}
	state := listed.GetServiceLevels()[0]
	if state.GetState() != "missed" || state.GetActualSeconds() < 0.07 || state.GetReservedBytes() != 1e8 || state.GetNodes() != 2 ||
		len(state.GetActions()) != 1 || state.GetActions()[0].GetAction() != "grow-cache" {
		t.Errorf("it fares as %v", state)
	}
	if is, was := w.countLevels(servicelevel.Missed), w.countLevels(servicelevel.Reached); is != 1 || was != 0 {
		t.Errorf("%d are missed and %d reached", is, was)
	}
	// What is deleted is not renewed.
	if _, err := s.DeleteServiceLevel(t.Context(), &sluicev1.DeleteServiceLevelRequest{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		made = w.stepUnderLoad()
	}
	if lease := w.agents["n1"].lease("main"); len(made) != 0 || lease != nil {
		t.Errorf("after it is deleted there are %v and %v", made, lease)
	}
}

// An instance that is named for a node and is not there is done without after three decisions, as one that falls silent.
func TestANamedInstanceThatIsNotThereIsDoneWithout(t *testing.T) {
	w, s := newLevelsWorld(t)
	config := w.config
	config.Policies = slices.Clone(config.Policies)
	config.Policies[0].Targets.Nodes, config.Policies[0].Targets.Instances = []string{"n1", "n2"}, []string{"gone", "main"}
	if err := w.configure(config); err != nil {
		t.Fatal(err)
	}
	w.step()
	apply(t, s, ordersLevel())
	for range 12 {
		w.stepUnderLoad()
	}
	if lease := w.agents["n1"].lease("main"); lease != nil {
		t.Errorf("after two decisions there is %+v", lease)
	}
	for range 12 {
		w.stepUnderLoad()
	}
	want := store.Setting{Name: store.ReservedBytes, Number: 1e8}
	for name, agent := range w.agents {
		if lease := agent.lease("main"); lease == nil || lease.Setting != want {
			t.Errorf("after four decisions the lease on %s is %+v", name, lease)
		}
	}
}

// A standby, or this controller after a restart, goes on from the leases.
func TestServiceLevelsAfterAFailover(t *testing.T) {
	w, s := newLevelsWorld(t)
	w.step()
	apply(t, s, ordersLevel())
	for range 7 {
		w.stepUnderLoad()
	}
	w.elector.set(election.State{Leader: "c2"})
	w.stepUnderLoad()
	listed, err := s.ListServiceLevels(t.Context(), &sluicev1.ListServiceLevelsRequest{})
	if state := listed.GetServiceLevels()[0]; err != nil || state.GetState() != "unknown" || !strings.Contains(state.GetReason(), "ask c2") {
		t.Errorf("standing by it says %v, %v", state, err)
	}
	w.elector.set(election.State{Active: true, Leader: "c1", Term: 2})
	made := w.stepUnderLoad()
	for _, decision := range made {
		if decision.GetVerdict() != sluicev1.Verdict_VERDICT_KEEP || decision.GetSetting().GetNumber() != 1e8 {
			t.Errorf("the decision is %v", decision)
		}
	}
}

func TestWhatCannotBePromisedIsNotKept(t *testing.T) {
	w, s := newLevelsWorld(t)
	w.step()
	huge := ordersLevel()
	huge.MostOperationsPerSecond, huge.Profile.Locality, huge.Profile.DataBytes = 1000, "random", 100e9
	admission := apply(t, s, huge)
	if admission.GetIsAdmitted() || admission.GetReason() == "" || !strings.Contains(admission.GetNearest(), "possible are") {
		t.Errorf("the admission is %v", admission)
	}
	listed, err := s.ListServiceLevels(t.Context(), &sluicev1.ListServiceLevelsRequest{})
	if err != nil || len(listed.GetServiceLevels()) > 0 {
		t.Errorf("there is %v, %v", listed, err)
	}
}

func TestChangesOfServiceLevels(t *testing.T) {
	w, s := newLevelsWorld(t)
	w.step()
	first := apply(t, s, ordersLevel())
	again := apply(t, s, ordersLevel())
	if first.GetServiceLevel().GetVersion() != "1" || !first.GetIsChanged() || again.GetIsChanged() ||
		again.GetServiceLevel().GetVersion() != "1" {
		t.Errorf("the first is %v, the same again %v", first, again)
	}
	changed := proto.Clone(first.GetServiceLevel()).(*sluicev1.ServiceLevel)
	changed.Weight = 2
	if second := apply(t, s, changed); second.GetServiceLevel().GetVersion() != "2" {
		t.Errorf("the change is %v", second)
	}
	inside := ordersLevel()
	inside.Name, inside.Scope = "whole", "orders"
	elsewhere := ordersLevel()
	elsewhere.Name, elsewhere.Store = "elsewhere", "hbase"
	stale := proto.Clone(changed).(*sluicev1.ServiceLevel)
	gone := ordersLevel()
	gone.Name, gone.Version, gone.Scope = "gone", "1", "gone/cf"
	wrong := ordersLevel()
	wrong.Target.Statistic = "p95"
	for name, test := range map[string]struct {
		levels []*sluicev1.ServiceLevel
		code   store.Code
		want   string
	}{
		"of an old version":   {[]*sluicev1.ServiceLevel{stale}, store.CodeRefused, "is of version 2 now, not 1"},
		"of one that is gone": {[]*sluicev1.ServiceLevel{gone}, store.CodeRefused, "no service level gone any more"},
		"about the same":      {[]*sluicev1.ServiceLevel{inside}, store.CodeInvalid, "orders about orders/cf already"},
		"without a policy":    {[]*sluicev1.ServiceLevel{elsewhere}, store.CodeUnsupported, "no policy decides"},
		"not valid":           {[]*sluicev1.ServiceLevel{wrong}, store.CodeInvalid, "p95"},
		"twice":               {[]*sluicev1.ServiceLevel{ordersLevel(), ordersLevel()}, store.CodeInvalid, "there twice"},
		"nothing":             {nil, store.CodeInvalid, "there are 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.ApplyServiceLevels(t.Context(), &sluicev1.ApplyServiceLevelsRequest{ServiceLevels: test.levels})
			if store.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	if _, err := s.ExplainServiceLevel(t.Context(), &sluicev1.ExplainServiceLevelRequest{Name: "none"}); store.CodeOf(err) != store.CodeNotFound {
		t.Errorf("the error is %v", err)
	}
	explained, err := s.ExplainServiceLevel(t.Context(), &sluicev1.ExplainServiceLevelRequest{Name: "orders"})
	if err != nil || !explained.GetAdmission().GetIsAdmitted() || explained.GetState().GetServiceLevel().GetWeight() != 2 {
		t.Errorf("explained is %v, %v", explained, err)
	}
	_, err = s.DeleteServiceLevel(t.Context(), &sluicev1.DeleteServiceLevelRequest{Name: "orders", Version: "1"})
	if store.CodeOf(err) != store.CodeRefused {
		t.Errorf("an old version was deleted: %v", err)
	}
}

func TestADryRunKeepsNothing(t *testing.T) {
	w, s := newLevelsWorld(t)
	w.step()
	answer, err := s.ApplyServiceLevels(t.Context(), &sluicev1.ApplyServiceLevelsRequest{
		ServiceLevels: []*sluicev1.ServiceLevel{ordersLevel()}, IsDryRun: true,
	})
	if err != nil || answer.GetIsStored() || !answer.GetAdmissions()[0].GetIsAdmitted() {
		t.Errorf("the answer is %v, %v", answer, err)
	}
	if objects := w.levels.of("reference"); len(objects) > 0 {
		t.Errorf("there is %v", objects)
	}
}

// As many as can be are applied at once, and the answer is one that can be sent; what is refused has all of the arithmetic.
func TestAsManyServiceLevelsAsCanBe(t *testing.T) {
	w, s := newLevelsWorld(t)
	w.step()
	request := &sluicev1.ApplyServiceLevelsRequest{}
	for i := range servicelevel.MaxObjects {
		level := ordersLevel()
		level.Name, level.Scope = fmt.Sprintf("%s-%d", strings.Repeat("n", 52), i), fmt.Sprintf("table%d/cf", i)
		level.MostOperationsPerSecond = 1
		request.ServiceLevels = append(request.ServiceLevels, level)
	}
	for _, isDryRun := range []bool{true, false} {
		request.IsDryRun = isDryRun
		answer, err := s.ApplyServiceLevels(t.Context(), request)
		if err != nil || answer.GetIsStored() == isDryRun || len(answer.GetAdmissions()) != servicelevel.MaxObjects {
			t.Fatalf("%d admissions, stored %t: %v", len(answer.GetAdmissions()), answer.GetIsStored(), err)
		}
		if size := proto.Size(answer); size > protocol.MaxMessageBytes {
			t.Errorf("the answer has %d bytes, dry run %t", size, isDryRun)
		}
	}
	last := request.GetServiceLevels()[servicelevel.MaxObjects-1]
	last.MostOperationsPerSecond, last.Profile.DataBytes = 1e6, 1e12
	answer, err := s.ApplyServiceLevels(t.Context(), request)
	if err != nil || len(answer.GetAdmissions()) != servicelevel.MaxObjects {
		t.Fatalf("%d admissions: %v", len(answer.GetAdmissions()), err)
	}
	refused := answer.GetAdmissions()[servicelevel.MaxObjects-1]
	if refused.GetIsAdmitted() || len(refused.GetLines()) < 3*servicelevel.MaxObjects || proto.Size(answer) > protocol.MaxMessageBytes {
		t.Errorf("refused with %d lines, in an answer of %d bytes", len(refused.GetLines()), proto.Size(answer))
	}
}

// unwritable is a place that nothing can be kept in any more.
type unwritable struct{ objectstore.Store }

func (unwritable) Swap(context.Context, objectstore.Set, []servicelevel.Object) (objectstore.Set, error) {
	return objectstore.Set{}, store.Errorf(store.CodeUnavailable, "the disk is full")
}

func TestTheLogSaysWhatWasKept(t *testing.T) {
	w, s := newLevelsWorld(t)
	w.step()
	var log bytes.Buffer
	w.log = slog.New(slog.NewTextHandler(&log, nil))
	logged := func(request ...*sluicev1.ServiceLevel) string {
		log.Reset()
		_, _ = s.ApplyServiceLevels(t.Context(), &sluicev1.ApplyServiceLevelsRequest{ServiceLevels: request})
		return log.String()
	}
	huge := ordersLevel()
	huge.Name, huge.Scope, huge.MostOperationsPerSecond, huge.Profile.DataBytes = "huge", "huge/cf", 1e6, 1e12
	if got := logged(ordersLevel(), huge); strings.Count(got, "kept=false changed=false") != 2 {
		t.Errorf("beside one that is refused: %s", got)
	}
	if got := logged(ordersLevel()); strings.Count(got, "kept=true changed=true") != 1 {
		t.Errorf("alone: %s", got)
	}
	w.levels.kept = unwritable{w.levels.kept}
	changed := ordersLevel()
	changed.Weight = 2
	if got := logged(changed); got != "" {
		t.Errorf("what could not be kept: %s", got)
	}
}

// A controller that cannot read the service levels any more acts on nothing it has read long ago.
func TestServiceLevelsThatAreNotKnown(t *testing.T) {
	w, s := newLevelsWorld(t)
	w.step()
	apply(t, s, ordersLevel())
	w.clock.advance(levelsStale)
	for _, decision := range w.stepUnderLoad() {
		if decision.GetVerdict() != sluicev1.Verdict_VERDICT_STOP || !strings.Contains(decision.GetReason(), "not known") {
			t.Errorf("the decision is %v", decision)
		}
	}
}

func TestServiceLevelsOfARunningController(t *testing.T) {
	path := filepath.Join(t.TempDir(), "levels.json")
	r := run(t, levelsPolicy+"service_levels: {state_file: "+path+"}\n")
	viewer := sluicev1.NewControllerServiceClient(r.dial(t, security.RoleViewer, "v"))
	operator := sluicev1.NewControllerServiceClient(r.dial(t, security.RoleOperator, "ann"))
	if listed, err := viewer.ListServiceLevels(inTime(t), &sluicev1.ListServiceLevelsRequest{}); err != nil || len(listed.GetServiceLevels()) > 0 {
		t.Errorf("there is %v, %v", listed, err)
	}
	request := &sluicev1.ApplyServiceLevelsRequest{ServiceLevels: []*sluicev1.ServiceLevel{ordersLevel()}}
	if _, err := viewer.ApplyServiceLevels(inTime(t), request); store.CodeOf(err) != store.CodeForbidden {
		t.Errorf("a viewer changed service levels: %v", err)
	}
	// Its agent is not there, so that nobody knows what could be promised.
	if _, err := operator.ApplyServiceLevels(inTime(t), request); store.CodeOf(err) != store.CodeRefused {
		t.Errorf("the error is %v", err)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}

func TestAControllerWithoutAPlaceSaysSo(t *testing.T) {
	nowhere := &serviceLevels{now: time.Now}
	if _, err := nowhere.read(t.Context()); store.CodeOf(err) != store.CodeUnsupported || !strings.Contains(err.Error(), "state_file") {
		t.Errorf("the error is %v", err)
	}
	if why := nowhere.whyNotKnown(time.Now()); !strings.Contains(why, "state_file") {
		t.Errorf("the reason is %q", why)
	}
}
