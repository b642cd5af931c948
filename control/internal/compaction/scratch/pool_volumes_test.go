package scratch_test

import (
	"strings"
	"testing"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/scratch"
)

func TestPoolVolumes(t *testing.T) {
	allowed := scratch.PoolVolumes{"orders", "evaluation-*"}
	for volume, isAllowed := range map[string]bool{
		"orders": true, "orders-2": false, "order": false, "evaluation-rd1": true, "evaluation-": true, "evaluation": false,
	} {
		failure := allowed.Check(compaction.PoolPlace{Volume: volume, OuterEpoch: 1})
		switch {
		case isAllowed && failure != nil:
			t.Errorf("%s is refused: %v", volume, failure)
		case !isAllowed && (failure == nil || failure.Reason != compaction.Path || !strings.Contains(failure.Detail, volume)):
			t.Errorf("%s gives %v", volume, failure)
		}
	}
}
