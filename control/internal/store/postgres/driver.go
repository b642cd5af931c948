package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sluice.dev/control/internal/store"
)

// extensionMajor is the major version of the extension whose functions the driver calls.
const extensionMajor = "1"

// Driver speaks to one server. It connects when it is first used, and again after the connection has
// broken: a call that finds it broken fails with CodeUnavailable.
type Driver struct {
	config Config
	pool   *pgxpool.Pool
}

var _ store.Driver = (*Driver)(nil)

// Open makes a Driver. It does not connect: a server that is down shows in the first call.
func Open(config Config) (*Driver, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	poolConfig, err := config.poolConfig()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), poolConfig)
	if err != nil {
		return nil, store.Invalidf("cannot make a connection pool: %w", err)
	}
	return &Driver{config: config, pool: pool}, nil
}

// Close ends the connections. Leases stay until they expire.
func (d *Driver) Close() error {
	d.pool.Close()
	return nil
}

// Describe says what can be ordered.
func (d *Driver) Describe(ctx context.Context) (store.Description, error) {
	server, err := readServer(ctx, d.pool)
	if err != nil {
		return store.Description{}, d.failure(err)
	}
	if err := server.validate(d.config.Database); err != nil {
		return store.Description{}, err
	}
	return store.Description{
		Store:         storeName,
		Instance:      d.config.Instance,
		StoreVersion:  server.ServerVersion,
		PluginVersion: *server.ExtensionVersion,
		Capabilities: []store.Capability{{
			Kind: store.Checkpoint,
			Settings: []store.SettingName{
				store.RateBytesPerSecond, store.Hold, store.DurationSeconds, store.Full, store.Stock,
				store.SyncGapSeconds, store.DeferUntilDebtBytes,
			},
			CanStart: true,
		}},
		MaxTimeToLive: seconds(*server.MaxTimeToLiveSeconds),
	}, nil
}

// prepare is called with each new connection, before it is used.
func (c Config) prepare(ctx context.Context, connection *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	// The driver's own statements should not count as requests of the server's clients.
	_, err := connection.Exec(ctx, `
		SELECT set_config('sluice.statement_latency', 'off', false)
		WHERE has_parameter_privilege('sluice.statement_latency', 'SET')`)
	if err != nil {
		return err
	}
	server, err := readServer(ctx, connection)
	if err != nil {
		return err
	}
	return server.validate(c.Database)
}

// serverRow is what a server says of itself; what it does not have is nil.
type serverRow struct {
	ServerVersion        string
	ExtensionVersion     *string
	MaxTimeToLiveSeconds *float64
}

// querier is a connection or a pool of them.
type querier interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
}

// readServer looks for the setting in pg_settings, because that leaves out those that a configuration
// file gives to a library which is not loaded.
func readServer(ctx context.Context, from querier) (serverRow, error) {
	rows, err := from.Query(ctx, `
		SELECT split_part(current_setting('server_version'), ' ', 1) AS server_version,
		       (SELECT extversion FROM pg_extension WHERE extname = 'sluice') AS extension_version,
		       (SELECT setting::float8 FROM pg_settings
		        WHERE name = 'sluice.max_time_to_live') AS max_time_to_live_seconds`)
	if err != nil {
		return serverRow{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[serverRow])
}

// validate says what the server lacks for this driver.
func (s serverRow) validate(database string) error {
	if s.ExtensionVersion == nil {
		return store.Errorf(store.CodeUnsupported, "the database %q has no extension \"sluice\"", database).
			WithHint("Run CREATE EXTENSION sluice in it as a superuser, or have the agent's configuration name the database that has it.")
	}
	if major, _, _ := strings.Cut(*s.ExtensionVersion, "."); major != extensionMajor {
		return store.Errorf(store.CodeIncompatible,
			"the extension \"sluice\" has version %s, but this agent speaks to version %s", *s.ExtensionVersion, extensionMajor).
			WithHint("Install extension and agent of the same release, and run ALTER EXTENSION sluice UPDATE.")
	}
	if s.MaxTimeToLiveSeconds == nil {
		return store.Errorf(store.CodeUnsupported, "the server has not loaded the library \"sluice\"").
			WithHint("Add sluice to shared_preload_libraries and restart the server.")
	}
	return nil
}

// seconds makes a Duration of a number that SQL gave, the longest there is if it is too large.
func seconds(number float64) time.Duration {
	const longest = time.Duration(1<<63 - 1)
	if number >= longest.Seconds() {
		return longest
	}
	return time.Duration(number * float64(time.Second))
}
