package servicelevel

import (
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// source is an instance, or the clients on a node, which tell intervals of latency.
type source struct {
	// ref has no instance where it is clients.
	ref policy.Ref
	// age is that of what is told.
	age       time.Duration
	latencies []store.Latency
}

func (o *objectState) isMeasuredAtClient() bool {
	return o.demand.Target.MeasuredAt == servicelevel.AtClient
}

// sources are those that an object is judged by.
func (o *objectState) sources(view policy.View, targets []policy.Target) (all []source) {
	if o.isMeasuredAtClient() {
		for _, clients := range view.Clients {
			all = append(all, source{refOf(clients), clients.Age, o.ownOf(clients.ScopeLatencies)})
		}
		return all
	}
	for _, target := range targets {
		if target.Fresh {
			all = append(all, source{target.Ref, target.Age, o.latencies(target.Snapshot)})
		}
	}
	return all
}

func refOf(clients policy.ClientLatencies) policy.Ref {
	return policy.Ref{Node: clients.Node, Store: clients.Store}
}

// latencies are the intervals of a snapshot that an object is judged by: its own, once its store has told any, or else
// those of all requests of the server.
func (o *objectState) latencies(snapshot store.Snapshot) []store.Latency {
	if !o.isOwn {
		return snapshot.Latencies
	}
	return o.ownOf(snapshot.ScopeLatencies)
}

func (o *objectState) ownOf(latencies []store.ScopeLatency) (own []store.Latency) {
	for _, latency := range latencies {
		if latency.Scope == o.demand.Scope {
			own = append(own, latency.Latency)
		}
	}
	return own
}

// follow takes in what is asked for now. What was measured elsewhere says nothing any more.
func (o *objectState) follow(demand servicelevel.Object) {
	if o.demand.Target.MeasuredAt != demand.Target.MeasuredAt {
		o.load, o.window, o.isOwn = load{last: map[interval]ended{}}, histogram{}, false
	}
	o.demand = demand
}
