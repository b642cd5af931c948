// Package agent is the agent of a node: it finds the stores, takes their snapshots, passes orders on to
// them and remembers the leases that come of it, and serves all that to controllers, operators and
// Prometheus over mutual TLS.
package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/goccy/go-yaml"

	"sluice.dev/control/internal/security"
)

// Config is the configuration of an agent, as docs/agent.md describes it.
type Config struct {
	// Cluster and Node are the names that the agent's certificate has.
	Cluster string `yaml:"cluster"`
	Node    string `yaml:"node"`
	// Listen is the address of the network contract, MetricsListen that of the Prometheus metrics.
	Listen        string         `yaml:"listen"`
	MetricsListen string         `yaml:"metrics_listen"`
	TLS           security.Files `yaml:"tls"`
	// SocketDirectory holds the sockets of plug-ins, STORE/INSTANCE.sock.
	SocketDirectory string     `yaml:"socket_directory"`
	Postgres        []Postgres `yaml:"postgres"`
	// Clients is nil where no reports of clients are taken.
	Clients    *Clients   `yaml:"clients"`
	Compaction Compaction `yaml:"compaction"`
	Pool       Pool       `yaml:"pool"`
	// CPUGroupDirectories hold the files of the control group whose load is the node's; the whole machine's
	// is if there are none.
	CPUGroupDirectories   []string `yaml:"cpu_group_directories"`
	SnapshotPeriodSeconds float64  `yaml:"snapshot_period_seconds"`
	// LogLevel is "debug", "info", "warn" or "error".
	LogLevel string `yaml:"log_level"`
}

// Postgres is an instance of PostgreSQL on the node. The agent reaches it through its Unix socket.
type Postgres struct {
	// Instance is the name that controllers know it by.
	Instance        string `yaml:"instance"`
	SocketDirectory string `yaml:"socket_directory"`
	Port            int    `yaml:"port"`
	Database        string `yaml:"database"`
	User            string `yaml:"user"`
}

const (
	defaultListen                = "0.0.0.0:7411"
	defaultMetricsListen         = ":7412"
	defaultSocketDirectory       = "/run/sluice"
	defaultSnapshotPeriodSeconds = 1
	defaultLogLevel              = "info"
	defaultPostgresSockets       = "/run/sluice/postgres"
	defaultPostgresPort          = 5432
	defaultPostgresDatabase      = "postgres"
	defaultPostgresUser          = "sluice_agent"

	// maxConfigBytes is far above any configuration that somebody has written.
	maxConfigBytes = 1 << 20
)

// SnapshotPeriod is the time between two snapshots of a store.
func (c Config) SnapshotPeriod() time.Duration {
	return time.Duration(c.SnapshotPeriodSeconds * float64(time.Second))
}

// Level is the least level of what is logged.
func (c Config) Level() slog.Level {
	return logLevels[c.LogLevel]
}

// Load reads a configuration file. The error says everything that is wrong with it: the line of what
// cannot be read or is not known, and the key of each value that is out of its bounds.
func Load(path string) (Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("open the agent's configuration: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfigBytes+1))
	if err != nil {
		return Config{}, fmt.Errorf("read the agent's configuration: %w", err)
	}
	config, err := parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}

func parse(text []byte) (Config, error) {
	if len(text) > maxConfigBytes {
		return Config{}, fmt.Errorf("a configuration has at most %d bytes: is this another file?", maxConfigBytes)
	}
	config := Config{
		Listen:                defaultListen,
		MetricsListen:         defaultMetricsListen,
		SocketDirectory:       defaultSocketDirectory,
		SnapshotPeriodSeconds: defaultSnapshotPeriodSeconds,
		LogLevel:              defaultLogLevel,
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.DisallowUnknownField())
	if err := decoder.Decode(&config); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, err
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("there is a second document, after a line \"---\": a configuration is one")
	}
	return config, config.check()
}

// UnmarshalYAML sets the defaults of what an instance leaves out.
func (p *Postgres) UnmarshalYAML(unmarshal func(any) error) error {
	*p = Postgres{
		SocketDirectory: defaultPostgresSockets,
		Port:            defaultPostgresPort,
		Database:        defaultPostgresDatabase,
		User:            defaultPostgresUser,
	}
	type plain Postgres
	return unmarshal((*plain)(p))
}
