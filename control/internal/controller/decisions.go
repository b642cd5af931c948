package controller

import (
	"sync"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// keptDecisions is an hour of a few targets, and more than a period of ten thousand.
const keptDecisions = 1 << 14

// decisionLog holds the last decisions. Readers come with the sequence that they have seen: one that is
// too slow is told how many it has missed, and costs nothing. It is safe for concurrent use.
type decisionLog struct {
	mutex sync.RWMutex
	// kept is a ring: the decision with a sequence is at that sequence modulo its length.
	kept []*sluicev1.Decision
	last uint64
	// added is closed, and replaced, when there are new decisions.
	added chan struct{}
}

func newDecisionLog(capacity int) *decisionLog {
	return &decisionLog{kept: make([]*sluicev1.Decision, capacity), added: make(chan struct{})}
}

// add numbers decisions and keeps them. They must not change from then on.
func (l *decisionLog) add(decisions []*sluicev1.Decision) {
	if len(decisions) == 0 {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, decision := range decisions {
		l.last++
		decision.Sequence = l.last
		l.kept[l.last%uint64(len(l.kept))] = decision
	}
	close(l.added)
	l.added = make(chan struct{})
}

// after gives up to limit decisions that follow a sequence, oldest first, and how many there were before
// them that are no longer kept.
func (l *decisionLog) after(sequence uint64, limit int) ([]*sluicev1.Decision, uint64) {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	var missed uint64
	if size := uint64(len(l.kept)); l.last > size && sequence < l.last-size {
		missed = l.last - size - sequence
		sequence += missed
	}
	if sequence >= l.last {
		return nil, missed
	}
	count := min(l.last-sequence, uint64(limit))
	decisions := make([]*sluicev1.Decision, count)
	for i := range decisions {
		decisions[i] = l.kept[(sequence+1+uint64(i))%uint64(len(l.kept))]
	}
	return decisions, missed
}

// newest is the sequence of the last decision, 0 if there is none.
func (l *decisionLog) newest() uint64 {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	return l.last
}

// wait gives a channel that is closed when there are decisions after a sequence.
func (l *decisionLog) wait(sequence uint64) <-chan struct{} {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	if l.last <= sequence {
		return l.added
	}
	there := make(chan struct{})
	close(there)
	return there
}

// filter selects decisions.
type filter struct {
	node, policy string
	changesOnly  bool
}

func (f filter) selects(decision *sluicev1.Decision) bool {
	return (f.node == "" || f.node == decision.GetNode()) &&
		(f.policy == "" || f.policy == decision.GetPolicy()) &&
		(!f.changesOnly || decision.GetVerdict() != sluicev1.Verdict_VERDICT_KEEP || decision.GetAction() != "")
}
