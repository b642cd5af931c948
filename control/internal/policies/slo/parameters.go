// Package slo holds a target of the 99th percentile of latency: background work speeds up by additive
// increase and slows down by multiplicative decrease, stands back during bursts of load, and never
// lets its debt reach the store's limit.
//
// Sources: additive increase and multiplicative decrease, Chiu and Jain 1989; a floor from what is
// still to be done, after ScyllaDB's backlog controllers.
package slo

import (
	"time"

	"sluice.dev/control/internal/policies/debt"
	"sluice.dev/control/internal/policies/pace"
	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// Policy is the policy with its parameters.
type Policy struct {
	targetSeconds     float64
	requestClass      string
	signal            string
	floor, ceiling    float64
	increase          float64
	decreaseFactor    float64
	raiseBelowShare   float64
	holdAboveFactor   float64
	mayHold           bool
	resumeAfter       time.Duration
	minimumRequests   float64
	latencyStale      time.Duration
	signalWindow      time.Duration
	watchBursts       bool
	burstLoadFactor   float64
	loadMemory        time.Duration
	longestBurst      time.Duration
	burstMemory       time.Duration
	startEarlyAtShare float64
	startAtShare      float64
	bound             debt.Bound
}

// Parameters declares the parameters.
func Parameters() []parameters.Parameter {
	declared := append(latencyParameters(), pace.FloorParameter())
	declared = append(declared, stepParameters()...)
	declared = append(declared, burstParameters()...)
	return append(declared, debt.Parameters()...)
}

func latencyParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "target_seconds", Type: parameters.Number, Required: true, Least: 1e-5, Most: 600,
			Meaning: "99th percentile of latency to hold.",
		},
		{
			Name: "request_class", Type: parameters.Text, Default: "both", Choices: []string{"read", "write", "both"},
			Meaning: "Class of requests that counts; of both, the slower one.",
		},
		{
			Name: "signal", Type: parameters.Text, Default: "",
			Meaning: "Name of a PromQL signal that gives the percentile in seconds, in place of the store's snapshots.",
		},
		{
			Name: "signal_window_seconds", Type: parameters.Number, Default: 15.0, Least: 0.1, Most: 3600,
			Meaning: "How far back the signal's value reaches: the range of its query, and the time between two scrapes.",
		},
		{
			Name: "minimum_requests", Type: parameters.Whole, Default: 50.0, Least: 1, Most: 1e9,
			Meaning: "Requests that a percentile must rest on; with fewer in an interval, intervals are added up.",
		},
		{
			Name: "latency_stale_seconds", Type: parameters.Number, Default: 3.0, Least: 0.1, Most: 600,
			Meaning: "Age at which an interval of latency counts as missing.",
		},
	}
}

func stepParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "increase_bytes_per_second", Type: parameters.Number, Default: 1e6, Least: 1, Most: 1e12,
			Meaning: "Added to the rate after each interval that was good.",
		},
		{
			Name: "decrease_factor", Type: parameters.Number, Default: 0.5, Least: 0.05, Most: 0.95,
			Meaning: "The rate is multiplied by it when the target is missed.",
		},
		{
			Name: "raise_below_share", Type: parameters.Number, Default: 0.8, Least: 0.05, Most: 1,
			Meaning: "The rate is raised only below this share of the target.",
		},
		{
			Name: "hold_above_factor", Type: parameters.Number, Default: 3.0, Least: 1, Most: 1000,
			Meaning: "Above this multiple of the target, background work is held.",
		},
		{
			Name: "may_hold", Type: parameters.Boolean, Default: true,
			Meaning: "Whether work may be held; if not, it goes on at the floor.",
		},
		{
			Name: "resume_after_seconds", Type: parameters.Number, Default: 1.0, Least: 0, Most: 600,
			Meaning: "How long it must have been good before held work goes on.",
		},
	}
}

func burstParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "watch_bursts", Type: parameters.Boolean, Default: true,
			Meaning: "Whether load is watched for bursts. If not, latency alone counts, and work goes as fast as that allows.",
		},
		{
			Name: "burst_load_factor", Type: parameters.Number, Default: 1.25, Least: 1.05, Most: 1000,
			Meaning: "Load above this multiple of its mean outside of bursts is a burst.",
		},
		{
			Name: "load_memory_seconds", Type: parameters.Number, Default: 15.0, Least: 1, Most: 86400,
			Meaning: "Time constant of the mean load.",
		},
		{
			Name: "longest_burst_seconds", Type: parameters.Number, Default: 30.0, Least: 1, Most: 86400,
			Meaning: "What lasts longer is no burst, but the new load.",
		},
		{
			Name: "burst_memory_seconds", Type: parameters.Number, Default: 300.0, Least: 0, Most: 86400,
			Meaning: "How long after a burst the next one is expected, so that work is done in the meantime.",
		},
		{
			Name: "start_early_debt_share", Type: parameters.Number, Default: 0.1, Least: 0, Most: 1,
			Meaning: "Debt, as a share of its limit, at which a task is started after a burst; 0 for never.",
		},
		debt.StartParameter(0.5),
	}
}

// New makes the policy from the parameters of a configuration file.
func New(given map[string]any) (policy.Policy, error) {
	values, err := parameters.Decode(Parameters(), given)
	if err != nil {
		return nil, err
	}
	built := &Policy{
		targetSeconds:     values.Number("target_seconds"),
		requestClass:      values.Text("request_class"),
		signal:            values.Text("signal"),
		floor:             values.Number("floor_bytes_per_second"),
		ceiling:           values.Number("ceiling_bytes_per_second"),
		increase:          values.Number("increase_bytes_per_second"),
		decreaseFactor:    values.Number("decrease_factor"),
		raiseBelowShare:   values.Number("raise_below_share"),
		holdAboveFactor:   values.Number("hold_above_factor"),
		mayHold:           values.Boolean("may_hold"),
		resumeAfter:       values.Seconds("resume_after_seconds"),
		minimumRequests:   values.Number("minimum_requests"),
		latencyStale:      values.Seconds("latency_stale_seconds"),
		signalWindow:      values.Seconds("signal_window_seconds"),
		watchBursts:       values.Boolean("watch_bursts"),
		burstLoadFactor:   values.Number("burst_load_factor"),
		loadMemory:        values.Seconds("load_memory_seconds"),
		longestBurst:      values.Seconds("longest_burst_seconds"),
		burstMemory:       values.Seconds("burst_memory_seconds"),
		startEarlyAtShare: values.Number("start_early_debt_share"),
		startAtShare:      values.Number("start_debt_share"),
		bound:             debt.NewBound(values),
	}
	if built.floor > built.ceiling {
		return nil, store.Invalidf("floor_bytes_per_second is %v, above ceiling_bytes_per_second, %v",
			built.floor, built.ceiling).WithHint("Lower the floor or raise the ceiling.")
	}
	return built, nil
}
