package message

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/store"
)

func job() compaction.Job {
	return compaction.Job{
		ID: "a-1", DatabasePath: "/srv/db", OutputPath: "/srv/db/.sluice-compaction-a-1",
		RocksDB: compaction.Version{Major: 11, Minor: 8, Patch: 1}, PluginVersion: "1.0.0", ColumnFamily: "default",
		InputBytes: 5, InputFiles: 2, OutputLevel: 1, IsAutomatic: true, Input: []byte("input"),
		DataPaths: []string{}, Objects: []compaction.Object{{Kind: "merge-operator", Name: "add"}},
		NextLevelTables: []compaction.Table{{Smallest: []byte{0, 255}, Largest: []byte("b"), Bytes: 7}},
	}
}

// region is a job of HBase.
func region() compaction.Job {
	const directory = "hdfs://name:8020/hbase/data/default/t/0123456789abcdef0123456789abcdef"
	return compaction.Job{
		ID: "a-1", DatabasePath: directory, OutputPath: directory + "/.tmp/.sluice-compaction-a-1",
		HBase: compaction.Version{Major: 2, Minor: 6, Patch: 4}, PluginVersion: "0.1.0", ColumnFamily: "f",
		InputBytes: 5, InputFiles: 2, Input: []byte("input"), DataPaths: []string{}, Objects: []compaction.Object{},
	}
}

// pooled is a job of a database in a pool, as a store offers it and as its agent passes it on.
func pooled() (offered, resolved compaction.Job) {
	offered = job()
	offered.PoolSession = strings.Repeat("0f", 16)
	resolved = job()
	resolved.Pool = &compaction.PoolPlace{Volume: "orders", OuterEpoch: 7}
	return offered, resolved
}

func marshal(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// proto/local/compaction is where the schemas are maintained; go generate copies them.
func TestSchemasAreThoseOfProtoLocal(t *testing.T) {
	const canonical = "../../../../proto/local/compaction"
	names, err := filepath.Glob(filepath.Join(canonical, "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	copies, err := os.ReadDir("schema")
	if err != nil || len(copies) != len(names) {
		t.Errorf("%d copies of %d schemas, %v", len(copies), len(names), err)
	}
	for _, name := range names {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join("schema", filepath.Base(name))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from its copy: run go generate (%v)", name, err)
		}
	}
}

// What this package sends is what the schemas say.
func TestMessagesKeepTheSchemas(t *testing.T) {
	detail := "all slots are taken"
	line, err := ForWorker(WorkerJob{ProtocolVersion: CurrentVersion(), Job: job()})
	if err != nil {
		t.Fatal(err)
	}
	regionLine, err := ForWorker(WorkerJob{ProtocolVersion: CurrentVersion(), Job: region()})
	if err != nil {
		t.Fatal(err)
	}
	offered, resolved := pooled()
	poolLine, err := ForWorker(WorkerJob{
		ProtocolVersion: CurrentVersion(), Job: resolved, PoolSocket: "/run/pool.sock", CheckedOutputPath: "/var/lib/scratch",
	})
	if err != nil {
		t.Fatal(err)
	}
	progress := compaction.Progress{BytesRead: 1, BytesWritten: 2}
	for schema, texts := range map[string][][]byte{
		"run-params": {marshal(t, RunParams{CurrentVersion(), job()}), marshal(t, RunParams{CurrentVersion(), region()}), marshal(t, RunParams{CurrentVersion(), offered})},
		"run-result": {
			marshal(t, RunResult{ProtocolVersion: CurrentVersion(), Placement: Remote, Node: "db-2"}),
			marshal(t, RunResult{ProtocolVersion: CurrentVersion(), Placement: Local, Reason: compaction.Busy, Detail: &detail}),
		},
		"wait-result": {
			marshal(t, WaitResult{State: Running, Node: "db-2", Progress: &progress}),
			marshal(t, WaitResult{State: Running, Node: "db-2", Progress: &compaction.Progress{}}),
			marshal(t, WaitResult{State: Done, Node: "db-2", Result: []byte("r")}),
			marshal(t, WaitResult{State: Local, Reason: compaction.WorkerLost, Detail: new(string)}),
		},
		"worker-job": {line, regionLine, poolLine},
		"worker-line": {
			marshal(t, WorkerLine{Started: &Started{ProtocolVersion: CurrentVersion(), RocksDB: job().RocksDB}}),
			marshal(t, WorkerLine{Started: &Started{ProtocolVersion: CurrentVersion(), HBase: region().HBase}}),
			marshal(t, WorkerLine{Progress: &compaction.Progress{}}),
			marshal(t, WorkerLine{Result: &WorkerResult{Result: []byte("r")}}),
			marshal(t, WorkerLine{Failure: &WorkerFailure{compaction.Path, "gone"}}),
		},
	} {
		for _, text := range texts {
			if err := schemas.Validate(schema, text); err != nil {
				t.Errorf("%s: %s: %v", schema, text, err)
			}
		}
	}
}

func TestEveryReasonKeepsTheSchema(t *testing.T) {
	for _, reason := range compaction.Reasons() {
		text := marshal(t, WaitResult{State: Local, Reason: reason, Detail: new(string)})
		if err := schemas.Validate("wait-result", text); err != nil {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestMessagesThatSchemasRefuse(t *testing.T) {
	for schema, texts := range map[string][]string{
		"run-result": {
			`{"protocol_version":{"major":1,"minor":0},"placement":"remote"}`,
			`{"protocol_version":{"major":1,"minor":0},"placement":"local","reason":"busy"}`,
			`{"protocol_version":{"major":1,"minor":0},"placement":"local","reason":"busy","detail":"","node":"a"}`,
			`{"protocol_version":{"major":1,"minor":0},"placement":"later"}`,
			`{"placement":"remote","node":"a"}`,
		},
		"wait-result": {
			`{"state":"done","node":"a"}`, `{"state":"done","node":"a","result":""}`,
			`{"state":"running","node":"a"}`, `{"state":"local","reason":"Bad","detail":""}`, `{}`,
		},
	} {
		for _, text := range texts {
			if err := schemas.Validate(schema, []byte(text)); err == nil {
				t.Errorf("%s: %s is accepted", schema, text)
			}
		}
	}
}

func TestRunRoundTrip(t *testing.T) {
	got, err := ParseRun(marshal(t, RunParams{CurrentVersion(), job()}))
	if err != nil || string(marshal(t, got)) != string(marshal(t, job())) {
		t.Errorf("%+v, %v", got, err)
	}
	line, err := ForWorker(WorkerJob{ProtocolVersion: CurrentVersion(), Job: job(), MemoryLimitBytes: 7})
	if err != nil {
		t.Fatal(err)
	}
	told, err := ParseWorkerJob(bytes.TrimSuffix(line, []byte("\n")))
	if err != nil || told.MemoryLimitBytes != 7 || told.Job.ID != "a-1" {
		t.Errorf("%+v, %v", told, err)
	}
}

// A job is of one store, and says of which version.
func TestJobsOfNoStoreAndOfTwo(t *testing.T) {
	both := region()
	both.RocksDB = job().RocksDB
	neither := job()
	neither.RocksDB = compaction.Version{}
	for name, bad := range map[string]compaction.Job{"both": both, "neither": neither} {
		if _, err := ParseRun(marshal(t, RunParams{CurrentVersion(), bad})); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if got, err := ParseRun(marshal(t, RunParams{CurrentVersion(), region()})); err != nil || got.Series() != "hbase-2.6" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRunsThatAreRefused(t *testing.T) {
	good := string(marshal(t, RunParams{CurrentVersion(), job()}))
	for name, test := range map[string]struct{ old, new, want string }{
		"another major version": {`"major":1`, `"major":2`, "plug-in version 2.1"},
		"a member is missing":   {`"column_family":"default",`, ``, "column_family"},
		"wrong type":            {`"input_bytes":5`, `"input_bytes":"5"`, "input_bytes"},
		"fraction":              {`"input_bytes":5`, `"input_bytes":5.5`, "input_bytes"},
		"negative":              {`"input_bytes":5`, `"input_bytes":-5`, "input_bytes"},
		"no base64":             {`"input":"aW5wdXQ="`, `"input":"aW5wdXQ"`, "base64"},
		"no input":              {`"input":"aW5wdXQ="`, `"input":"===="`, "base64"},
		"relative path":         {`"/srv/db"`, `"srv/db"`, "database_path"},
		"path upwards":          {`"/srv/db"`, `"/srv/../db"`, "without //"},
		"another output":        {`compaction-a-1"`, `compaction-b"`, "does not end in"},
		"no data paths":         {`"data_paths":[]`, `"data_paths":null`, "data_paths"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, test.old, test.new, 1)
			if text == good {
				t.Fatalf("%q is not in %s", test.old, good)
			}
			if _, err := ParseRun([]byte(text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v does not say %q", err, test.want)
			}
		})
	}
}

// Only the store's agent says where in a pool a job is, and only the store in which session.
func TestJobsInAPool(t *testing.T) {
	offered, resolved := pooled()
	if got, err := ParseRun(marshal(t, RunParams{CurrentVersion(), offered})); err != nil || got.PoolSession != offered.PoolSession {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ParseRun(marshal(t, RunParams{CurrentVersion(), resolved})); err == nil || !strings.Contains(err.Error(), "job/pool: must be left out") {
		t.Errorf("a plug-in says where its job is: %v", err)
	}
	for name, session := range map[string]string{"short": "0f", "capitals": strings.Repeat("0F", 16), "words": strings.Repeat("wo", 16)} {
		bad := offered
		bad.PoolSession = session
		if _, err := ParseRun(marshal(t, RunParams{CurrentVersion(), bad})); err == nil || !strings.Contains(err.Error(), "job/pool_session") {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := WorkerJob{
		ProtocolVersion: CurrentVersion(), Job: resolved, Libraries: []string{}, PoolSocket: "/run/pool.sock", CheckedOutputPath: "/var/lib/scratch",
	}
	if told, err := ParseWorkerJob(marshal(t, good)); err != nil || *told.Job.Pool != *resolved.Pool || told.PoolSocket != good.PoolSocket {
		t.Errorf("%+v, %v", told, err)
	}
	for name, change := range map[string]func(*WorkerJob){
		"no socket":          func(w *WorkerJob) { w.PoolSocket = "" },
		"relative socket":    func(w *WorkerJob) { w.PoolSocket = "pool.sock" },
		"no scratch":         func(w *WorkerJob) { w.CheckedOutputPath = "" },
		"checked database":   func(w *WorkerJob) { w.CheckedDatabasePath = "/srv/db" },
		"socket without job": func(w *WorkerJob) { w.Job = job() },
		"session":            func(w *WorkerJob) { w.Job = offered },
		"no epoch":           func(w *WorkerJob) { w.Job.Pool = &compaction.PoolPlace{Volume: "orders"} },
		"no volume":          func(w *WorkerJob) { w.Job.Pool = &compaction.PoolPlace{OuterEpoch: 1} },
	} {
		bad := good
		change(&bad)
		if _, err := ParseWorkerJob(marshal(t, bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestNewerMinorVersionIsTaken(t *testing.T) {
	text := bytes.Replace(marshal(t, RunParams{CurrentVersion(), job()}), []byte(`"minor":1`), []byte(`"minor":9,"patch":1`), 1)
	text = bytes.Replace(text, []byte(`"input_level"`), []byte(`"deadline_seconds":5,"input_level"`), 1)
	if _, err := ParseRun(text); err != nil {
		t.Error(err)
	}
}

func TestWorkerOfAnotherMajorVersion(t *testing.T) {
	_, err := ParseWorkerLine([]byte(`{"started":{"protocol_version":{"major":2,"minor":0},"rocksdb_version":{"major":11,"minor":8,"patch":1}}}`))
	if store.CodeOf(err) != store.CodeIncompatible {
		t.Error(err)
	}
}

func TestLargestMessagesFit(t *testing.T) {
	largest := job()
	largest.Input = make([]byte, compaction.MaxBlobBytes)
	if line, err := ForWorker(WorkerJob{ProtocolVersion: CurrentVersion(), Job: largest}); err != nil || len(line) > MaxLineBytes {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	if _, err := ParseRun(marshal(t, RunParams{CurrentVersion(), largest})); err != nil {
		t.Error(err)
	}
	text := marshal(t, WorkerLine{Result: &WorkerResult{Result: largest.Input}})
	if _, err := ParseWorkerLine(text); err != nil || len(text) > MaxLineBytes {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// FuzzRun reads bytes as the params of run and as a worker's job. What is accepted is valid.
func FuzzRun(f *testing.F) {
	f.Add(marshal(f, RunParams{CurrentVersion(), job()}))
	f.Add(marshal(f, WorkerJob{ProtocolVersion: CurrentVersion(), Job: job(), Libraries: []string{}}))
	offered, resolved := pooled()
	f.Add(marshal(f, RunParams{CurrentVersion(), offered}))
	f.Add(marshal(f, WorkerJob{
		ProtocolVersion: CurrentVersion(), Job: resolved, Libraries: []string{}, PoolSocket: "/run/pool.sock", CheckedOutputPath: "/var/lib/scratch",
	}))
	f.Add([]byte(`{"protocol_version":{"major":1,"minor":0},"job":{},"JOB":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if read, err := ParseRun(text); err == nil && read.Validate() != nil {
			t.Errorf("%+v is accepted, though %v", read, read.Validate())
		}
		if told, err := ParseWorkerJob(text); err == nil && told.Job.Validate() != nil {
			t.Errorf("%+v is accepted, though %v", told, told.Job.Validate())
		}
	})
}

// FuzzWorkerLine reads bytes as what a worker says. What is accepted says exactly one thing, within bounds.
func FuzzWorkerLine(f *testing.F) {
	f.Add([]byte(`{"started":{"protocol_version":{"major":1,"minor":0},"rocksdb_version":{"major":11,"minor":8,"patch":1}}}`))
	f.Add([]byte(`{"progress":{"bytes_read":1,"bytes_written":2}}`))
	f.Add([]byte(`{"result":{"result":"AAAA","bytes_read":1,"bytes_written":2,"open_seconds":0.1,"cpu_seconds":0.2}}`))
	f.Add([]byte(`{"failure":{"reason":"path","message":"gone"},"Progress":{"bytes_read":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		said, err := ParseWorkerLine(text)
		if err != nil {
			return
		}
		count := 0
		for _, isThere := range []bool{said.Started != nil, said.Progress != nil, said.Result != nil, said.Failure != nil} {
			if isThere {
				count++
			}
		}
		if count != 1 {
			t.Errorf("%q says %d things", text, count)
		}
		if said.Result != nil && (len(said.Result.Result) == 0 || len(said.Result.Result) > compaction.MaxBlobBytes) {
			t.Errorf("%q has a result of %d bytes", text, len(said.Result.Result))
		}
	})
}
