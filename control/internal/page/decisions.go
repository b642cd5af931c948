package page

import (
	"fmt"
	"maps"
	"slices"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// maxDecisions bounds memory to some 20 MB: a decision with six inputs takes 0.8 kB.
const maxDecisions = 20_000

// made is a decision that brought something new, and when the page learned of it.
type made struct {
	// ordinal grows by one with each; 1 is the first.
	ordinal  uint64
	since    time.Duration
	decision *sluicev1.Decision
}

// decider is a policy, where it decides.
type decider struct {
	target
	policy string
}

// saying is what tells whether the next decision of a decider says anything new.
type saying struct {
	verdict sluicev1.Verdict
	action  string
	setting string
	failed  bool
}

// heard is what a decider said last, and when.
type heard struct {
	saying
	since time.Duration
}

// decisionLog holds the last decisions that brought something new. It is not safe for concurrent use.
type decisionLog struct {
	kept  ring[made]
	count uint64
	last  map[decider]heard
}

func newDecisionLog() *decisionLog {
	return &decisionLog{last: map[decider]heard{}}
}

// add keeps a decision, and is false for one that brings nothing new: it keeps things as they are, or was
// not written and says the same as the one before.
func (l *decisionLog) add(decision *sluicev1.Decision, since time.Duration) bool {
	from := decider{targetOf(decision), decision.GetPolicy()}
	says := sayingOf(decision)
	before, known := l.last[from]
	l.last[from] = heard{says, since}
	if isRoutine(decision) || known && before.saying == says && !decision.GetWasWritten() {
		return false
	}
	l.count++
	l.kept.add(made{l.count, since, decision}, maxDecisions)
	return true
}

// isRoutine says whether a decision keeps things as they are, and could.
func isRoutine(decision *sluicev1.Decision) bool {
	return decision.GetVerdict() == sluicev1.Verdict_VERDICT_KEEP && decision.GetProblem() == "" && decision.GetAction() == ""
}

func sayingOf(decision *sluicev1.Decision) saying {
	says := saying{verdict: decision.GetVerdict(), failed: decision.GetProblem() != "", action: decision.GetAction()}
	if setting := decision.GetSetting(); setting != nil && !isRoutine(decision) {
		says.setting = fmt.Sprint(setting.GetName(), " ", setting.GetNumber(), " ", setting.GetText())
	}
	return says
}

// forget drops what deciders said that have been silent since a time.
func (l *decisionLog) forget(since time.Duration) {
	maps.DeleteFunc(l.last, func(_ decider, last heard) bool { return last.since < since })
}

// newest returns the last decisions that match, the newest last: at most limit of them, and none whose
// ordinal is not above after. It also returns how many matching ones it left out for the limit, and how
// many that came after are no longer kept.
func (l *decisionLog) newest(after uint64, limit int, match func(made) bool) (found []made, leftOut, lost uint64) {
	place := len(l.kept.values) - 1
	for ; place >= 0; place-- {
		candidate := *l.kept.at(place)
		if candidate.ordinal <= after {
			break
		}
		if !match(candidate) {
			continue
		}
		if len(found) == limit {
			leftOut++
			continue
		}
		found = append(found, candidate)
	}
	if evicted := l.count - uint64(len(l.kept.values)); after < evicted {
		lost = evicted - after
	}
	slices.Reverse(found)
	return found, leftOut, lost
}

// countSince counts the changes and the stops that came after a time.
func (l *decisionLog) countSince(since time.Duration) (changes, stops int) {
	for place := len(l.kept.values) - 1; place >= 0; place-- {
		candidate := l.kept.at(place)
		if candidate.since < since {
			break
		}
		switch candidate.decision.GetVerdict() {
		case sluicev1.Verdict_VERDICT_CHANGE:
			changes++
		case sluicev1.Verdict_VERDICT_STOP:
			stops++
		}
	}
	return changes, stops
}

// of matches the decisions about one target.
func (t target) of(m made) bool {
	return targetOf(m.decision) == t
}

func anyDecision(made) bool {
	return true
}
