// Package offload decides whether a compaction is run on another node, and on which: on the one with the
// lowest load, if that is lower than the load of this node by more than a threshold.
//
// It is the agent's policy, and not one of a controller: a store waits for the answer, and a compaction may
// be over before a controller has read the next snapshot. Like the others it is a pure function of what it
// is shown, with the clock passed in.
//
// Source: the policy of Hailstorm (Bindschaedler, Goel and Zwaenepoel, ASPLOS 2020), which has neither
// reservations nor a bound on the age of what is known of a peer.
package offload

import (
	"cmp"
	"math"
	"slices"
	"time"

	"sluice.dev/control/internal/compaction"
)

const (
	// Stale is the age at which a sample of a node's load is no longer gone by.
	Stale = 5 * time.Second
	// halfLife is how long a processor average takes for half of a step: one sample, for its alpha is 0.5.
	halfLife = time.Second
)

// Parameters of the policy.
type Parameters struct {
	// ThresholdShare is by how much less loaded a peer must be, as a share of its processors.
	ThresholdShare float64
	// MinimumInputBytes and MinimumOutputLevel keep compactions here that are not worth the way.
	MinimumInputBytes  uint64
	MinimumOutputLevel uint32
}

// View is what the policy goes by. Times are since the agent's start, by a clock that never jumps.
type View struct {
	Now   time.Duration
	Own   Node
	Peers []Peer
	// InFlight are the jobs of this node that run elsewhere.
	InFlight []Placement
}

// Node is the load of this node.
type Node struct {
	// CPUUsed is the exponential moving average of the share of its processors in use, 0 to 1.
	CPUUsed   float64
	SampledAt time.Duration
}

// Peer is a node that was heard of.
type Peer struct {
	Name string
	Node
	// CPUs is how many processors it has; a part of one where it has a quota.
	CPUs float64
	// FreeSlots is how many more jobs it would take, as it has said at HeardAt.
	FreeSlots uint32
	HeardAt   time.Duration
	// Series of stores that it has programs for.
	Series []string
}

// Placement is a job that runs elsewhere, and since when.
type Placement struct {
	Peer string
	At   time.Duration
}

// Candidate is a peer that a job may be run on, with the load that it is taken to have.
type Candidate struct {
	Name string
	Load float64
}

// Decide lists the peers to try in their order, or says why the job stays here.
func Decide(parameters Parameters, view View, job compaction.Job) ([]Candidate, *compaction.Failure) {
	if failure := parameters.keep(job); failure != nil {
		return nil, failure
	}
	if age := view.Now - view.Own.SampledAt; age > Stale {
		return nil, compaction.Failuref(compaction.BelowThreshold, "the load of this node is not known since %v", age)
	}
	candidates, full := view.candidates(job.Series())
	if len(candidates) == 0 && full > 0 {
		return nil, compaction.Failuref(compaction.Busy, "none of %d peers has a free slot", full)
	}
	if len(candidates) == 0 {
		return nil, compaction.Failuref(compaction.NoPeer,
			"none of %d peers was heard of in the last %v and has a program for %s",
			len(view.Peers), Stale, job.Store())
	}
	slices.SortFunc(candidates, view.compare)
	limit := view.Own.CPUUsed - parameters.ThresholdShare
	// Reservations may add up to more than a whole node: a limit of 1 is none.
	tooBusy := slices.IndexFunc(candidates, func(candidate Candidate) bool { return limit < 1 && candidate.Load >= limit })
	if tooBusy == 0 {
		return nil, compaction.Failuref(compaction.BelowThreshold,
			"this node has a load of %.2f, the least loaded peer, %s, of %.2f: that is not lower by more than %v",
			view.Own.CPUUsed, candidates[0].Name, candidates[0].Load, parameters.ThresholdShare)
	}
	if tooBusy > 0 {
		candidates = candidates[:tooBusy]
	}
	return candidates, nil
}

func (p Parameters) keep(job compaction.Job) *compaction.Failure {
	switch {
	case job.InputBytes < p.MinimumInputBytes:
		return compaction.Failuref(compaction.TooSmall, "%d bytes of input, at least %d are worth the way",
			job.InputBytes, p.MinimumInputBytes)
	case job.OutputLevel < p.MinimumOutputLevel:
		return compaction.Failuref(compaction.Level, "output to level %d, from %d on jobs may leave the node",
			job.OutputLevel, p.MinimumOutputLevel)
	}
	return nil
}

// candidates are the peers that could take a job of a series, whatever their load; full is how many more
// could if they had a free slot.
func (v View) candidates(series string) (candidates []Candidate, full int) {
	for _, peer := range v.Peers {
		if v.Now-peer.SampledAt > Stale || !slices.Contains(peer.Series, series) {
			continue
		}
		reserved, unseen := v.reservations(peer)
		if uint64(unseen) >= uint64(peer.FreeSlots) {
			full++
			continue
		}
		candidates = append(candidates, Candidate{Name: peer.Name, Load: peer.CPUUsed + reserved})
	}
	return candidates, full
}

// reservations is what the jobs of this node on a peer will add to its average beyond what the average
// shows of them by now, and how many of them the peer's slots do not show.
//
// A job takes one processor. An average with the half-life h shows 1 - 2^(-t/h) of a step that is t old, so
// that 2^(-t/h) of it is missing; all of it where the sample is older than the job.
func (v View) reservations(peer Peer) (share float64, unseen int) {
	perJob := min(1, 1/peer.CPUs)
	for _, placement := range v.InFlight {
		if placement.Peer != peer.Name {
			continue
		}
		if placement.At >= peer.HeardAt {
			unseen++
		}
		shown := max(0, peer.SampledAt-placement.At)
		share += perJob * math.Exp2(-shown.Seconds()/halfLife.Seconds())
	}
	return share, unseen
}

// compare puts the peer with the lowest load first; of equal ones that with the fewest jobs of this node.
func (v View) compare(a, b Candidate) int {
	return cmp.Or(cmp.Compare(a.Load, b.Load), cmp.Compare(v.jobsOn(a.Name), v.jobsOn(b.Name)), cmp.Compare(a.Name, b.Name))
}

func (v View) jobsOn(name string) int {
	count := 0
	for _, placement := range v.InFlight {
		if placement.Peer == name {
			count++
		}
	}
	return count
}
