package listing

import (
	"fmt"
	"strconv"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/servicelevel"
)

type levelRow = *sluicev1.ServiceLevelState

// ServiceLevelTable shows service levels.
func ServiceLevelTable(levels []*sluicev1.ServiceLevelState, wide bool) Table {
	return tableOf(levels, levelColumns, wide)
}

var levelColumns = []column[levelRow]{
	text("SERVICE-LEVEL", func(l levelRow) string { return l.GetServiceLevel().GetName() }),
	text("STORE", func(l levelRow) string { return l.GetServiceLevel().GetStore() }),
	text("SCOPE", func(l levelRow) string { return l.GetServiceLevel().GetScope() }),
	{name: "STATE", cell: LevelStateCell},
	text("TARGET", LevelTarget),
	text("ACTUAL", LevelActual),
	text("LOAD", levelLoad),
	text("HITS", levelHits),
	text("CACHE", func(l levelRow) string { return quantity.FormatBytes(l.GetReservedBytes()) }),
	text("NODES", func(l levelRow) string { return strconv.FormatUint(uint64(l.GetNodes()), 10) }),
	text("WANTED", levelRow.GetWantedAction),
	onlyWide("WEIGHT", func(l levelRow) string { return strconv.FormatFloat(l.GetServiceLevel().GetWeight(), 'g', -1, 64) }),
	onlyWide("VERSION", func(l levelRow) string { return l.GetServiceLevel().GetVersion() }),
	onlyWide("REASON", levelRow.GetReason),
}

// LevelStateCell is the state of a service level.
func LevelStateCell(level *sluicev1.ServiceLevelState) Cell {
	tones := map[string]Tone{"reached": Good, "missed": Warning, "wants-node": Bad, "above-load": Warning, "refused": Bad, "unknown": Dim}
	return Cell{Text: level.GetState(), Tone: tones[level.GetState()]}
}

// LevelTarget is the statistic and the time of a target.
func LevelTarget(level *sluicev1.ServiceLevelState) string {
	target := level.GetServiceLevel().GetTarget()
	text := target.GetStatistic() + " " + formatSeconds(target.GetSeconds())
	if target.GetMeasuredAt() == string(servicelevel.AtClient) {
		return text + " at clients"
	}
	return text
}

// LevelActual is what a target comes to, with a mark where that is worked out and not as measured.
func LevelActual(level *sluicev1.ServiceLevelState) string {
	if level.ActualSeconds == nil {
		return ""
	}
	if level.GetIsEstimated() {
		return "~" + formatSeconds(level.GetActualSeconds())
	}
	return formatSeconds(level.GetActualSeconds())
}

func levelLoad(level levelRow) string {
	most := level.GetServiceLevel().GetMostOperationsPerSecond()
	if level.OperationsPerSecond == nil {
		return fmt.Sprintf("? of %.4g/s", most)
	}
	return fmt.Sprintf("%.4g of %.4g/s", level.GetOperationsPerSecond(), most)
}

func levelHits(level levelRow) string {
	if level.HitShare == nil {
		return ""
	}
	return quantity.FormatShare(level.GetHitShare())
}

func formatSeconds(seconds float64) string {
	return quantity.FormatDuration(time.Duration(seconds * float64(time.Second)))
}

// ServiceLevelActionTable shows actions; now is what their age counts from.
func ServiceLevelActionTable(actions []*sluicev1.ServiceLevelAction, now time.Time) Table {
	type action = *sluicev1.ServiceLevelAction
	return tableOf(actions, []column[action]{
		text("AGE", func(a action) string { return quantity.FormatDuration(now.Sub(a.GetTakenAt().AsTime())) }),
		text("ACTION", action.GetAction),
		text("REASON", action.GetReason),
	}, false)
}
