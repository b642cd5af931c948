package requestlimit

import (
	"maps"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// state is the memory of the policy.
type state struct {
	hasBegun     bool
	lastDecision time.Duration
	tables       map[string]*table
}

// table is what is remembered of a table: which part of its requests each of its servers may take.
type table struct {
	// parts add up to 1.
	parts map[policy.Ref]float64
	asked map[policy.Ref]asked
}

// asked is how much has been asked of a server, taken or turned away.
type asked struct {
	operations float64
	at         time.Duration
	// perSecond is the rate between the last two looks.
	perSecond float64
	hasRate   bool
}

func copied(memory policy.Memory) *state {
	last, isThere := memory.(*state)
	if !isThere {
		return &state{tables: map[string]*table{}}
	}
	next := *last
	next.tables = make(map[string]*table, len(last.tables))
	for name, each := range last.tables {
		next.tables[name] = &table{parts: maps.Clone(each.parts), asked: maps.Clone(each.asked)}
	}
	return &next
}

func (s *state) keepOnly(limits map[string]*limit) {
	maps.DeleteFunc(s.tables, func(name string, _ *table) bool { return limits[name] == nil })
}

func (s *state) table(name string) *table {
	if s.tables[name] == nil {
		s.tables[name] = &table{parts: map[policy.Ref]float64{}, asked: map[policy.Ref]asked{}}
	}
	return s.tables[name]
}

// follow brings the parts up to the servers that there are, and, where it is time to, to how much is asked of each.
func (t *table) follow(now time.Duration, servers []policy.Target, isDue bool, leastPart float64) {
	if !t.isOf(servers) {
		t.parts = equalParts(servers)
		t.asked = map[policy.Ref]asked{}
	}
	if !isDue {
		return
	}
	isKnown := true
	for _, server := range servers {
		seen, isTold := t.look(now, server)
		if !isTold {
			delete(t.asked, server.Ref)
			isKnown = false
			continue
		}
		t.asked[server.Ref] = seen
		isKnown = isKnown && seen.hasRate
	}
	if isKnown {
		t.divide(leastPart)
	}
}

func (t *table) isOf(servers []policy.Target) bool {
	for _, server := range servers {
		if _, isThere := t.parts[server.Ref]; !isThere {
			return false
		}
	}
	return len(t.parts) == len(servers)
}

func equalParts(servers []policy.Target) map[policy.Ref]float64 {
	parts := make(map[policy.Ref]float64, len(servers))
	for _, server := range servers {
		parts[server.Ref] = 1 / float64(len(servers))
	}
	return parts
}

// look reads the counters of a server. They are there once it has a lease, and begin anew with the next one.
func (t *table) look(now time.Duration, server policy.Target) (seen asked, isTold bool) {
	taken, isTold := server.Snapshot.Figures[store.FigureName(string(store.Requests), server.Scope, "taken_total")]
	refused := server.Snapshot.Figures[store.FigureName(string(store.Requests), server.Scope, "refused_total")]
	if !isTold {
		return asked{}, false
	}
	seen = asked{operations: taken + refused, at: now - server.Age}
	last, wasSeen := t.asked[server.Ref]
	if elapsed := (seen.at - last.at).Seconds(); wasSeen && elapsed > 0 && seen.operations >= last.operations {
		seen.perSecond, seen.hasRate = (seen.operations-last.operations)/elapsed, true
	}
	return seen, true
}

// divide moves the parts half-way to those of what is asked: who is turned away asks again, so that a look shows more
// than there is, and the next one less.
func (t *table) divide(leastPart float64) {
	sum := 0.0
	for _, seen := range t.asked {
		sum += seen.perSecond
	}
	if sum <= 0 {
		return
	}
	servers := float64(len(t.parts))
	least := leastPart / servers
	for ref, part := range t.parts {
		wanted := least + (1-leastPart)*t.asked[ref].perSecond/sum
		t.parts[ref] = (part + wanted) / 2
	}
}
