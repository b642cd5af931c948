package scratch

import (
	"slices"
	"strings"

	"sluice.dev/control/internal/compaction"
)

// PoolVolumes are the volumes of a pool whose databases jobs may read and write; with * at the end of a name, all
// whose names begin so.
type PoolVolumes []string

// Check says whether a job's volume is one of these. Whether the lease that it names is there the worker is told, when
// it takes its own below it.
func (v PoolVolumes) Check(place compaction.PoolPlace) *compaction.Failure {
	if slices.ContainsFunc(v, func(allowed string) bool { return isAllowed(place.Volume, allowed) }) {
		return nil
	}
	return compaction.Failuref(compaction.Path, "the volume %q of a pool is none of the pool_volumes that the worker's configuration allows",
		place.Volume)
}

func isAllowed(volume, allowed string) bool {
	begin, isOfMany := strings.CutSuffix(allowed, "*")
	return volume == allowed || isOfMany && strings.HasPrefix(volume, begin)
}
