// Package opportunistic gives background work the part of a device that the foreground leaves.
//
// Source: the worker of TiKV's resource control, which shares out what the foreground leaves of a
// node once a period.
package opportunistic

import (
	"sluice.dev/control/internal/policies/debt"
	"sluice.dev/control/internal/policies/pace"
	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// Policy is the policy with its parameters.
type Policy struct {
	device          string
	capacity        float64
	headroomShare   float64
	raiseShare      float64
	floor, ceiling  float64
	mayHold         bool
	cpuLimit        float64
	ioPressureLimit float64
	inFlightLimit   float64
	order           []store.Kind
	startAtShare    float64
	bound           debt.Bound
}

// Parameters declares the parameters.
func Parameters() []parameters.Parameter {
	declared := append(deviceParameters(), pace.FloorParameter())
	declared = append(declared, limitParameters()...)
	declared = append(declared, debt.StartParameter(0.3))
	return append(declared, debt.Parameters()...)
}

func deviceParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "device", Type: parameters.Text, Required: true,
			Meaning: "The kernel's name of the block device that the store writes to, such as sda.",
		},
		{
			Name: "capacity_bytes_per_second", Type: parameters.Number, Required: true, Least: 1, Most: 1e12,
			Meaning: "What the device can write.",
		},
		{
			Name: "headroom_share", Type: parameters.Number, Default: 0.2, Least: 0, Most: 0.95,
			Meaning: "Share of the capacity that is never given to background work.",
		},
		{
			Name: "raise_share", Type: parameters.Number, Default: 0.3, Least: 0.01, Most: 1,
			Meaning: "Part of the way to a higher rate that is gone each period; to a lower rate it is gone at once.",
		},
	}
}

func limitParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "may_hold", Type: parameters.Boolean, Default: true,
			Meaning: "Whether work is held when nothing is left; if not, it goes on at the floor.",
		},
		{
			Name: "cpu_limit_share", Type: parameters.Number, Default: 1.0, Least: 0.05, Most: 1,
			Meaning: "Use of the processors at which nothing is left.",
		},
		{
			Name: "io_pressure_limit_share", Type: parameters.Number, Default: 0.8, Least: 0.01, Most: 1,
			Meaning: "Share of time in which tasks wait for the disk at which nothing is left.",
		},
		{
			Name: "in_flight_limit", Type: parameters.Number, Default: 64.0, Least: 1, Most: 1e6,
			Meaning: "Requests in flight on the device at which nothing is left.",
		},
		{
			Name: "order", Type: parameters.TextList, Default: []string{"flush", "compaction", "checkpoint"},
			Choices: []string{"flush", "compaction", "checkpoint"},
			Meaning: "Kinds of work, the most pressing first; a kind gets the floor while one before it has work in the store.",
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
		device:          values.Text("device"),
		capacity:        values.Number("capacity_bytes_per_second"),
		headroomShare:   values.Number("headroom_share"),
		raiseShare:      values.Number("raise_share"),
		floor:           values.Number("floor_bytes_per_second"),
		ceiling:         values.Number("ceiling_bytes_per_second"),
		mayHold:         values.Boolean("may_hold"),
		cpuLimit:        values.Number("cpu_limit_share"),
		ioPressureLimit: values.Number("io_pressure_limit_share"),
		inFlightLimit:   values.Number("in_flight_limit"),
		startAtShare:    values.Number("start_debt_share"),
		bound:           debt.NewBound(values),
	}
	for _, name := range values.TextList("order") {
		built.order = append(built.order, store.Kind(name))
	}
	if built.floor > built.ceiling {
		return nil, store.Invalidf("floor_bytes_per_second is %v, above ceiling_bytes_per_second, %v",
			built.floor, built.ceiling).WithHint("Lower the floor or raise the ceiling.")
	}
	return built, nil
}
