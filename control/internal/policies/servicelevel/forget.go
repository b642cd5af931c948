package servicelevel

import (
	"maps"
	"time"

	"sluice.dev/control/internal/policy"
)

// presentIn are the instances and clients of a view, whether they answer or not.
func presentIn(view policy.View) map[policy.Ref]bool {
	present := make(map[policy.Ref]bool, len(view.Targets)+len(view.Clients))
	for _, target := range view.Targets {
		present[target.Ref] = true
	}
	for _, clients := range view.Clients {
		present[refOf(clients)] = true
	}
	return present
}

// forgetAfter is for how long what an instance has told last is kept when the view no longer has it: it may be back.
func (p *Policy) forgetAfter() time.Duration {
	return max(lostDecisions*p.decisionEvery, p.latencyStale)
}

// forget drops what instances told last that the view no longer has, if it is of before a time: names of nodes and
// instances may be new again and again, as those of containers, and their predecessors never come back.
func (o *objectState) forget(before time.Duration, present map[policy.Ref]bool) {
	maps.DeleteFunc(o.load.last, func(key interval, last ended) bool {
		return !present[key.ref] && last.seenAt < before
	})
	o.hits.forget(before, present)
	o.servers.forget(before, present)
}

func (h *hits) forget(before time.Duration, present map[policy.Ref]bool) {
	maps.DeleteFunc(h.last, func(ref policy.Ref, last counted) bool {
		return !present[ref] && last.at < before
	})
}
