package cli

import (
	"context"
	"slices"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// stateResources are the resources that a cluster's state consists of. A document is an object with one
// list, whose name is that of the resource.
var stateResources = []stateResource{
	{"nodes", nil, viewNodes},
	{"stores", []string{"store"}, viewStores},
	{"tasks", []string{"store", "kind"}, viewTasks},
	{"leases", []string{"store", "kind", "policy"}, viewLeases},
	{"debts", []string{"store", "kind"}, viewDebts},
	{"latencies", []string{"store"}, viewLatencies},
}

func viewNodes(get *getCommand, state *sluicev1.GetClusterResponse) view {
	nodes := listing.Nodes(state, get.filter)
	messages := make([]listing.Message, 0, len(nodes))
	for _, node := range nodes {
		messages = append(messages, listing.Message{Message: node})
	}
	return view{
		func(wide bool) listing.Table { return listing.NodeTable(nodes, wide) },
		map[string]any{"nodes": messages},
	}
}

func viewStores(get *getCommand, state *sluicev1.GetClusterResponse) view {
	instances := listing.Instances(state, get.filter)
	return view{
		func(wide bool) listing.Table { return listing.InstanceTable(instances, wide) },
		map[string]any{"stores": listing.PartsOf(instances, listing.SetInstance)},
	}
}

func viewTasks(get *getCommand, state *sluicev1.GetClusterResponse) view {
	tasks := listing.Tasks(state, get.filter)
	return view{
		func(wide bool) listing.Table { return listing.TaskTable(tasks, wide) },
		map[string]any{"tasks": listing.PartsOf(tasks, listing.SetTask)},
	}
}

func viewLeases(get *getCommand, state *sluicev1.GetClusterResponse) view {
	leases := listing.Leases(state, get.filter)
	return view{
		func(wide bool) listing.Table { return listing.LeaseTable(leases, wide) },
		map[string]any{"leases": listing.PartsOf(leases, listing.SetLease)},
	}
}

func viewDebts(get *getCommand, state *sluicev1.GetClusterResponse) view {
	debts := listing.Debts(state, get.filter)
	return view{
		func(wide bool) listing.Table { return listing.DebtTable(debts, wide) },
		map[string]any{"debts": listing.PartsOf(debts, listing.SetDebt)},
	}
}

func viewLatencies(get *getCommand, state *sluicev1.GetClusterResponse) view {
	every := listing.Latencies(state, get.filter, false)
	return view{
		func(wide bool) listing.Table {
			return listing.LatencyTable(listing.Latencies(state, get.filter, !wide), wide)
		},
		map[string]any{"latencies": listing.PartsOf(every, listing.SetLatency)},
	}
}

func showDecisions(ctx context.Context, get *getCommand, cluster *remote.Connection) error {
	decider, err := cluster.Decider()
	if err != nil {
		return err
	}
	request := &sluicev1.ListDecisionsRequest{
		Limit: get.limit, Node: get.filter.Node, Policy: get.filter.Policy, ChangesOnly: get.changesOnly,
	}
	if get.filter.Store != "" || get.filter.Kind != "" {
		// These two the controller does not know, so that the limit is for what they leave.
		request.Limit = 0
	}
	response, err := decider.ListDecisions(ctx, request)
	if err != nil {
		return err
	}
	response.Decisions = get.selected(response.GetDecisions())
	return get.write(view{
		func(wide bool) listing.Table {
			return listing.DecisionTable(response.GetDecisions(), wide, get.environment.Now())
		},
		listing.Message{Message: response},
	})
}

// selected applies the filters that the controller does not know, and the limit.
func (g *getCommand) selected(decisions []*sluicev1.Decision) []*sluicev1.Decision {
	decisions = slices.DeleteFunc(decisions, func(decision *sluicev1.Decision) bool {
		return !selects(g.filter.Store, decision.GetRef().GetStore()) ||
			!selects(g.filter.Kind, listing.Word(decision.GetKind()))
	})
	if g.limit == 0 || len(decisions) <= int(g.limit) {
		return decisions
	}
	return decisions[len(decisions)-int(g.limit):]
}

// selects says whether a filter, which is empty for all, selects a value.
func selects(filter, value string) bool {
	return filter == "" || filter == value
}
