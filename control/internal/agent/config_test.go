package agent

import (
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

func FuzzConfig(f *testing.F) {
	f.Add([]byte(minimalConfig))
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
