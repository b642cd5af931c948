package compaction_test

import (
	"strings"
	"testing"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/workertest"
)

func TestPoolJobs(t *testing.T) {
	good := workertest.PoolJob("orders", "a-1", "x")
	offered := good
	offered.Pool, offered.PoolSession = nil, strings.Repeat("0a", 16)
	root := good
	root.DatabasePath, root.OutputPath = "/", "/"+compaction.OutputPrefix+"a-1"
	for name, job := range map[string]compaction.Job{"resolved": good, "offered": offered, "at the root": root} {
		if err := job.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	inDatabase := func(j *compaction.Job, path string) {
		j.DatabasePath, j.OutputPath = path, path+"/"+compaction.OutputPrefix+j.ID
	}
	place := func(volume string, epoch uint64) func(*compaction.Job) {
		return func(j *compaction.Job) { j.Pool = &compaction.PoolPlace{Volume: volume, OuterEpoch: epoch} }
	}
	session := func(name string) func(*compaction.Job) {
		return func(j *compaction.Job) { j.Pool, j.PoolSession = nil, name }
	}
	for name, change := range map[string]func(*compaction.Job){
		"of hbase": func(j *compaction.Job) { *j = workertest.RegionJob("hdfs://h/hbase", "a-1", "x"); j.Pool = good.Pool },
		"session of hbase": func(j *compaction.Job) {
			*j = workertest.RegionJob("hdfs://h/hbase", "a-1", "x")
			j.PoolSession = offered.PoolSession
		},
		"data paths":          func(j *compaction.Job) { j.DataPaths = []string{"/srv"} },
		"both":                func(j *compaction.Job) { j.PoolSession = offered.PoolSession },
		"no volume":           place("", 1),
		"volume with a slash": place("a/b", 1),
		"long volume":         place(strings.Repeat("a", 64), 1),
		"no epoch":            place("orders", 0),
		"large epoch":         place("orders", 1<<53),
		"short session":       session(strings.Repeat("0", 30)),
		"long session":        session(strings.Repeat("0", 34)),
		"capital session":     session(strings.Repeat("A", 32)),
		"session of words":    session(strings.Repeat("x", 32)),
		"relative":            func(j *compaction.Job) { inDatabase(j, "db") },
		"path upwards":        func(j *compaction.Job) { inDatabase(j, "/db/..") },
		"a location":          func(j *compaction.Job) { inDatabase(j, "hdfs://h/db") },
		"too deep":            func(j *compaction.Job) { inDatabase(j, strings.Repeat("/a", 32)) },
		"long name":           func(j *compaction.Job) { inDatabase(j, "/"+strings.Repeat("a", 256)) },
		"long path":           func(j *compaction.Job) { inDatabase(j, strings.Repeat("/"+strings.Repeat("a", 200), 5)) },
		"output elsewhere":    func(j *compaction.Job) { j.OutputPath = "/other/" + compaction.OutputPrefix + "a-1" },
		"output of another":   func(j *compaction.Job) { j.OutputPath += "x" },
	} {
		bad := good
		change(&bad)
		if bad.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// What is written to a pool or HDFS is on no file system of the node that runs the job, and one path of two volumes is
// two directories.
func TestWhereOutputIs(t *testing.T) {
	here := workertest.Job(t, t.TempDir(), "a", "x")
	region := workertest.RegionJob("hdfs://h/hbase", "a", "x")
	orders, returns := workertest.PoolJob("orders", "a", "x"), workertest.PoolJob("returns", "a", "x")
	for _, job := range []compaction.Job{region, orders} {
		if !job.IsElsewhere() {
			t.Errorf("%s is on this node", job.Output())
		}
	}
	if here.IsElsewhere() || here.Output() != here.OutputPath || orders.Output() == returns.Output() {
		t.Errorf("%q, %q, %q", here.Output(), orders.Output(), returns.Output())
	}
}
