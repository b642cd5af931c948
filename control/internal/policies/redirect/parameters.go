// Package redirect sends log data to the slow tier of a node while the fast one has a queue that the slow one
// has not.
//
// Source: SSD Write Redirect (SoCC 2019), which decides for each write. A policy decides once a period and for
// all of a store's logs; plug-ins that see single writes or blocks decide for each of these by themselves.
package redirect

import (
	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// Policy is the policy with its parameters.
type Policy struct {
	fast, slow    []string
	queueRequests float64
	idleRequests  float64
	leastSeconds  float64
}

// Parameters declares the parameters.
func Parameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "fast_devices", Type: parameters.TextList, Required: true,
			Meaning: "The kernel's names of the block devices of the fast tier, such as nvme0n1.",
		},
		{
			Name: "slow_devices", Type: parameters.TextList, Required: true,
			Meaning: "The kernel's names of the block devices of the slow tier, such as sda.",
		},
		{
			Name: "queue_requests", Type: parameters.Number, Default: 8.0, Least: 0.1, Most: 1e6,
			Meaning: "Requests in flight, in the mean of a second, above which a tier is too busy.",
		},
		{
			Name: "idle_requests", Type: parameters.Number, Default: 1.0, Least: 0, Most: 1e6,
			Meaning: "Requests in flight up to which a tier has next to nothing to do.",
		},
		{
			Name: "least_seconds", Type: parameters.Number, Default: 10.0, Least: 0, Most: 3600,
			Meaning: "How long logs stay on the slow tier at least, unless that becomes too busy.",
		},
	}
}

// New makes the policy from the parameters of a configuration file.
func New(given map[string]any) (policy.Policy, error) {
	values, err := parameters.Decode(Parameters(), given)
	if err != nil {
		return nil, err
	}
	built := &Policy{
		fast:          values.TextList("fast_devices"),
		slow:          values.TextList("slow_devices"),
		queueRequests: values.Number("queue_requests"),
		idleRequests:  values.Number("idle_requests"),
		leastSeconds:  values.Number("least_seconds"),
	}
	if built.idleRequests >= built.queueRequests {
		return nil, store.Invalidf("idle_requests is %v, not below queue_requests, %v",
			built.idleRequests, built.queueRequests).WithHint("Lower it, or raise queue_requests.")
	}
	return built, nil
}
