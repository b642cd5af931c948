package wire_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/workertest"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

var (
	jobIDs   = rapid.StringMatching(`[a-zA-Z0-9][a-zA-Z0-9._-]{0,40}`)
	jobPaths = rapid.StringMatching(`(/[a-z0-9_-]{1,10}){1,4}`)
	counts   = rapid.Uint64Range(0, compaction.MaxCount)
	progress = rapid.Custom(func(t *rapid.T) compaction.Progress {
		return compaction.Progress{BytesRead: counts.Draw(t, "read"), BytesWritten: counts.Draw(t, "written")}
	})
	jobs = rapid.Custom(func(t *rapid.T) compaction.Job {
		id := jobIDs.Draw(t, "id")
		return compaction.Job{
			ID: id, DatabasePath: jobPaths.Draw(t, "database"), DataPaths: listOf(jobPaths).Draw(t, "data paths"),
			OutputPath: jobPaths.Draw(t, "parent") + "/" + compaction.OutputPrefix + id,
			RocksDB: compaction.Version{
				Major: rapid.Uint32().Draw(t, "major"), Minor: rapid.Uint32().Draw(t, "minor"), Patch: rapid.Uint32().Draw(t, "patch"),
			},
			PluginVersion: texts.Draw(t, "plug-in"), ColumnFamily: texts.Draw(t, "family"),
			InputLevel:  rapid.Uint32Range(0, compaction.MaxLevel).Draw(t, "input level"),
			OutputLevel: rapid.Uint32Range(0, compaction.MaxLevel).Draw(t, "output level"),
			InputBytes:  counts.Draw(t, "bytes"), InputFiles: counts.Draw(t, "files"),
			Objects: listOf(rapid.Custom(func(t *rapid.T) compaction.Object {
				return compaction.Object{Kind: rapid.StringMatching(`[a-z-]{1,20}`).Draw(t, "kind"), Name: names.Draw(t, "name")}
			})).Draw(t, "objects"),
			Input:       rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "input"),
			IsAutomatic: rapid.Bool().Draw(t, "automatic"),
			NextLevelTables: listOf(rapid.Custom(func(t *rapid.T) compaction.Table {
				keys := rapid.SliceOfN(rapid.Byte(), 0, 20)
				return compaction.Table{
					Smallest: keys.Draw(t, "smallest"), Largest: keys.Draw(t, "largest"), Bytes: counts.Draw(t, "bytes"),
				}
			})).Draw(t, "next level"),
		}
	})
)

func TestRegionJobRoundTrip(t *testing.T) {
	job := workertest.RegionJob("hdfs://name:8020/hbase", "a-1", "x")
	got, err := wire.DecodeJob(overTheNetwork(t, wire.EncodeJob(job)))
	requireEqual(t, got, job, err)
}

func TestPoolJobRoundTrip(t *testing.T) {
	job := workertest.PoolJob("orders", "a-1", "x")
	got, err := wire.DecodeJob(overTheNetwork(t, wire.EncodeJob(job)))
	requireEqual(t, got, job, err)
	for name, place := range map[string]*sluicev1.CompactionPool{
		"empty": {}, "no epoch": {Volume: "orders"}, "no volume": {OuterEpoch: 1}, "bad volume": {Volume: "a/b", OuterEpoch: 1},
	} {
		bad := wire.EncodeJob(job)
		bad.Pool = place
		if _, err := wire.DecodeJob(overTheNetwork(t, bad)); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The name of a store's session is for its own agent.
func TestSessionsOfStoresStayOnTheirNode(t *testing.T) {
	job := workertest.PoolJob("orders", "a-1", "x")
	job.Pool, job.PoolSession = nil, strings.Repeat("0", 32)
	got, err := wire.DecodeJob(overTheNetwork(t, wire.EncodeJob(job)))
	job.PoolSession = ""
	requireEqual(t, got, job, err)
}

func TestJobRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := jobs.Draw(t, "job")
		got, err := wire.DecodeJob(overTheNetwork(t, wire.EncodeJob(job)))
		requireEqual(t, got, job, err)
	})
}

func TestCompactionResultRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		result := compaction.Result{
			Blob: rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "blob"), Progress: progress.Draw(t, "progress"),
		}
		got, err := wire.DecodeCompactionResult(overTheNetwork(t, wire.EncodeCompactionResult(result)))
		requireEqual(t, got, result, err)
		moved := wire.DecodeCompactionProgress(overTheNetwork(t, wire.EncodeCompactionProgress(result.Progress)))
		requireEqual(t, moved, result.Progress, nil)
	})
}

func TestCapacityRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := compaction.Capacity{
			CPUUsed: shares.Draw(t, "used"), CPUAge: durations.Draw(t, "age"),
			CPUs: rapid.Float64Range(0.01, 1024).Draw(t, "cpus"), FreeSlots: rapid.Uint32().Draw(t, "slots"),
			Series: listOf(names).Draw(t, "series"),
		}
		got, err := wire.DecodeCapacity(overTheNetwork(t, wire.EncodeCapacity(capacity)))
		requireEqual(t, got, capacity, err)
	})
}

// Reasons of a peer come back as they were, also with a text that no message could have.
func TestFailureRoundTrip(t *testing.T) {
	ownSide := map[compaction.Reason]bool{
		compaction.BelowThreshold: true, compaction.NoPeer: true, compaction.TooSmall: true, compaction.Level: true,
		compaction.PeerLost: true, compaction.PeerRefused: true,
	}
	for _, reason := range compaction.Reasons() {
		if ownSide[reason] {
			continue
		}
		failure := compaction.Failuref(reason, "in\ntwo lines")
		got := wire.DecodeFailure(overTheNetwork(t, wire.EncodeFailure(failure)))
		requireEqual(t, got, compaction.Failuref(reason, "in two lines"), nil)
	}
}

func TestFailureOfANewerPeerIsARefusal(t *testing.T) {
	got := wire.DecodeFailure(&sluicev1.CompactionFailed{Failure: 1000, Detail: "full moon"})
	requireEqual(t, got, compaction.Failuref(compaction.PeerRefused, "full moon"), nil)
}

func TestJobsThatAreRefused(t *testing.T) {
	good := func() *sluicev1.CompactionJob {
		return &sluicev1.CompactionJob{
			Id: "a-1", DatabasePath: "/srv/db", OutputPath: "/srv/db/.sluice-compaction-a-1",
			RocksdbVersion: &sluicev1.RocksdbVersion{Major: 11, Minor: 8}, Input: []byte("x"),
		}
	}
	if _, err := wire.DecodeJob(good()); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func(*sluicev1.CompactionJob)
		want   string
	}{
		"no id":           {func(j *sluicev1.CompactionJob) { j.Id = "" }, "id of the job"},
		"id with a slash": {func(j *sluicev1.CompactionJob) { j.Id = "a/b" }, "id of the job"},
		"long id":         {func(j *sluicev1.CompactionJob) { j.Id = strings.Repeat("a", 129) }, "1 to 128"},
		"relative":        {func(j *sluicev1.CompactionJob) { j.DatabasePath = "srv/db" }, "must begin with /"},
		"upwards":         {func(j *sluicev1.CompactionJob) { j.DatabasePath = "/srv/../etc" }, "without //, . and .."},
		"data path":       {func(j *sluicev1.CompactionJob) { j.DataPaths = []string{"/srv//x"} }, "without //"},
		"many data paths": {func(j *sluicev1.CompactionJob) { j.DataPaths = make([]string, 65) }, "65 data paths"},
		"line break":      {func(j *sluicev1.CompactionJob) { j.DatabasePath = "/srv/\n" }, "not printable"},
		"another output":  {func(j *sluicev1.CompactionJob) { j.OutputPath = "/srv/db" }, `does not end in ".sluice-compaction-a-1"`},
		"no input":        {func(j *sluicev1.CompactionJob) { j.Input = nil }, "has 0 bytes"},
		"large input":     {func(j *sluicev1.CompactionJob) { j.Input = make([]byte, compaction.MaxBlobBytes+1) }, "2097153 bytes"},
		"level":           {func(j *sluicev1.CompactionJob) { j.OutputLevel = 256 }, "256"},
		"bytes":           {func(j *sluicev1.CompactionJob) { j.InputBytes = 1 << 53 }, "2^53-1"},
		"kind of object":  {func(j *sluicev1.CompactionJob) { j.Objects = []*sluicev1.CompactionObject{{Kind: "A", Name: "x"}} }, `"A" is no word`},
		"object, no name": {func(j *sluicev1.CompactionJob) { j.Objects = []*sluicev1.CompactionObject{{Kind: "a"}} }, "has no name"},
		"next level":      {func(j *sluicev1.CompactionJob) { j.NextLevelTables = make([]*sluicev1.NextLevelTable, 4097) }, "4097 tables"},
		"size below": {func(j *sluicev1.CompactionJob) {
			j.NextLevelTables = []*sluicev1.NextLevelTable{{Bytes: 1 << 53}}
		}, "2^53-1"},
		"keys below": {func(j *sluicev1.CompactionJob) {
			j.NextLevelTables = []*sluicev1.NextLevelTable{{Largest: make([]byte, 262145)}}
		}, "262145 bytes"},
		"plug-in's letter": {func(j *sluicev1.CompactionJob) { j.PluginVersion = "\x1b[1m" }, "not printable"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			job := good()
			test.change(job)
			if _, err := wire.DecodeJob(job); err == nil || store.CodeOf(err) != store.CodeInvalid ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("%v does not say %q", err, test.want)
			}
		})
	}
	if _, err := wire.DecodeJob(nil); err == nil {
		t.Error("no job is accepted")
	}
}

func TestCapacitiesThatAreRefused(t *testing.T) {
	age := durationpb.New(time.Second)
	for name, message := range map[string]*sluicev1.WatchCapacityResponse{
		"share":         {CpuUsed: 1.1, CpuAge: age, Cpus: 1},
		"no age":        {Cpus: 1},
		"no processors": {CpuAge: age},
		"processors":    {CpuAge: age, Cpus: 1e9},
		"series":        {CpuAge: age, Cpus: 1, RocksdbSeries: make([]string, 65)},
		"empty series":  {CpuAge: age, Cpus: 1, RocksdbSeries: []string{""}},
	} {
		if _, err := wire.DecodeCapacity(message); err == nil || store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzCompactions decodes bytes as each message between agents about compactions. What is accepted is
// valid, and the same after another trip.
func FuzzCompactions(f *testing.F) {
	seed(f,
		&sluicev1.RunCompactionRequest{Job: &sluicev1.CompactionJob{
			Id: "a", DatabasePath: "/d", OutputPath: "/d/.sluice-compaction-a", Input: []byte("x"),
		}},
		&sluicev1.RunCompactionRequest{Job: wire.EncodeJob(workertest.PoolJob("orders", "a", "x"))},
		&sluicev1.RunCompactionResponse{Content: &sluicev1.RunCompactionResponse_Result{
			Result: wire.EncodeCompactionResult(compaction.Result{Blob: []byte("x")}),
		}},
		&sluicev1.RunCompactionResponse{Content: &sluicev1.RunCompactionResponse_Failed{
			Failed: wire.EncodeFailure(compaction.Failuref(compaction.Busy, "full")),
		}},
		wire.EncodeCapacity(compaction.Capacity{CPUs: 2, Series: []string{"11.8"}}),
	)
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var request sluicev1.RunCompactionRequest
		if proto.Unmarshal(encoded, &request) == nil {
			if job, err := wire.DecodeJob(request.GetJob()); err == nil {
				again, err := wire.DecodeJob(overTheNetwork(t, wire.EncodeJob(job)))
				requireEqual(t, again, job, err)
			}
		}
		var response sluicev1.RunCompactionResponse
		if proto.Unmarshal(encoded, &response) == nil {
			failure := wire.DecodeFailure(response.GetFailed())
			if len(failure.Detail) > 4096 || strings.ContainsAny(failure.Detail, "\n\x00") {
				t.Errorf("detail %q", failure.Detail)
			}
			if result, err := wire.DecodeCompactionResult(response.GetResult()); err == nil {
				again, err := wire.DecodeCompactionResult(overTheNetwork(t, wire.EncodeCompactionResult(result)))
				requireEqual(t, again, result, err)
			}
		}
		var capacity sluicev1.WatchCapacityResponse
		if proto.Unmarshal(encoded, &capacity) == nil {
			if decoded, err := wire.DecodeCapacity(&capacity); err == nil {
				again, err := wire.DecodeCapacity(overTheNetwork(t, wire.EncodeCapacity(decoded)))
				requireEqual(t, again, decoded, err)
			}
		}
	})
}
