package simulation

import (
	"maps"
	"slices"
	"strings"
	"time"

	"sluice.dev/control/internal/controller"
	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/simulator"
	"sluice.dev/control/internal/store"
)

// Policy finds a policy in a controller's configuration. The name may be empty where there is one only.
// Errors are of code store.CodeInvalid, and say what there is.
func Policy(config controller.Config, name string) (controller.Policy, error) {
	var names []string
	for _, each := range config.Policies {
		if each.Name == name || name == "" && len(config.Policies) == 1 {
			return each, nil
		}
		names = append(names, each.Name)
	}
	switch {
	case len(names) == 0:
		return controller.Policy{}, store.Invalidf("%s has no policy", config.Path).
			WithHint("Add one under policies; docs/policies has examples of each kind.")
	case name == "":
		return controller.Policy{}, store.Invalidf("%s has %d policies", config.Path, len(names)).
			WithHint("Name one of them: %s.", strings.Join(names, ", "))
	default:
		return controller.Policy{}, store.Invalidf("%s has no policy %q", config.Path, name).
			WithHint("There are: %s.", strings.Join(names, ", "))
	}
}

// Run simulates a policy with the times of a controller's configuration, and the store by itself under
// the same load. Errors are of code store.CodeInvalid.
func Run(config controller.Config, chosen controller.Policy, settings Settings) (Report, error) {
	scenario, err := scenarioOf(config, chosen, settings)
	if err != nil {
		return Report{}, err
	}
	steered := simulator.Run(scenario)
	scenario.Policy = nil
	return newReport(chosen, settings, steered, simulator.Run(scenario)), nil
}

func scenarioOf(config controller.Config, chosen controller.Policy, settings Settings) (simulator.Scenario, error) {
	if err := settings.check(); err != nil {
		return simulator.Scenario{}, err
	}
	built, err := policies.New(chosen.Type, chosen.Parameters)
	if err != nil {
		return simulator.Scenario{}, err
	}
	signals, err := signalsOf(chosen, settings.Signals)
	if err != nil {
		return simulator.Scenario{}, err
	}
	scenario := simulator.Scenario{
		Seed: settings.Seed, Duration: settings.Duration, WarmUp: settings.WarmUp, BeginsAt: settings.BeginsAt,
		Load: settings.load(), IsNoisy: true, BaseLatency: settings.BaseLatency,
		Device: simulator.Device{
			Name: deviceOf(chosen), BytesPerSecond: settings.DeviceBytesPerSecond,
			QueueLimitBytes: settings.DeviceBytesPerSecond * queueSeconds,
		},
		Channel: settings.channel(), Policy: built, Signals: signals,
		Period: config.Period(), TimeToLive: config.LeaseTimeToLive(), Stale: config.Stale(),
		Cut: settings.Cut, ControllerDown: settings.ControllerDown,
	}
	return withWork(scenario, store.Kind(chosen.Targets.Kind), settings)
}

// queueSeconds is for how long the device writes at what may wait in its queue of background work.
const queueSeconds = 0.6

// withWork adds the background work of a kind: pages and a log as PostgreSQL has them, or compactions
// that leave three bytes of work behind for each that is written.
func withWork(scenario simulator.Scenario, kind store.Kind, settings Settings) (simulator.Scenario, error) {
	switch kind {
	case store.Checkpoint:
		scenario.Checkpoints = &simulator.Checkpoints{
			PageCount: 28000, PageBytes: 8192, RecordBytes: 1200, ImageBytes: 6000,
			LimitBytes: settings.DebtLimitBytes, CompletionTarget: 0.5,
		}
	case store.Compaction:
		scenario.Compactions = &simulator.Compactions{
			RecordBytes: 2000, Amplification: 3, TriggerBytes: settings.DebtLimitBytes / 10,
			LimitBytes: settings.DebtLimitBytes, OwnBytesPerSecond: settings.DeviceBytesPerSecond,
		}
	default:
		return simulator.Scenario{}, store.Invalidf("the simulator has no model of %s", kind).
			WithHint("It has models of %s and %s; try the policy there, with targets.kind changed.", store.Checkpoint, store.Compaction)
	}
	return scenario, nil
}

// deviceOf is the name of the device that a policy looks for, if it looks for one.
func deviceOf(chosen controller.Policy) string {
	name, _ := chosen.Parameters["device"].(string)
	return name
}

// signalsOf gives the results of the policy's queries, which nobody is there to answer.
func signalsOf(chosen controller.Policy, given map[string]float64) (func(time.Duration) map[string]policy.Signal, error) {
	for name := range given {
		if _, isDeclared := chosen.Signals[name]; !isDeclared {
			return nil, store.Invalidf("policy %s has no signal %q", chosen.Name, name).
				WithHint("Its signals are: %s.", namesOf(chosen.Signals))
		}
	}
	results := make(map[string]policy.Signal, len(chosen.Signals))
	for _, name := range slices.Sorted(maps.Keys(chosen.Signals)) {
		value, isGiven := given[name]
		if !isGiven {
			return nil, store.Invalidf("policy %s takes the signal %q from Prometheus, which a simulation has not", chosen.Name, name).
				WithHint("Give it a value that stays the same: --signal %s=NUMBER.", name)
		}
		results[name] = policy.Signal{Value: value, Fresh: true}
	}
	return func(time.Duration) map[string]policy.Signal { return results }, nil
}

func namesOf(signals map[string]controller.Signal) string {
	if len(signals) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(signals)), ", ")
}
