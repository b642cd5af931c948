package top

import (
	"sluice.dev/control/internal/cli/listing"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/quantity"
)

// levelPanel shows service levels: target, what it comes to, and the last action.
func levelPanel(levels []*sluicev1.ServiceLevelState) panel {
	panel := panel{
		header: []string{"SERVICE-LEVEL", "SCOPE", "STATE", "TARGET", "ACTUAL", "HITS", "CACHE", "WANTED", "LAST-ACTION"},
		orders: []string{"name", "of target"}, spare: []string{"LAST-ACTION", "HITS", "SCOPE", "CACHE", "WANTED"},
		isOptional: true,
	}
	for _, level := range levels {
		panel.rows = append(panel.rows, levelRow(level))
	}
	return panel
}

func levelRow(level *sluicev1.ServiceLevelState) row {
	hits, last := listing.Cell{}, listing.Cell{}
	if level.HitShare != nil {
		hits = plain(quantity.FormatShare(level.GetHitShare()))
	}
	if actions := level.GetActions(); len(actions) > 0 {
		newest := actions[len(actions)-1]
		last = plain(newest.GetTakenAt().AsTime().UTC().Format("15:04:05") + " " + newest.GetAction())
	}
	ofTarget := -1.0
	if level.ActualSeconds != nil {
		ofTarget = level.GetActualSeconds() / level.GetServiceLevel().GetTarget().GetSeconds()
	}
	return row{
		cells: []listing.Cell{
			plain(level.GetServiceLevel().GetName()), plain(level.GetServiceLevel().GetScope()), listing.LevelStateCell(level),
			plain(listing.LevelTarget(level)), plain(listing.LevelActual(level)), hits,
			plain(quantity.FormatBytes(level.GetReservedBytes())), plain(level.GetWantedAction()), last,
		},
		ranks: []float64{ofTarget},
	}
}
