package reference

import (
	"context"
	"sync"
	"time"

	"sluice.dev/control/internal/store"
)

const (
	// tick is the step of the simulation.
	tick = 10 * time.Millisecond
	// releaseShare is the part of the limit that debt must fall to before orders are taken again.
	releaseShare = 0.9
	// endedShown is for how long compactions are shown after their end.
	endedShown = 10 * time.Second
)

// Store is the simulated store. It is safe for concurrent use.
type Store struct {
	config Config
	clock  func() time.Time

	mu        sync.Mutex
	startedAt time.Time
	// elapsed is how far the simulation has come, in whole ticks.
	elapsed   time.Duration
	load      *load
	tables    []*table
	ended     []*compaction
	leases    leases
	overLimit bool
	created   int
	interval  interval
	intervals []endedInterval
	totals    totals
}

// totals are the figures.
type totals struct {
	writtenBytes   float64
	compactedBytes float64
	stalledSeconds float64
	limitEnds      int
	utilisation    float64
}

// New makes a store whose time is that of a clock, of which only differences count.
func New(config Config, clock func() time.Time) (*Store, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	made := &Store{config: config, clock: clock, startedAt: clock(), load: newLoad(config.Seed)}
	sum := 0.0
	for i, scope := range config.Scopes {
		share := 1 / float64(i+1)
		sum += share
		made.tables = append(made.tables, &table{scope: scope, writeShare: share})
	}
	for _, each := range made.tables {
		each.writeShare /= sum
	}
	return made, nil
}

// Describe says what can be ordered.
func (s *Store) Describe(context.Context) (store.Description, error) {
	return store.Description{
		Store:         StoreName,
		Instance:      s.config.Instance,
		StoreVersion:  s.config.Version,
		PluginVersion: s.config.Version,
		Capabilities: []store.Capability{{
			Kind: store.Compaction, Settings: settings(), CanStart: true, Variants: variants(), CanAbort: true,
		}},
		MaxTimeToLive: s.config.MaxTimeToLive,
	}, nil
}

// Advance brings the simulation up to the present. Every other call does so as well: it is for a store
// that nobody asks for a long time.
func (s *Store) Advance() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
}

// Snapshot shows the present.
func (s *Store) Snapshot(context.Context) (store.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.advance()
	snapshot := store.Snapshot{TakenAt: s.startedAt.Add(now), Figures: s.figures()}
	for _, each := range s.ended {
		snapshot.Tasks = append(snapshot.Tasks, each.visible(now))
	}
	total := store.Debt{Kind: store.Compaction, LimitBytes: s.config.LimitBytes, EstimatedRecovery: -1}
	for _, each := range s.tables {
		if each.task != nil {
			snapshot.Tasks = append(snapshot.Tasks, each.task.visible(now))
		}
		debt := each.visibleDebt(s.config.TriggerBytes)
		total.Bytes += debt.Bytes
		total.Files += debt.Files
		snapshot.Debts = append(snapshot.Debts, debt)
	}
	snapshot.Debts = append(snapshot.Debts, total)
	for _, each := range s.leases {
		snapshot.Leases = append(snapshot.Leases, each.visible(now))
	}
	for _, each := range s.intervals {
		for _, latency := range each.classes {
			latency.Age = now - each.endedAt
			snapshot.Latencies = append(snapshot.Latencies, latency)
		}
	}
	return snapshot, nil
}

func (s *Store) figures() map[string]float64 {
	return map[string]float64{
		"written_bytes_total":         s.totals.writtenBytes,
		"compacted_bytes_total":       s.totals.compactedBytes,
		"stalled_seconds_total":       s.totals.stalledSeconds,
		"leases_ended_by_limit_total": float64(s.totals.limitEnds),
		"device_utilisation_ratio":    s.totals.utilisation,
	}
}
