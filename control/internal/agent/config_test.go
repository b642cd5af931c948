package agent

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/security"
)

const minimalConfig = `cluster: east
node: db-1
tls:
  certificate_file: /etc/sluice/agent/agent.crt
  key_file: /etc/sluice/agent/agent.key
  ca_file: /etc/sluice/agent/ca.crt
`

func TestLoadDefaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.yml")
	if err := os.WriteFile(path, []byte(minimalConfig+"postgres:\n  - instance: main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Cluster: "east", Node: "db-1", Listen: "0.0.0.0:7411", MetricsListen: ":7412",
		TLS: security.Files{
			CertificateFile: "/etc/sluice/agent/agent.crt",
			KeyFile:         "/etc/sluice/agent/agent.key",
			CAFile:          "/etc/sluice/agent/ca.crt",
		},
		SocketDirectory: "/run/sluice",
		Postgres: []Postgres{{
			Instance: "main", SocketDirectory: "/run/sluice/postgres", Port: 5432,
			Database: "postgres", User: "sluice_agent",
		}},
		SnapshotPeriodSeconds: 1, LogLevel: "info",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.SnapshotPeriod() != time.Second || got.Level() != slog.LevelInfo {
		t.Errorf("period %v, level %v", got.SnapshotPeriod(), got.Level())
	}
}

func TestLoadMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.yml")
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name the file", err)
	}
}

func TestConfigErrors(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"nothing":        {"", []string{"cluster is missing", "node is missing", "tls.certificate_file is missing"}},
		"no mapping":     {"- 1\n", []string{"[1:1]"}},
		"no YAML":        {"cluster: [\n", []string{"[1:"}},
		"unknown key":    {minimalConfig + "sockets: /run\n", []string{"[7:1]", "sockets"}},
		"unknown in tls": {"tls:\n  certificate: a\n", []string{"[2:3]", "certificate"}},
		"unknown in postgres": {
			minimalConfig + "postgres:\n- instance: main\n  host: other\n", []string{"[9:3]", "host"},
		},
		"key twice":          {minimalConfig + "cluster: west\n", []string{"[7:1]", "cluster"}},
		"wrong type":         {minimalConfig + "snapshot_period_seconds: often\n", []string{"[7:26]"}},
		"two documents":      {minimalConfig + "---\nnode: db-2\n", []string{"second document"}},
		"cluster":            {"cluster: a/b\n", []string{"cluster must be letters", `"a/b"`}},
		"node":               {"node: .db\n", []string{"node must be letters", `".db"`}},
		"listen":             {minimalConfig + "listen: db-1\n", []string{"listen must be HOST:PORT", `"db-1"`}},
		"listen port":        {minimalConfig + "listen: :70000\n", []string{"listen must end in a port between 0 and 65535"}},
		"metrics_listen":     {minimalConfig + "metrics_listen: ''\n", []string{"metrics_listen must be HOST:PORT"}},
		"socket_directory":   {minimalConfig + "socket_directory: run\n", []string{"socket_directory must be a path that begins with /"}},
		"relative key":       {"tls: {key_file: key.pem}\n", []string{"tls.key_file must be a path"}},
		"period short":       {minimalConfig + "snapshot_period_seconds: 0\n", []string{"snapshot_period_seconds must be between 0.1 and 60, not 0"}},
		"period long":        {minimalConfig + "snapshot_period_seconds: 61\n", []string{"not 61"}},
		"period not there":   {minimalConfig + "snapshot_period_seconds: .nan\n", []string{"snapshot_period_seconds must be between"}},
		"log_level":          {minimalConfig + "log_level: loud\n", []string{"log_level must be debug, info, warn or error", `"loud"`}},
		"postgres no name":   {minimalConfig + "postgres: [{port: 5432}]\n", []string{"postgres[0].instance must be"}},
		"postgres port":      {minimalConfig + "postgres: [{instance: a, port: 0}]\n", []string{"postgres[0].port must be between 1 and 65535, not 0"}},
		"postgres directory": {minimalConfig + "postgres: [{instance: a, socket_directory: tmp}]\n", []string{"postgres[0].socket_directory"}},
		"postgres database":  {minimalConfig + "postgres: [{instance: a, database: ''}]\n", []string{"postgres[0].database must be a name"}},
		"postgres user": {
			minimalConfig + "postgres: [{instance: a, user: " + strings.Repeat("u", 64) + "}]\n",
			[]string{"postgres[0].user must be a name of 1 to 63 bytes"},
		},
		"postgres twice": {
			minimalConfig + "postgres: [{instance: a}, {instance: a}]\n", []string{`postgres[1].instance "a" is there twice`},
		},
		"postgres many": {
			minimalConfig + "postgres:\n" + strings.Repeat("- instance: a\n", 65), []string{"postgres has 65 instances, at most 64"},
		},
		"cpu_group_directories": {minimalConfig + "cpu_group_directories: [cpu]\n", []string{"cpu_group_directories[0] must be a path"}},
		"compaction unknown":    {minimalConfig + "compaction: {server: {}}\n", []string{"[7:14]", "server"}},
		"compaction peer": {
			minimalConfig + "compaction: {client: {peers: [{node: db-1, address: ':7411'}, {node: a/b, address: x}]}}\n",
			[]string{`compaction.client.peers[0].node "db-1" is this node`, "compaction.client.peers[1].node must be letters", "compaction.client.peers[1].address must be HOST:PORT"},
		},
		"compaction peer twice": {
			minimalConfig + "compaction: {client: {peers: [{node: b, address: ':1'}, {node: b, address: ':2'}]}}\n", []string{`peers[1].node "b" is there twice`},
		},
		"pool of another kind": {minimalConfig + "pool: {mount: {}}\n", []string{"[7:8]", "mount"}},
		"pool client": {
			minimalConfig + "pool: {client: {voters: [{node: a, address: x}], servers: [{node: b, address: ':1'}, {node: b, address: ':2'}], copies: 4, block_bytes: 5000}}\n",
			[]string{"pool.client.voters[0].address must be HOST:PORT", `pool.client.servers[1].node "b" is there twice`,
				"pool.client.copies must be between 1 and 3", "pool.client.block_bytes must be a power of two",
				"pool.client.servers has 2 entries, which are too few for 4 copies"},
		},
		"pool repair": {
			minimalConfig + "pool: {client: {voters: [{node: a, address: ':1'}], servers: [{node: b, address: ':1'}, {node: c, address: ':2'}], repair_bytes_per_second: 1, repair_after_seconds: 1, balance_tolerance_percent: .nan}}\n",
			[]string{"pool.client.repair_bytes_per_second must be between 4096 and", "pool.client.repair_after_seconds must be between 30 and",
				"pool.client.balance_tolerance_percent must be between 1 and 100"},
		},
		"pool server": {
			minimalConfig + "pool: {server: {directory: pool, scrub_period_seconds: .nan, scrub_bytes_per_second: 1}}\n",
			[]string{"pool.server.directory must be a path", "pool.server.scrub_period_seconds must be between 60 and",
				"pool.server.scrub_bytes_per_second must be between 4096 and"},
		},
		"compaction threshold": {minimalConfig + "compaction: {client: {threshold_share: 1.5}}\n", []string{"compaction.client.threshold_share must be between -1 and 1, not 1.5"}},
		"compaction socket":    {minimalConfig + "compaction: {client: {socket: run}}\n", []string{"compaction.client.socket must be a path"}},
		"compaction worker": {
			minimalConfig + "compaction: {worker: {}}\n", []string{"compaction.worker.programs is missing", "compaction.worker.paths is missing"},
		},
		"compaction series": {
			minimalConfig + "compaction: {worker: {paths: [/srv], programs: [{rocksdb_series: 11.08, path: bin}]}}\n",
			[]string{"programs[0].rocksdb_series must be MAJOR.MINOR in quotes", "programs[0].path must be a path"},
		},
		"compaction series twice": {
			minimalConfig + "compaction: {worker: {paths: [/srv], programs: [{rocksdb_series: '11.8', path: /a}, {rocksdb_series: '11.8', path: /b}]}}\n",
			[]string{`programs[1]: the series "11.8" is there twice`},
		},
		"compaction of hbase": {
			minimalConfig + "compaction: {worker: {hbase_roots: ['file:///hbase'], programs: [{hbase_series: '2', path: /a}]}}\n",
			[]string{"hbase_roots[0]: ", "programs[0].hbase_series must be MAJOR.MINOR"},
		},
		"compaction of hbase without roots": {
			minimalConfig + "compaction: {worker: {programs: [{hbase_series: '2.6', path: /a}]}}\n", []string{"hbase_roots is missing"},
		},
		"compaction in a pool": {
			minimalConfig + "compaction: {worker: {pool_volumes: [orders*, a/b], programs: [{rocksdb_series: '11.8', path: /a}]}}\n",
			[]string{"compaction.worker.pool_volumes[1]: ", `"a/b"`, "compaction.worker.pool_volumes needs pool.client.socket"},
		},
		"compaction in a pool without a socket": {
			minimalConfig + "pool: {client: {}}\ncompaction: {worker: {pool_volumes: [orders], programs: [{rocksdb_series: '11.8', path: /a}]}}\n",
			[]string{"compaction.worker.pool_volumes needs pool.client.socket"},
		},
		"compaction in many volumes": {
			minimalConfig + "compaction: {worker: {pool_volumes: [" + strings.Repeat("a,", 65) + "]}}\n", []string{"pool_volumes has 65 entries"},
		},
		"compaction of two stores": {
			minimalConfig + "compaction: {worker: {programs: [{rocksdb_series: '11.8', hbase_series: '2.6', path: /a}]}}\n",
			[]string{"programs[0] has rocksdb_series and hbase_series"},
		},
		"compaction bounds": {
			minimalConfig + "compaction: {worker: {paths: [srv], slots: 0, memory_bytes: 1, job_memory_bytes: 1, temporary_bytes: 1, longest_job_seconds: .nan, nice: 20}}\n",
			[]string{
				"compaction.worker.paths[0] must be a path", "compaction.worker.slots must be between 1 and 32, not 0",
				"compaction.worker.job_memory_bytes must be between", "compaction.worker.temporary_bytes must be between",
				"compaction.worker.longest_job_seconds must be between 1 and 86400", "compaction.worker.nice must be between -20 and 19",
			},
		},
		"pool unknown": {minimalConfig + "pool: {blocks2: {}}\n", []string{"[7:8]", "blocks2"}},
		"pool metadata": {
			minimalConfig + "pool: {metadata: {}}\n",
			[]string{"pool.metadata.voters has 0 entries, where 1, 3, 4 or 5", `pool.metadata.voters does not have this node, "db-1"`},
		},
		"pool metadata voters": {
			minimalConfig + "pool: {metadata: {listen: x, state_directory: y, voters: [{node: db-1, address: ':1'}, {node: db-1, address: z}]}}\n",
			[]string{
				"pool.metadata.listen must be HOST:PORT", "pool.metadata.state_directory must be a path", "voters has 2 entries",
				"pool.metadata.voters[1].address must be HOST:PORT", `pool.metadata.voters[1].node "db-1" is there twice`,
			},
		},
		"large": {"# " + strings.Repeat("x", maxConfigBytes), []string{"at most 1048576 bytes"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse([]byte(test.text))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%v", want, err)
				}
			}
		})
	}
}

const compactionConfig = minimalConfig + `compaction:
  client:
    peers: [{node: db-2, address: "db-2:7411"}]
  worker:
    programs: [{rocksdb_series: "11.8", path: /opt/sluice/rocksdb/11.8.1/bin/sluice-compact}]
    paths: [/srv/rocksdb]
`

func TestJobsAreResumedIfTheConfigurationSaysSo(t *testing.T) {
	for _, resumes := range []bool{true, false} {
		text := fmt.Sprintf("%s    resume_jobs: %t\n", compactionConfig, resumes)
		config, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := config.Compaction.Worker.host("").ResumeJobs; got != resumes {
			t.Errorf("%t: %t", resumes, got)
		}
	}
}

func TestCompactionDefaults(t *testing.T) {
	config, err := parse([]byte(compactionConfig))
	if err != nil {
		t.Fatal(err)
	}
	want := Compaction{
		Client: &CompactionClient{
			Socket: "/run/sluice/agent/compaction.sock", Peers: []Peer{{Node: "db-2", Address: "db-2:7411"}},
			ThresholdShare: 0.2, MinimumInputBytes: 16777216,
		},
		Worker: &CompactionWorker{
			Programs: []CompactionProgram{{Series: "11.8", Path: "/opt/sluice/rocksdb/11.8.1/bin/sluice-compact"}},
			Paths:    []string{"/srv/rocksdb"}, StateDirectory: "/var/lib/sluice-agent", Slots: 2,
			MemoryBytes: 1073741824, JobMemoryBytes: 536870912, TemporaryBytes: 68719476736, FreeBytes: 1073741824,
			LongestJobSeconds: 3600, Nice: 10,
		},
	}
	if !reflect.DeepEqual(config.Compaction, want) {
		t.Errorf("got  %+v %+v\nwant %+v %+v", config.Compaction.Client, config.Compaction.Worker, want.Client, want.Worker)
	}
	if still := config.Compaction.Worker.host("").LongestStandstill; still != 2*time.Minute {
		t.Errorf("a worker may get no further for %v", still)
	}
	if config, err := parse([]byte(minimalConfig)); err != nil || config.Compaction != (Compaction{}) {
		t.Errorf("unless it is configured: %+v, %v", config.Compaction, err)
	}
}

// A node may run compactions of HBase alone, and needs no directories of databases then.
func TestCompactionOfHBase(t *testing.T) {
	config, err := parse([]byte(minimalConfig + `compaction:
  worker:
    programs: [{hbase_series: "2.6", path: /opt/sluice/hbase/2.6.4-hadoop3/plugins/sluice-hbase-compact}]
    hbase_roots: ["hdfs://name:8020/hbase"]
`))
	if err != nil {
		t.Fatal(err)
	}
	got := config.Compaction.Worker.host("")
	if got.Programs["hbase-2.6"] == "" || got.HBaseRoots[0] != "hdfs://name:8020/hbase" {
		t.Errorf("%+v", got)
	}
	if got.ScratchDirectory != "/var/lib/sluice-agent/compaction-scratch" {
		t.Errorf("temporary files are in %s", got.ScratchDirectory)
	}
}

const poolWorkerConfig = minimalConfig + `pool:
  client:
    voters: [{node: db-1, address: "db-1:7411"}]
    servers: [{node: db-1, address: "db-1:7411"}, {node: db-2, address: "db-2:7411"}]
    socket: /run/sluice/agent/pool.sock
compaction:
  worker:
    programs: [{rocksdb_series: "11.8", path: /opt/sluice/rocksdb/11.8.1/bin/sluice-compact}]
    pool_volumes: [orders]
`

// A node may run compactions of databases in a pool alone, and needs no directories of databases then.
func TestCompactionInAPool(t *testing.T) {
	config, err := parse([]byte(poolWorkerConfig))
	if err != nil {
		t.Fatal(err)
	}
	got := config.Compaction.Worker.host(config.Pool.gatewaySocket())
	if len(got.PoolVolumes) != 1 || got.PoolVolumes[0] != "orders" || got.PoolSocket != "/run/sluice/agent/pool.sock" || len(got.Allowed) != 0 {
		t.Errorf("%+v", got)
	}
}

const poolConfig = minimalConfig + `pool:
  metadata:
    voters: [{node: db-1, address: "db-1:7413"}]
`

func TestPoolMetadataDefaults(t *testing.T) {
	config, err := parse([]byte(poolConfig))
	if err != nil {
		t.Fatal(err)
	}
	want := PoolMetadata{
		Listen: "0.0.0.0:7413", StateDirectory: "/var/lib/sluice-agent/pool-metadata",
		Voters: []PoolVoter{{Node: "db-1", Address: "db-1:7413"}},
	}
	if !reflect.DeepEqual(*config.Pool.Metadata, want) {
		t.Errorf("got  %+v\nwant %+v", *config.Pool.Metadata, want)
	}
	if config, err := parse([]byte(minimalConfig)); err != nil || config.Pool.Metadata != nil {
		t.Errorf("unless it is configured: %+v, %v", config.Pool.Metadata, err)
	}
}

func TestClientsDefaults(t *testing.T) {
	config, err := parse([]byte(minimalConfig + "clients:\n  stores: [hbase, cassandra]\n"))
	want := &Clients{Socket: "/run/sluice/clients/agent.sock", Stores: []string{"hbase", "cassandra"}}
	if err != nil || !reflect.DeepEqual(config.Clients, want) {
		t.Errorf("got %+v, %v", config.Clients, err)
	}
	if config, err := parse([]byte(minimalConfig)); err != nil || config.Clients != nil {
		t.Errorf("unless they are configured: %+v, %v", config.Clients, err)
	}
	for text, want := range map[string]string{
		"clients: {stores: []}":                          "clients.stores must have 1 to 8 kinds",
		"clients: {stores: [a, b, c, d, e, f, g, h, i]}": "not 9",
		"clients: {stores: [hbase, hbase]}":              `clients.stores[1] "hbase" is there twice`,
		"clients: {stores: [h/base]}":                    "clients.stores[0] must be a kind of store",
		"clients: {stores: [hbase], socket: agent.sock}": "clients.socket",
	} {
		if _, err := parse([]byte(minimalConfig + text + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q in it", text, err, want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(minimalConfig + "clients: {stores: [hbase]}\n"))
	f.Add([]byte(minimalConfig))
	f.Add([]byte(compactionConfig))
	f.Add([]byte(poolConfig))
	f.Add([]byte(poolWorkerConfig))
	f.Add([]byte(minimalConfig + "postgres: [{instance: main, port: 5433}]\nlisten: '[::1]:7411'\n"))
	f.Add([]byte("a: &a [*a, *a]\ncluster: *a\n"))
	f.Add([]byte("---\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		config, err := parse(text)
		if err != nil {
			return
		}
		if err := config.check(); err != nil {
			t.Errorf("a configuration was read that its own check refuses: %v", err)
		}
		if period := config.SnapshotPeriod(); period < time.Second/10 || period > time.Minute {
			t.Errorf("snapshot period %v", period)
		}
	})
}
