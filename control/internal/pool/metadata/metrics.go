package metadata

import (
	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/state"
)

// done is the result of a change that was made, beside the reasons of those that were not.
const done = "done"

func (s *Server) registerMetrics(registry prometheus.Registerer) {
	s.changes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sluice_pool_metadata_changes_total",
		Help: "Changes of the pool's metadata that this node was asked for, by result: done, or why not.",
	}, []string{"result"})
	s.changes.WithLabelValues(done)
	for _, reason := range entry.Reasons() {
		s.changes.WithLabelValues(string(reason))
	}
	s.passedOn = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "sluice_pool_metadata_passed_on_total",
		Help: "Calls that this node has passed on to the leader for callers who did not reach it.",
	})
	registry.MustRegister(s.changes, s.passedOn,
		gaugeOf("is_leader", "Whether this node leads the pool's metadata.", func() float64 {
			if s.replica.IsLeader() {
				return 1
			}
			return 0
		}),
		gaugeOf("term", "Term of the log of the pool's metadata.", func() float64 { return float64(s.replica.Status().Term) }),
		gaugeOf("applied_index", "Last entry of the log that this node has applied.",
			func() float64 { return float64(s.replica.Status().AppliedIndex) }),
		gaugeOf("log_entries", "Entries of the log on this node; -1 if they cannot be counted.", func() float64 {
			count, err := s.replica.LogEntries()
			if err != nil {
				return -1
			}
			return float64(count)
		}),
		s.countOf("volumes", "Volumes of the pool.", func(counts state.Counts) int { return counts.Volumes }),
		s.countOf("directories", "Directories of the pool.", func(counts state.Counts) int { return counts.Directories }),
		s.countOf("files", "Files of the pool.", func(counts state.Counts) int { return counts.Files }),
		s.countOf("open_files", "Files of the pool that are not sealed.", func(counts state.Counts) int { return counts.OpenFiles }),
		s.countOf("leases", "Leases on directories of the pool.", func(counts state.Counts) int { return counts.Leases }),
		s.countOf("removals", "Files without a path whose blocks may still be there.", func(counts state.Counts) int { return counts.Removals }),
	)
}

// countOf is how much there is, as far as this node has applied the log.
func (s *Server) countOf(name, help string, count func(state.Counts) int) prometheus.GaugeFunc {
	return gaugeOf(name, help, func() float64 { return float64(count(s.replica.State().Counts())) })
}

func gaugeOf(name, help string, value func() float64) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "sluice", Subsystem: "pool_metadata", Name: name, Help: help}, value)
}
