// Package listing shows a cluster's state to people, as tables, and to programs, as JSON and YAML.
package listing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// Filter selects parts of a cluster. An empty field selects all.
type Filter struct {
	Node   string
	Store  string
	Kind   string
	Policy string
}

// Located is a part of the state of an instance, and where it is from.
type Located[P any] struct {
	Node string
	Ref  *sluicev1.StoreRef
	// Age is how long ago it was true.
	Age  time.Duration
	Part P
}

// Target names the instance as commands take it: "node/store/instance".
func (l Located[P]) Target() string {
	return target(l.Node, l.Ref)
}

func target(node string, ref *sluicev1.StoreRef) string {
	return node + "/" + ref.GetStore() + "/" + ref.GetInstance()
}

// Nodes are those that the filter selects, by name.
func Nodes(cluster *sluicev1.GetClusterResponse, filter Filter) []*sluicev1.NodeState {
	var nodes []*sluicev1.NodeState
	for _, node := range cluster.GetNodes() {
		if filter.Node == "" || node.GetNode() == filter.Node {
			nodes = append(nodes, node)
		}
	}
	slices.SortStableFunc(nodes, func(a, b *sluicev1.NodeState) int { return cmp.Compare(a.GetNode(), b.GetNode()) })
	return nodes
}

// Instance is a store on a node: what it says of itself, and its last snapshot. Either may be nil.
type Instance struct {
	Description *sluicev1.Description
	Snapshot    *sluicev1.Snapshot
}

// Instances are the stores that the filter selects, by target.
func Instances(cluster *sluicev1.GetClusterResponse, filter Filter) []Located[Instance] {
	var found []Located[Instance]
	for _, node := range Nodes(cluster, filter) {
		for _, instance := range instancesOf(node) {
			if filter.Store == "" || instance.Ref.GetStore() == filter.Store {
				found = append(found, instance)
			}
		}
	}
	return found
}

func instancesOf(node *sluicev1.NodeState) []Located[Instance] {
	byTarget := map[string]Located[Instance]{}
	for _, snapshot := range node.GetSnapshot().GetSnapshots() {
		byTarget[target("", snapshot.GetRef())] = Located[Instance]{
			Node: node.GetNode(), Ref: snapshot.GetRef(),
			Age:  node.GetAge().AsDuration() + snapshot.GetAge().AsDuration(),
			Part: Instance{Snapshot: snapshot},
		}
	}
	for _, description := range node.GetSnapshot().GetDescriptions() {
		key := target("", description.GetRef())
		instance := byTarget[key]
		instance.Node, instance.Ref = node.GetNode(), description.GetRef()
		instance.Part.Description = description
		byTarget[key] = instance
	}
	instances := make([]Located[Instance], 0, len(byTarget))
	for _, instance := range byTarget {
		instances = append(instances, instance)
	}
	slices.SortFunc(instances, func(a, b Located[Instance]) int { return cmp.Compare(a.Target(), b.Target()) })
	return instances
}

// withKind is a part of a snapshot that belongs to a kind of task.
type withKind interface{ GetKind() sluicev1.Kind }

// Tasks are the background tasks that the filter selects.
func Tasks(cluster *sluicev1.GetClusterResponse, filter Filter) []Located[*sluicev1.Task] {
	return parts(cluster, filter, (*sluicev1.Snapshot).GetTasks)
}

// Debts are the debts that the filter selects.
func Debts(cluster *sluicev1.GetClusterResponse, filter Filter) []Located[*sluicev1.Debt] {
	return parts(cluster, filter, (*sluicev1.Snapshot).GetDebts)
}

// Leases are the leases that the filter selects.
func Leases(cluster *sluicev1.GetClusterResponse, filter Filter) []Located[*sluicev1.Lease] {
	leases := parts(cluster, filter, (*sluicev1.Snapshot).GetLeases)
	if filter.Policy == "" {
		return leases
	}
	return slices.DeleteFunc(leases, func(lease Located[*sluicev1.Lease]) bool {
		return lease.Part.GetOwner() != "policy/"+filter.Policy
	})
}

func parts[P withKind](
	cluster *sluicev1.GetClusterResponse, filter Filter, partsOf func(*sluicev1.Snapshot) []P,
) []Located[P] {
	var found []Located[P]
	for _, instance := range Instances(cluster, filter) {
		for _, part := range partsOf(instance.Part.Snapshot) {
			if filter.Kind == "" || Word(part.GetKind()) == filter.Kind {
				found = append(found, located(instance, part))
			}
		}
	}
	return found
}

// clientsInstance stands for all clients of a kind of store on a node; it can be the name of no instance.
const clientsInstance = "(clients)"

// Latencies are those of every interval, or of the last interval of each class alone, of stores and of clients.
func Latencies(cluster *sluicev1.GetClusterResponse, filter Filter, lastOnly bool) []Located[*sluicev1.Latency] {
	var found []Located[*sluicev1.Latency]
	add := func(of Located[Instance], latencies []*sluicev1.Latency) {
		for i, latency := range latencies {
			if !lastOnly || isLastOfClass(latencies, i) {
				found = append(found, located(of, latency))
			}
		}
	}
	for _, instance := range Instances(cluster, filter) {
		add(instance, instance.Part.Snapshot.GetLatencies())
	}
	for _, node := range Nodes(cluster, filter) {
		for _, clients := range node.GetSnapshot().GetClientLatencies() {
			if filter.Store == "" || clients.GetStore() == filter.Store {
				add(clientsOf(node, clients), clients.GetLatencies())
			}
		}
	}
	return found
}

func clientsOf(node *sluicev1.NodeState, clients *sluicev1.ClientLatencies) Located[Instance] {
	return Located[Instance]{
		Node: node.GetNode(), Ref: &sluicev1.StoreRef{Store: clients.GetStore(), Instance: clientsInstance},
		Age: node.GetAge().AsDuration() + clients.GetAge().AsDuration(),
	}
}

func isLastOfClass(latencies []*sluicev1.Latency, index int) bool {
	return !slices.ContainsFunc(latencies[index+1:], func(later *sluicev1.Latency) bool {
		return later.GetRequestClass() == latencies[index].GetRequestClass()
	})
}

func located[P any](instance Located[Instance], part P) Located[P] {
	return Located[P]{Node: instance.Node, Ref: instance.Ref, Age: instance.Age, Part: part}
}

// TimeLeft is how long a lease still holds, by what was last heard of it.
func TimeLeft(lease Located[*sluicev1.Lease]) time.Duration {
	return max(0, lease.Part.GetTimeLeft().AsDuration()-lease.Age)
}

// Word is the name of an enumeration's value as people read it: "log-placement" of KIND_LOG_PLACEMENT. A
// value that only a newer version has is its number.
func Word(value fmt.Stringer) string {
	_, name, hasName := strings.Cut(value.String(), "_")
	if !hasName {
		return value.String()
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}
