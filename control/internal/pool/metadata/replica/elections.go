package replica

import "time"

const (
	// mostLonger is how many times as long elections become.
	mostLonger = 8
	// looksPerElection is how often, in the least time of an election, it is looked how they go.
	looksPerElection = 10
)

// elections has them take longer after some that came to nothing, as where voters are slow to note their votes: in times that
// stay the same, each candidate would begin the next one before it has the votes of the last. What counts are terms without a
// leader, which begin only where a majority answers: where none does, times stay short for when one is back.
type elections struct {
	// ledTerm is the last term that was seen to have a leader, or in which this node has started.
	ledTerm uint64
}

// factor is how many times as long elections are to take from now on.
func (e *elections) factor(term uint64, hasLeader bool) int {
	if hasLeader {
		e.ledTerm = term
	}
	factor := 1
	// The election of the last term may still be won.
	for failed := e.ledTerm + 1; failed < term && factor < mostLonger; failed++ {
		factor *= 2
	}
	return factor
}

// adaptElections looks at the elections until the replica is closed.
func (r *Replica) adaptElections() {
	ticker := time.NewTicker(r.config.Tuning.Election / looksPerElection)
	defer ticker.Stop()
	begun := elections{ledTerm: r.raft.CurrentTerm()}
	for {
		select {
		case <-r.closed:
			return
		case <-ticker.C:
			r.lengthen(begun.factor(r.raft.CurrentTerm(), r.Leader() != ""))
		}
	}
}

// lengthen has elections, and the time that nothing may be heard of a leader before one, be so many times as long: who has
// voted must give the candidate that time. No lease is longer than that time, which becomes no shorter than it was configured.
func (r *Replica) lengthen(factor int) {
	times, want := r.raft.ReloadableConfig(), time.Duration(factor)*r.config.Tuning.Election
	if times.ElectionTimeout == want {
		return
	}
	times.HeartbeatTimeout, times.ElectionTimeout = want, want
	if err := r.raft.ReloadConfig(times); err != nil {
		r.logger.Error("elections of the metadata's leader take as long as before", "error", err)
		return
	}
	r.logger.Info("elections of the metadata's leader take another time", "seconds", want.Seconds(), "term", r.raft.CurrentTerm())
}
