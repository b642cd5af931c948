package postgres

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"sluice.dev/control/internal/store"
)

// meaning is what an SQLSTATE of the server means to whoever has given an order.
type meaning struct {
	code store.Code
	// hint takes the place of the server's, fallback is for errors that come without one.
	hint, fallback string
}

// meaningOf goes by the whole SQLSTATE first, then by its class, the first two characters.
func meaningOf(state string) meaning {
	if m, found := meaningsOfStates[state]; found {
		return m
	}
	if len(state) == 5 {
		if m, found := meaningsOfClasses[state[:2]]; found {
			return m
		}
	}
	return meaning{code: store.CodeUnavailable, fallback: "See the server's log."}
}

const (
	createRoleHint  = "Create the agent's role as docs/agent-postgres.md says."
	extensionHint   = "Run CREATE EXTENSION sluice in the database, or, where an older one is, ALTER EXTENSION sluice UPDATE."
	grantHint       = "Make the agent's role a member of pg_checkpoint and pg_monitor."
	databaseHint    = "Have the agent's configuration name the database that has the extension."
	busyHint        = "The server is too busy to answer in time; try again."
	connectionsHint = "Raise max_connections, or reserved_connections and grant pg_use_reserved_connections."
)

// See appendix A of PostgreSQL's manual, and ereport() in plugins/postgres.
var meaningsOfStates = map[string]meaning{
	"55006": {code: store.CodeConflict},                               // object_in_use: another owner's lease
	"55000": {code: store.CodeRefused},                                // object_not_in_prerequisite_state: WAL bound
	"42501": {code: store.CodeForbidden, hint: grantHint},             // insufficient_privilege
	"3D000": {code: store.CodeNotFound, hint: databaseHint},           // invalid_catalog_name
	"3F000": {code: store.CodeUnsupported, hint: extensionHint},       // invalid_schema_name
	"42P01": {code: store.CodeUnsupported, hint: extensionHint},       // undefined_table
	"42883": {code: store.CodeUnsupported, hint: extensionHint},       // undefined_function
	"42703": {code: store.CodeUnsupported, hint: extensionHint},       // undefined_column
	"53300": {code: store.CodeUnavailable, fallback: connectionsHint}, // too_many_connections
	"57014": {code: store.CodeUnavailable, fallback: busyHint},        // query_canceled
	"55P03": {code: store.CodeUnavailable, fallback: busyHint},        // lock_not_available
}

var meaningsOfClasses = map[string]meaning{
	"22": {code: store.CodeInvalid, fallback: "Give a value that the extension allows."},
	"28": {code: store.CodeForbidden, fallback: createRoleHint},
	"57": {code: store.CodeUnavailable, fallback: "The server is starting or stopping; try again."},
}

// failure makes a store.Error of any error, with the hint of the server if it gave one.
func (d *Driver) failure(err error) error {
	var known *store.Error
	if errors.As(err, &known) {
		return known
	}
	var fromServer *pgconn.PgError
	if errors.As(err, &fromServer) {
		return failureOfServer(fromServer)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return store.Errorf(store.CodeUnavailable, "the server of instance %s did not answer in time: %w", d.config.Instance, err)
	}
	return store.Errorf(store.CodeUnavailable, "cannot speak to the server of instance %s: %w", d.config.Instance, err).
		WithHint("Check that it runs, and that its socket is %s/.s.PGSQL.%d.", d.config.SocketDirectory, d.config.Port)
}

func failureOfServer(err *pgconn.PgError) error {
	m := meaningOf(err.Code)
	failure := store.Errorf(m.code, "%w", err)
	failure.Message = err.Message
	if hint := cmp.Or(m.hint, err.Hint, m.fallback); hint != "" {
		return failure.WithHint("%s", hint)
	}
	return failure
}
