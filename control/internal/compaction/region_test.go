package compaction_test

import (
	"strings"
	"testing"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/workertest"
)

const root = "hdfs://name:8020/hbase"

func TestLocations(t *testing.T) {
	for location, isGood := range map[string]bool{
		root: true, "hdfs://cluster/hbase": true, "hdfs://a-b.c_d:1/x y": true, "hdfs://h/a%2e%2e": true,
		"": false, "/hbase": false, "hdfs:///hbase": false, "hdfs://h": false, "hdfs://h/a/../b": false, "hdfs://h//a": false,
		"hdfs://h/a/": false, "hdfs://u@h/a": false, "HDFS://h/a": false, "file:///a": false, "hdfs://h:/a": false,
		"hdfs://h:123456/a": false, "hdfs://h/a\n": false, "hdfs://h/./a": false, "webhdfs://h/a": false,
		"hdfs://h/" + strings.Repeat("a", 1024): false,
	} {
		if err := compaction.ValidateLocation(location); (err == nil) != isGood {
			t.Errorf("%q: %v", location, err)
		}
	}
}

// Whatever is let through means one thing, and is below where it seems to be.
func FuzzLocation(f *testing.F) {
	f.Add(root)
	f.Add("hdfs://h/a/../../b")
	f.Fuzz(func(t *testing.T, location string) {
		if compaction.ValidateLocation(location) != nil {
			return
		}
		_, path, _ := strings.Cut(strings.TrimPrefix(location, "hdfs://"), "/")
		for name := range strings.SplitSeq(path, "/") {
			if name == "." || name == ".." || name == "" && path != "" {
				t.Errorf("%q is let through", location)
			}
		}
	})
}

func TestRegionJobs(t *testing.T) {
	good := workertest.RegionJob(root, "a-1", "x")
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*compaction.Job){
		"two stores":          func(j *compaction.Job) { j.RocksDB = compaction.Version{Major: 11} },
		"data paths":          func(j *compaction.Job) { j.DataPaths = []string{"/srv"} },
		"objects":             func(j *compaction.Job) { j.Objects = []compaction.Object{{Kind: "comparator", Name: "c"}} },
		"a local path":        func(j *compaction.Job) { j.DatabasePath = "/hbase/data/default/t/r" },
		"output in the store": func(j *compaction.Job) { j.OutputPath = j.DatabasePath + "/f/" + compaction.OutputPrefix + j.ID },
		"output of another":   func(j *compaction.Job) { j.OutputPath += "x" },
		"output with dots":    func(j *compaction.Job) { j.DatabasePath += "/.." },
	} {
		bad := good
		change(&bad)
		if bad.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
