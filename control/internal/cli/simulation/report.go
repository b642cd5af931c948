package simulation

import (
	"math"
	"time"

	"sluice.dev/control/internal/controller"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/simulator"
	"sluice.dev/control/internal/store"
)

// Report is what came of a run, as programs get it.
type Report struct {
	Policy string `json:"policy"`
	Type   string `json:"type"`
	Kind   string `json:"kind"`
	Seed   uint64 `json:"seed"`
	Load   string `json:"load"`
	Faults string `json:"faults"`
	Steps  []Step `json:"steps"`
	// Summary is of the time after the warm-up where it does not say otherwise.
	Summary Summary `json:"summary"`
}

// Step is one decision, and what the store was like when it was made.
type Step struct {
	AtSeconds float64  `json:"at_seconds"`
	Verdict   string   `json:"verdict"`
	Setting   *Setting `json:"setting"`
	Start     bool     `json:"start"`
	// IsNews says whether the decision rests on a snapshot that is newer than all before.
	IsNews             bool               `json:"is_news"`
	TaskBytesPerSecond float64            `json:"task_bytes_per_second"`
	DebtBytes          float64            `json:"debt_bytes"`
	DebtShare          float64            `json:"debt_share"`
	RequestsPerSecond  float64            `json:"requests_per_second"`
	P99Seconds         float64            `json:"p99_seconds"`
	Reason             string             `json:"reason"`
	Inputs             map[string]float64 `json:"inputs"`
}

// Setting is what was ordered.
type Setting struct {
	Name   string  `json:"name"`
	Number float64 `json:"number,omitempty"`
	Text   string  `json:"text,omitempty"`
}

// Summary says whether the policy has done what it is for. What is nil is not known.
type Summary struct {
	DurationSeconds float64 `json:"duration_seconds"`
	WarmUpSeconds   float64 `json:"warm_up_seconds"`
	P50Seconds      float64 `json:"p50_seconds"`
	P99Seconds      float64 `json:"p99_seconds"`
	// TargetSeconds is the 99th percentile that is to be held.
	TargetSeconds   *float64 `json:"target_seconds"`
	IsTargetReached *bool    `json:"is_target_reached"`
	// HighestDebtShare is of the limit, and of the whole run, as are the counts.
	HighestDebtShare float64 `json:"highest_debt_share"`
	LimitReached     int     `json:"limit_reached"`
	IsBoundKept      bool    `json:"is_bound_kept"`
	Orders           int     `json:"orders"`
	LeasesExpired    int     `json:"leases_expired"`
	TasksDone        int     `json:"tasks_done"`
	// Lowest and highest rate that was ordered; decisions to hold are counted apart. Changes are the
	// decisions that want something else than the one before.
	LowestBytesPerSecond  *float64 `json:"lowest_bytes_per_second"`
	HighestBytesPerSecond *float64 `json:"highest_bytes_per_second"`
	Decisions             int      `json:"decisions"`
	Holds                 int      `json:"holds"`
	Changes               int      `json:"changes"`
	// Own is the store by itself under the same load.
	Own Own `json:"own"`
}

// Own is what the store does without a policy.
type Own struct {
	P99Seconds       float64 `json:"p99_seconds"`
	HighestDebtShare float64 `json:"highest_debt_share"`
	LimitReached     int     `json:"limit_reached"`
	TasksDone        int     `json:"tasks_done"`
}

func newReport(chosen controller.Policy, settings Settings, steered, own simulator.Result) Report {
	report := Report{
		Policy: chosen.Name, Type: chosen.Type, Kind: chosen.Targets.Kind, Seed: settings.Seed,
		Load: settings.describeLoad(), Faults: settings.describeFaults(), Steps: []Step{},
	}
	for _, step := range steered.Steps {
		report.Steps = append(report.Steps, stepOf(step, settings.DebtLimitBytes))
	}
	report.Summary = summaryOf(chosen, settings, steered)
	report.Summary.Own = Own{
		P99Seconds: own.P99Seconds, HighestDebtShare: own.MaxDebtShare,
		LimitReached: own.LimitReached, TasksDone: own.TasksDone,
	}
	return report
}

func stepOf(step simulator.Step, limitBytes float64) Step {
	document := Step{
		AtSeconds: step.At.Seconds(), Verdict: string(step.Decision.Verdict), Start: step.Decision.Start,
		IsNews: step.IsNews, TaskBytesPerSecond: step.TaskBytesPerSecond,
		DebtBytes: step.DebtBytes, DebtShare: step.DebtBytes / limitBytes,
		RequestsPerSecond: step.RequestsPerSecond, P99Seconds: step.P99Seconds,
		Reason: step.Decision.Reason, Inputs: make(map[string]float64),
	}
	if setting := step.Decision.Setting; setting != nil {
		document.Setting = &Setting{string(setting.Name), setting.Number, setting.Text}
	}
	for name, value := range step.Decision.Inputs {
		// JSON has no other numbers.
		if !math.IsNaN(value) && !math.IsInf(value, 0) {
			document.Inputs[name] = value
		}
	}
	return document
}

func summaryOf(chosen controller.Policy, settings Settings, steered simulator.Result) Summary {
	summary := Summary{
		DurationSeconds: settings.Duration.Seconds(), WarmUpSeconds: settings.WarmUp.Seconds(),
		P50Seconds: steered.P50Seconds, P99Seconds: steered.P99Seconds, TargetSeconds: targetOf(chosen, settings),
		HighestDebtShare: steered.MaxDebtShare, LimitReached: steered.LimitReached, IsBoundKept: steered.LimitReached == 0,
		Orders: steered.OrdersGiven, LeasesExpired: steered.LeasesExpired, TasksDone: steered.TasksDone,
	}
	if summary.TargetSeconds != nil {
		summary.IsTargetReached = new(steered.P99Seconds <= *summary.TargetSeconds)
	}
	var last *store.Setting
	for _, step := range steered.Steps {
		if step.At >= settings.WarmUp {
			summary.add(step.Decision, last)
		}
		last = step.Decision.Setting
	}
	return summary
}

// add counts a decision; last is what the one before wanted.
func (s *Summary) add(decision policy.Decision, last *store.Setting) {
	s.Decisions++
	if (decision.Setting == nil) != (last == nil) || last != nil && *decision.Setting != *last {
		s.Changes++
	}
	if decision.Setting == nil {
		return
	}
	switch decision.Setting.Name {
	case store.Hold:
		s.Holds++
	case store.RateBytesPerSecond:
		rate := decision.Setting.Number
		if s.LowestBytesPerSecond == nil {
			s.LowestBytesPerSecond, s.HighestBytesPerSecond = &rate, new(rate)
		}
		*s.LowestBytesPerSecond = min(*s.LowestBytesPerSecond, rate)
		*s.HighestBytesPerSecond = max(*s.HighestBytesPerSecond, rate)
	}
}

// targetOf is what the user wants to judge by, else what the policy is to hold, else nothing.
func targetOf(chosen controller.Policy, settings Settings) *float64 {
	if settings.Target > 0 {
		return new(settings.Target.Seconds())
	}
	switch seconds := chosen.Parameters["target_seconds"].(type) {
	case float64:
		return &seconds
	case uint64:
		return new(float64(seconds))
	case int64:
		return new(float64(seconds))
	case int:
		return new(float64(seconds))
	}
	return nil
}

// At is when the decision was made.
func (s Step) At() time.Duration { return time.Duration(s.AtSeconds * float64(time.Second)) }
