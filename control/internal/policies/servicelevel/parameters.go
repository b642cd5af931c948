// Package servicelevel gives service levels what they need of a store's cache, a step at a time, and asks for a node
// when more cache gains too little: one policy for all objects of a store, so that none gets what another needs.
//
// Source: the published prototype of service levels on HBase and Cassandra, which watches moving averages (alpha 0.125),
// decides once a minute, first grows the cache in steps, and adds a node when the benefit of more cache fades.
package servicelevel

import (
	"slices"
	"time"

	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
)

// Policy is the policy with its parameters. It implements policy.Joint.
type Policy struct {
	costs         servicelevel.Costs
	stepBytes     float64
	decisionEvery time.Duration
	leastBenefit  float64
	giveBelow     float64
	latencyStale  time.Duration
	// What it takes to bring a node in.
	moveBytesPerSecond, deviceBytesPerSecond, mostMoveSeconds float64
}

// Parameters declares the parameters.
func Parameters() []parameters.Parameter {
	return slices.Concat(costParameters(), decisionParameters(), moveParameters())
}

func costParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "read_seconds", Type: parameters.Number, Required: true, Least: 1e-6, Most: 10,
			Meaning: "How long a device takes for the read that a miss leads to; sluice calibrate reads measures it.",
		},
		{
			Name: "parallel_reads", Type: parameters.Number, Default: 1.0, Least: 1, Most: 1024,
			Meaning: "How many such reads the device of a node does at a time; sluice calibrate reads measures it.",
		},
		{
			Name: "hit_seconds", Type: parameters.Number, Default: 0.001, Least: 0, Most: 10,
			Meaning: "What a request takes beside the device, such as one that the cache answers.",
		},
		{
			Name: "most_utilisation_share", Type: parameters.Number, Default: 0.7, Least: 0.05, Most: 0.95,
			Meaning: "Share of the time of the devices that may be promised.",
		},
		{
			Name: "step_bytes", Type: parameters.Number, Default: 1e8, Least: 1e6, Most: 1e12,
			Meaning: "Step in which cache of each node is given.",
		},
	}
}

func decisionParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "decision_seconds", Type: parameters.Number, Default: 60.0, Least: 5, Most: 3600,
			Meaning: "Time between two decisions; a step must show its effect in it.",
		},
		{
			Name: "least_benefit_share", Type: parameters.Number, Default: 0.1, Least: 0.001, Most: 1,
			Meaning: "Share of the misses that a step of cache must save; where it saves fewer, a node is asked for.",
		},
		{
			Name: "give_below_share", Type: parameters.Number, Default: 0.7, Least: 0, Most: 1,
			Meaning: "An object gives a step to another only if it is expected to stay below this share of its own target.",
		},
		{
			Name: "latency_stale_seconds", Type: parameters.Number, Default: 5.0, Least: 0.1, Most: 600,
			Meaning: "Age at which an interval of latency or a look at the counters counts as missing.",
		},
	}
}

func moveParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "move_bytes_per_second", Type: parameters.Number, Default: 5e7, Least: 1e3, Most: 1e12,
			Meaning: "How much data moves a second to a node that joins, from all others together.",
		},
		{
			Name: "device_bytes_per_second", Type: parameters.Number, Default: 1e8, Least: 1e3, Most: 1e12,
			Meaning: "How much the device of a node reads or writes a second where data moves.",
		},
		{
			Name: "most_move_seconds", Type: parameters.Number, Default: 3600.0, Least: 1, Most: 1e6,
			Meaning: "A node whose data would move for longer is not asked for, as it would pay too late.",
		},
	}
}

// New makes the policy from the parameters of a configuration file.
func New(given map[string]any) (policy.Policy, error) {
	values, err := parameters.Decode(Parameters(), given)
	if err != nil {
		return nil, err
	}
	return &Policy{
		costs: servicelevel.Costs{
			ReadSeconds: values.Number("read_seconds"), ParallelReads: values.Number("parallel_reads"),
			HitSeconds: values.Number("hit_seconds"), MostUtilisation: values.Number("most_utilisation_share"),
		},
		stepBytes:     values.Number("step_bytes"),
		decisionEvery: values.Seconds("decision_seconds"),
		leastBenefit:  values.Number("least_benefit_share"),
		giveBelow:     values.Number("give_below_share"),
		latencyStale:  values.Seconds("latency_stale_seconds"),

		moveBytesPerSecond:   values.Number("move_bytes_per_second"),
		deviceBytesPerSecond: values.Number("device_bytes_per_second"),
		mostMoveSeconds:      values.Number("most_move_seconds"),
	}, nil
}

// Resources is what these nodes can give: for admission, which is by the same model and parameters as the decisions.
// Those that do not tell what may be reserved are left out.
func (p *Policy) Resources(nodes []policy.Target) servicelevel.Resources {
	resources := servicelevel.Resources{StepBytes: p.stepBytes, Costs: p.costs}
	for _, node := range nodes {
		reservable, isTold := node.Snapshot.Figures[reservableFigure]
		if !isTold {
			continue
		}
		resources.IsShared = resources.IsShared || sharesCache(node)
		if resources.Nodes == 0 || reservable < resources.ReservableBytes {
			resources.ReservableBytes = reservable
		}
		resources.Nodes++
	}
	return resources
}
