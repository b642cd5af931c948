package redirection

import (
	"cmp"
	"slices"
)

// Candidate is a choice of settings, and what it came to in the replay.
type Candidate struct {
	Settings
	Outcome
}

// steps are the values of p that were published.
func steps() []float64 { return []float64{0, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1} }

func queues() []float64 { return []float64{1, 2, 4, 8, 16, 32} }

// Choose tries settings with S_max as a quantile of the trace's sizes, and gives them with the best first: that
// whose writes to the fast device have the lowest 99th percentile. Where two are equal within a hundredth, the
// one that redirects less comes first: what the slow device holds has to be brought back, or read from there.
func Choose(trace []Write, fast, slow Device, sizeQuantile float64) []Candidate {
	sizes := make([]float64, 0, len(trace))
	for _, write := range trace {
		sizes = append(sizes, write.Bytes)
	}
	sizeBytes := Quantile(sizes, sizeQuantile)
	var candidates []Candidate
	for _, queue := range queues() {
		for _, step := range steps() {
			settings := Settings{QueueRequests: queue, SizeBytes: sizeBytes, StepRatio: step}
			candidates = append(candidates, Candidate{settings, Replay(trace, fast, slow, &settings)})
		}
	}
	best := slices.MinFunc(candidates, func(a, b Candidate) int { return cmp.Compare(a.FastP99Seconds, b.FastP99Seconds) })
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		aGood, bGood := a.FastP99Seconds <= 1.01*best.FastP99Seconds, b.FastP99Seconds <= 1.01*best.FastP99Seconds
		switch {
		case aGood && bGood:
			return cmp.Or(cmp.Compare(a.RedirectedBytesShare, b.RedirectedBytesShare), cmp.Compare(b.QueueRequests, a.QueueRequests))
		case aGood != bGood && aGood:
			return -1
		case aGood != bGood:
			return 1
		}
		return cmp.Compare(a.FastP99Seconds, b.FastP99Seconds)
	})
	return candidates
}
