package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"sluice.dev/control/internal/agent/discovery"
	"sluice.dev/control/internal/security"
)

const (
	leastSnapshotPeriodSeconds   = 0.1
	longestSnapshotPeriodSeconds = 60
	maxPostgresInstances         = 64
	maxPort                      = 65535
	// maxIdentifierBytes is the length at which PostgreSQL cuts names off.
	maxIdentifierBytes = 63
)

var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// check says everything that is wrong with a configuration.
func (c Config) check() error {
	problems := []error{
		checkIdentity("cluster", c.Cluster),
		checkIdentity("node", c.Node),
		checkAddress("listen", c.Listen),
		checkAddress("metrics_listen", c.MetricsListen),
		checkPath("tls.certificate_file", c.TLS.CertificateFile),
		checkPath("tls.key_file", c.TLS.KeyFile),
		checkPath("tls.ca_file", c.TLS.CAFile),
		checkPath("socket_directory", c.SocketDirectory),
		checkPaths("cpu_group_directories", c.CPUGroupDirectories),
		c.checkPeriod(),
		c.checkLogLevel(),
	}
	if len(c.Postgres) > maxPostgresInstances {
		problems = append(problems, fmt.Errorf("postgres has %d instances, at most %d are allowed",
			len(c.Postgres), maxPostgresInstances))
	}
	seen := make(map[string]bool)
	for i, instance := range c.Postgres {
		key := fmt.Sprintf("postgres[%d]", i)
		problems = append(problems, instance.check(key))
		if seen[instance.Instance] {
			problems = append(problems, fmt.Errorf("%s.instance %q is there twice: give each instance a name of its own",
				key, instance.Instance))
		}
		seen[instance.Instance] = true
	}
	if clients := c.Clients; clients != nil {
		problems = append(problems, clients.check("clients"))
	}
	if client := c.Compaction.Client; client != nil {
		problems = append(problems, client.check("compaction.client", c.Node))
	}
	if worker := c.Compaction.Worker; worker != nil {
		problems = append(problems, worker.check("compaction.worker"), c.checkPoolOfWorker())
	}
	if server := c.Pool.Server; server != nil {
		problems = append(problems, server.check("pool.server"))
	}
	if client := c.Pool.Client; client != nil {
		problems = append(problems, client.check("pool.client"))
	}
	if metadata := c.Pool.Metadata; metadata != nil {
		problems = append(problems, metadata.check("pool.metadata", c.Node))
	}
	return errors.Join(problems...)
}

func (c Config) checkPoolOfWorker() error {
	if len(c.Compaction.Worker.PoolVolumes) == 0 || c.Pool.hasGateway() {
		return nil
	}
	return errors.New("compaction.worker.pool_volumes needs pool.client.socket: set it, for workers reach the pool there")
}

func (c Config) checkPeriod() error {
	// Written so that not-a-number is refused as well.
	if c.SnapshotPeriodSeconds >= leastSnapshotPeriodSeconds && c.SnapshotPeriodSeconds <= longestSnapshotPeriodSeconds {
		return nil
	}
	return fmt.Errorf("snapshot_period_seconds must be between %v and %v, not %v",
		leastSnapshotPeriodSeconds, longestSnapshotPeriodSeconds, c.SnapshotPeriodSeconds)
}

func (c Config) checkLogLevel() error {
	if _, known := logLevels[c.LogLevel]; known {
		return nil
	}
	return fmt.Errorf("log_level must be debug, info, warn or error, not %q", c.LogLevel)
}

func (p Postgres) check(key string) error {
	var problems []error
	if !discovery.ValidName(p.Instance) {
		problems = append(problems, fmt.Errorf(
			"%s.instance must be 1 to 63 letters, digits, \".\", \"_\" or \"-\", not %q", key, p.Instance))
	}
	if p.Port < 1 || p.Port > maxPort {
		problems = append(problems, fmt.Errorf("%s.port must be between 1 and %d, not %d: it names the socket",
			key, maxPort, p.Port))
	}
	problems = append(problems,
		checkPath(key+".socket_directory", p.SocketDirectory),
		checkIdentifier(key+".database", p.Database),
		checkIdentifier(key+".user", p.User),
	)
	return errors.Join(problems...)
}

// checkIdentity takes what a certificate can have as the name of a cluster or node.
func checkIdentity(key, name string) error {
	if name == "" {
		return fmt.Errorf("%s is missing: set it to the name in the agent's certificate", key)
	}
	identity := security.Identity{Cluster: name, Role: security.RoleAgent, Name: name}
	if _, err := security.ParseIdentity(identity.String()); err != nil {
		return fmt.Errorf("%s must be letters, digits, and \"-\", \".\" or \"_\" between them, not %q", key, name)
	}
	return nil
}

func checkAddress(key, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s must be HOST:PORT or :PORT, not %q: %w", key, address, err)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 0 || number > maxPort {
		return fmt.Errorf("%s must end in a port between 0 and %d, not %q", key, maxPort, port)
	}
	return nil
}

func checkPath(key, path string) error {
	switch {
	case path == "":
		return fmt.Errorf("%s is missing: set it to a path that begins with /", key)
	case !filepath.IsAbs(path) || strings.ContainsRune(path, 0):
		return fmt.Errorf("%s must be a path that begins with /, not %q", key, path)
	}
	return nil
}

func checkIdentifier(key, name string) error {
	if name == "" || len(name) > maxIdentifierBytes || strings.ContainsRune(name, 0) {
		return fmt.Errorf("%s must be a name of 1 to %d bytes, not %q", key, maxIdentifierBytes, name)
	}
	return nil
}
