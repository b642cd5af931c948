package simulation

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/store"
)

// Table lists the decisions, or those alone that are not to keep what there is.
func (r Report) Table(changesOnly bool) listing.Table {
	table := listing.Table{Header: []string{
		"AT", "VERDICT", "SETTING", "START", "WORK", "DEBT", "OF-LIMIT", "REQUESTS", "P99", "REASON",
	}}
	for _, step := range r.Steps {
		if changesOnly && step.Verdict == string(policy.Keep) {
			continue
		}
		table.Rows = append(table.Rows, []listing.Cell{
			{Text: quantity.FormatDuration(step.At())}, verdictCell(step.Verdict), {Text: step.settingText()},
			{Text: startText(step.Start)}, {Text: quantity.FormatRate(step.TaskBytesPerSecond)},
			{Text: quantity.FormatBytes(step.DebtBytes)},
			{Text: quantity.FormatShare(step.DebtShare), Tone: listing.ShareTone(step.DebtShare)},
			{Text: strconv.FormatFloat(math.Round(step.RequestsPerSecond), 'f', 0, 64) + "/s"},
			{Text: formatSeconds(step.P99Seconds)}, {Text: step.Reason},
		})
	}
	return table
}

func verdictCell(verdict string) listing.Cell {
	tones := map[policy.Verdict]listing.Tone{
		policy.Change: listing.Good, policy.Keep: listing.Dim, policy.Stop: listing.Warning,
	}
	return listing.Cell{Text: verdict, Tone: tones[policy.Verdict(verdict)]}
}

func (s Step) settingText() string {
	if s.Setting == nil {
		return ""
	}
	return quantity.FormatSetting(store.Setting{
		Name: store.SettingName(s.Setting.Name), Number: s.Setting.Number, Text: s.Setting.Text,
	})
}

func startText(start bool) string {
	if start {
		return "yes"
	}
	return "no"
}

func formatSeconds(seconds float64) string {
	return quantity.FormatDuration(time.Duration(seconds * float64(time.Second)))
}

const caution = "It is a model, and proves nothing of a store: docs/policies/README.md says what it leaves out."

// WriteSummary writes what came of the run, for people.
func (r Report) WriteSummary(w io.Writer) error {
	s := r.Summary
	_, err := fmt.Fprintf(w, `policy     %s, type %s, on a model of %s
load       %s; %s, of which %s to warm up; seed %d
faults     %s
target     %s
bound      %s
amplitude  %s
leases     %d orders, %d ran out; %d tasks done (the store by itself: %d)
%s
`,
		r.Policy, r.Type, r.Kind, r.Load, formatSeconds(s.DurationSeconds), formatSeconds(s.WarmUpSeconds), r.Seed,
		r.Faults, s.targetText(), s.boundText(), s.amplitudeText(),
		s.Orders, s.LeasesExpired, s.TasksDone, s.Own.TasksDone, caution)
	return err
}

func (s Summary) targetText() string {
	p99 := fmt.Sprintf("p99 is %s (the store by itself: %s)", formatSeconds(s.P99Seconds), formatSeconds(s.Own.P99Seconds))
	switch {
	case s.TargetSeconds == nil:
		return "none: " + p99 + "; --target judges it"
	case *s.IsTargetReached:
		return fmt.Sprintf("reached: at most %s, %s", formatSeconds(*s.TargetSeconds), p99)
	default:
		return fmt.Sprintf("missed: at most %s, %s", formatSeconds(*s.TargetSeconds), p99)
	}
}

func (s Summary) boundText() string {
	share := fmt.Sprintf("debt came to %s of its limit (the store by itself: %s)",
		quantity.FormatShare(s.HighestDebtShare), quantity.FormatShare(s.Own.HighestDebtShare))
	if s.IsBoundKept {
		return "kept: " + share
	}
	return fmt.Sprintf("reached %d times: %s", s.LimitReached, share)
}

func (s Summary) amplitudeText() string {
	counts := fmt.Sprintf("%d of %d decisions hold, %d change", s.Holds, s.Decisions, s.Changes)
	if s.LowestBytesPerSecond == nil {
		return "no rate was ordered; " + counts
	}
	return fmt.Sprintf("rates from %s to %s; %s", quantity.FormatRate(*s.LowestBytesPerSecond),
		quantity.FormatRate(*s.HighestBytesPerSecond), counts)
}
