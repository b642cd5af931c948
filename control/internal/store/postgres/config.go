// Package postgres drives a PostgreSQL server that has the extension "sluice", through SQL over the
// server's local Unix socket. docs/agent-postgres.md says what maps to what.
package postgres

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"sluice.dev/control/internal/store"
)

const (
	// storeName is what this kind of store is called in the vocabulary.
	storeName = "postgres"

	defaultSocketDirectory = "/run/sluice/postgres"
	defaultPort            = 5432
	defaultDatabase        = "postgres"
	defaultUser            = "sluice_agent"

	applicationName = "sluice agent"

	// maxConnections leaves one for orders while a snapshot is being taken.
	maxConnections = 2

	// answerTimeout is for what takes a millisecond if all is well.
	answerTimeout = 5 * time.Second
	// lockTimeout is shorter: only changes of the extension itself take locks that matter.
	lockTimeout = time.Second
)

// Config says where a server is. Everything but the name of the instance has a default.
type Config struct {
	Instance string
	// SocketDirectory holds the server's socket; "/run/sluice/postgres" if empty.
	SocketDirectory string
	// Port is part of the socket's name; 5432 if 0.
	Port uint16
	// Database is the one with the extension; "postgres" if empty.
	Database string
	// User is the role; "sluice_agent" if empty.
	User string
}

func (c Config) withDefaults() Config {
	if c.SocketDirectory == "" {
		c.SocketDirectory = defaultSocketDirectory
	}
	if c.Port == 0 {
		c.Port = defaultPort
	}
	if c.Database == "" {
		c.Database = defaultDatabase
	}
	if c.User == "" {
		c.User = defaultUser
	}
	return c
}

func (c Config) validate() error {
	if c.Instance == "" {
		return store.Invalidf("a PostgreSQL instance needs a name").WithHint("Set \"instance\".")
	}
	// A relative one would be taken for the name of a host.
	if !filepath.IsAbs(c.SocketDirectory) {
		return store.Invalidf("the socket directory %q is not an absolute path", c.SocketDirectory).
			WithHint("Servers are reached by their Unix socket alone; give the folder that \"unix_socket_directories\" names.")
	}
	return nil
}

// poolConfig does not depend on libpq's environment variables, save for a password.
func (c Config) poolConfig() (*pgxpool.Config, error) {
	connectTimeout := fmt.Sprintf("connect_timeout=%.0f sslmode=disable", answerTimeout.Seconds())
	config, err := pgxpool.ParseConfig(connectTimeout)
	if err != nil {
		return nil, store.Invalidf("cannot make a configuration: %w", err).
			WithHint("Unset the environment variables whose names begin with PG.")
	}
	connection := config.ConnConfig
	connection.Host, connection.Port = c.SocketDirectory, c.Port
	connection.Database, connection.User = c.Database, c.User
	connection.TLSConfig, connection.Fallbacks, connection.ValidateConnect = nil, nil, nil
	connection.RuntimeParams = map[string]string{
		"application_name":  applicationName,
		"statement_timeout": milliseconds(answerTimeout),
		"lock_timeout":      milliseconds(lockTimeout),
		// Nothing that others may create is found by an unqualified name.
		"search_path": "pg_catalog",
	}
	config.MaxConns, config.MinConns, config.MinIdleConns = maxConnections, 0, 0
	config.PingTimeout = answerTimeout
	config.AfterConnect = c.prepare
	return config, nil
}

func milliseconds(duration time.Duration) string {
	return strconv.FormatInt(duration.Milliseconds(), 10)
}
