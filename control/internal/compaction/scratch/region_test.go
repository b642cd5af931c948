package scratch_test

import (
	"path/filepath"
	"testing"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/scratch"
)

func TestRegions(t *testing.T) {
	roots := scratch.HBaseRoots{"hdfs://name:8020/hbase", "hdfs://b/"}
	for path, isAllowed := range map[string]bool{
		"hdfs://name:8020/hbase/data/default/t/r":           true,
		"hdfs://b/data/default/t/r":                         true,
		"hdfs://name:8020/hbase/data/default/t":             false,
		"hdfs://name:8020/hbase/data/default/t/r/f":         false,
		"hdfs://name:8020/hbase/archive/data/default/t/r":   false,
		"hdfs://name:8020/hbase-other/data/default/t/r":     false,
		"hdfs://name:8021/hbase/data/default/t/r":           false,
		"hdfs://other:8020/hbase/data/default/t/r":          false,
		"hdfs://name:8020/hbase/WALs/default/t/r":           false,
		"hdfs://name:8020/elsewhere/hbase/data/default/t/r": false,
	} {
		failure := roots.Check(compaction.Job{DatabasePath: path})
		if (failure == nil) != isAllowed || failure != nil && failure.Reason != compaction.Path {
			t.Errorf("%s: %v", path, failure)
		}
	}
	if failure := (scratch.HBaseRoots{}).Check(compaction.Job{DatabasePath: "hdfs://b/data/default/t/r"}); failure == nil {
		t.Error("without roots a region is allowed")
	}
}

// Two jobs never have one directory, and what is in the place of one is left alone.
func TestMakeTakesNothingThatIsThere(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "scratch")
	first, failure := scratch.Make(directory, "a")
	if failure != nil || !isThere(first.OutputPath) || first.DatabasePath != "" {
		t.Fatalf("%+v, %v", first, failure)
	}
	if _, failure := scratch.Make(directory, "a"); failure == nil || failure.Reason != compaction.Path {
		t.Errorf("a second one: %v", failure)
	}
	if err := scratch.Remove(first.OutputPath); err != nil || isThere(first.OutputPath) {
		t.Errorf("its removal: %v", err)
	}
}
