package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/page"
	"sluice.dev/control/internal/wire"
)

const (
	controllerName = "ctl-1"
	leaseSeconds   = 5
	keptDecisions  = 1000
)

// simulation is a cluster that goes on by whole seconds, and a controller of it: a page.Source.
type simulation struct {
	mu                  sync.Mutex
	now                 time.Time
	period              time.Duration
	nodes               []*node
	isActive            bool
	active              string
	isDryRun, hasLevels bool
	sequence            uint64
	decisions           []*sluicev1.Decision
}

// node is one node with one store.
type node struct {
	name       string
	device     string
	store      simulatedStore
	reachable  bool
	report     *wire.Report
	answeredAt time.Time
	cpu        float64
}

// simulatedStore goes on by a second at a time.
type simulatedStore interface {
	// advance goes on and says what a policy decides; isDryRun keeps it from being obeyed.
	advance(second int, isDryRun bool) []*sluicev1.Decision
	snapshot() *sluicev1.Snapshot
	description() *sluicev1.Description
	// load is what foreground and background take of processor and device, 0 to 1.
	load() (cpu, device float64)
	writeRate() float64
	rename(instance string)
}

func newSimulation(periodSeconds int) *simulation {
	return &simulation{
		period:   time.Duration(max(periodSeconds, 1)) * time.Second,
		now:      time.Date(2026, time.March, 2, 14, 20, 0, 0, time.UTC),
		isActive: true,
		active:   controllerName,
		nodes: []*node{
			{name: "db-1", device: "nvme0n1", store: newCheckpoints("main", 0), reachable: true},
			{name: "db-2", device: "nvme0n1", store: newCheckpoints("main", 77), reachable: true},
			{name: "hb-1", device: "vdb", store: newRegionServer("regionserver", 12), reachable: true},
			{name: "kv-1", device: "sda", store: newCompactions("events", 31), reachable: true},
		},
	}
}

// Now is the clock of the simulation.
func (s *simulation) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *simulation) step(seconds int, record func()) {
	for range seconds {
		s.advance()
		if s.isEndOfPeriod() {
			record()
		}
	}
}

func (s *simulation) isEndOfPeriod() bool {
	return s.Now().Truncate(s.period).Equal(s.Now())
}

func (s *simulation) advance() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(time.Second)
	for _, n := range s.nodes {
		if n.store == nil {
			continue
		}
		made := n.store.advance(int(s.now.Unix()), s.isDryRun || !n.reachable)
		if n.reachable {
			s.answer(n)
		}
		if s.isActive {
			s.note(n, made)
		}
	}
}

func (s *simulation) answer(n *node) {
	cpu, device := n.store.load()
	n.cpu = 0.5*n.cpu + 0.5*cpu
	pressure := max(0, device-0.6) / 0.5
	n.answeredAt = s.now
	n.tell(&sluicev1.GetSnapshotResponse{
		Node: n.name, Version: "0.1.0",
		Signals: &sluicev1.NodeSignals{CpuUsed: n.cpu, IoPressure: &pressure, Devices: []*sluicev1.DeviceSignals{{
			Name: n.device, InFlight: device * 12, Utilisation: device,
			WriteBytesPerSecond: n.store.writeRate(), ReadBytesPerSecond: device * 3e7,
		}}},
		Descriptions: []*sluicev1.Description{n.store.description()},
		Snapshots:    []*sluicev1.Snapshot{n.store.snapshot()},
	})
}

// tell makes an answer the node's last one.
func (n *node) tell(answer *sluicev1.GetSnapshotResponse) {
	report, err := wire.NewReport(n.name, answer, n.answeredAt)
	if err != nil {
		panic(fmt.Errorf("the simulation answers what a controller refuses: %w", err))
	}
	n.report = report
}

// note keeps decisions. About a node that does not answer there is one: to stop.
func (s *simulation) note(n *node, made []*sluicev1.Decision) {
	for _, decision := range made {
		s.sequence++
		decision.Sequence, decision.Node = s.sequence, n.name
		decision.MadeAt = timestamppb.New(s.now)
		decision.WasWritten = !s.isDryRun && decision.GetSetting() != nil
		if age := s.now.Sub(n.answeredAt); !n.reachable {
			decision.Verdict, decision.Setting, decision.WasWritten = sluicev1.Verdict_VERDICT_STOP, nil, false
			decision.Reason = fmt.Sprintf("the last snapshot is %.0f s old: the lease runs out", age.Seconds())
			decision.Inputs = map[string]float64{"snapshot_age_seconds": age.Seconds()}
		}
		s.decisions = append(s.decisions, decision)
	}
	s.decisions = s.decisions[max(0, len(s.decisions)-keptDecisions):]
}

// Cluster is the state of the cluster.
func (s *simulation) Cluster() page.Cluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	cluster := page.Cluster{Controller: &sluicev1.GetClusterResponse{
		Cluster: "reference", Version: "0.1.0", IsActive: s.isActive, ActiveController: s.active, IsDryRun: s.isDryRun,
	}, Period: s.period, Levels: s.levels()}
	for place, n := range s.nodes {
		cluster.Nodes = append(cluster.Nodes, s.state(place, n))
	}
	slices.SortFunc(cluster.Nodes, func(a, b page.Node) int { return strings.Compare(a.Name, b.Name) })
	return cluster
}

func (s *simulation) state(place int, n *node) page.Node {
	state := page.Node{Name: n.name, Address: fmt.Sprintf("10.0.%d.%d:7411", place/250, place%250+1), Report: n.report}
	if n.report != nil {
		state.Age = s.now.Sub(n.answeredAt)
	}
	if !n.reachable {
		state.Problem = "connecting to its address: connection refused; see whether sluice-agent runs there"
	}
	return state
}

// DecisionsAfter is what has been decided since.
func (s *simulation) DecisionsAfter(sequence uint64) []*sluicev1.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, _ := slices.BinarySearchFunc(s.decisions, sequence+1, func(d *sluicev1.Decision, wanted uint64) int {
		return int(int64(d.GetSequence()) - int64(wanted))
	})
	return slices.Clone(s.decisions[first:])
}

// keepNodes keeps so many nodes; those that are not there yet are idle.
func (s *simulation) keepNodes(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.nodes) < number {
		idle := &node{name: fmt.Sprintf("idle-%05d", len(s.nodes)), device: "sda", reachable: true, answeredAt: s.now}
		idle.tell(&sluicev1.GetSnapshotResponse{Node: idle.name, Signals: &sluicev1.NodeSignals{}})
		s.nodes = append(s.nodes, idle)
	}
	s.nodes = s.nodes[:number]
}

func (s *simulation) setReachable(name string, reachable bool) {
	s.each(func(n *node) {
		if n.name == name {
			n.reachable = reachable
		}
	})
}

func (s *simulation) nameInstance(instance string) {
	s.each(func(n *node) {
		if n.name == "db-1" {
			n.store.rename(instance)
		}
	})
}

func (s *simulation) each(change func(*node)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		change(n)
	}
}

func (s *simulation) setRole(isActive bool, active string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isActive, s.active = isActive, active
}

func (s *simulation) setDryRun(isDryRun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isDryRun = isDryRun
}
