package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"sluice.dev/control/internal/store"
)

func TestFailureOfTheServer(t *testing.T) {
	tests := []struct {
		state string
		hint  string
		code  store.Code
		want  string
	}{
		{"55006", "Wait.", store.CodeConflict, "Wait."},
		{"55000", "Raise it.", store.CodeRefused, "Raise it."},
		{"22023", "Use less.", store.CodeInvalid, "Use less."},
		{"22008", "", store.CodeInvalid, "Give a value that the extension allows."},
		{"42501", "", store.CodeForbidden, grantHint},
		{"28000", "", store.CodeForbidden, createRoleHint},
		{"28P01", "", store.CodeForbidden, createRoleHint},
		{"3D000", "", store.CodeNotFound, databaseHint},
		{"3F000", "", store.CodeUnsupported, extensionHint},
		{"42P01", "", store.CodeUnsupported, extensionHint},
		{"42883", "No function matches.", store.CodeUnsupported, extensionHint},
		{"42703", "", store.CodeUnsupported, extensionHint},
		{"57P01", "", store.CodeUnavailable, "The server is starting or stopping; try again."},
		{"57014", "", store.CodeUnavailable, busyHint},
		{"XX000", "", store.CodeUnavailable, "See the server's log."},
		{"", "", store.CodeUnavailable, "See the server's log."},
	}
	driver := &Driver{config: Config{Instance: "main"}.withDefaults()}
	for _, test := range tests {
		cause := &pgconn.PgError{Code: test.state, Message: "what happened", Hint: test.hint}
		err := driver.failure(fmt.Errorf("querying: %w", cause))
		var failure *store.Error
		if !errors.As(err, &failure) {
			t.Fatalf("%q: %T is no store.Error", test.state, err)
		}
		if failure.Code != test.code || failure.Hint != test.want || failure.Message != "what happened" {
			t.Errorf("%q: got %+v, want code %s, hint %q", test.state, failure, test.code, test.want)
		}
		if !errors.Is(err, cause) {
			t.Errorf("%q: the cause is lost", test.state)
		}
	}
}

func TestFailureKeepsAnErrorOfTheDriver(t *testing.T) {
	cause := store.Errorf(store.CodeUnsupported, "no extension")
	if err := new(Driver).failure(fmt.Errorf("connecting: %w", cause)); err != error(cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}

func TestServerThatIsNotThereIsUnavailable(t *testing.T) {
	directory := t.TempDir()
	driver, err := Open(Config{Instance: "main", SocketDirectory: directory, Port: 5433})
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close()
	_, err = driver.Snapshot(context.Background())
	var failure *store.Error
	if !errors.As(err, &failure) || failure.Code != store.CodeUnavailable {
		t.Fatalf("got %v, want %s", err, store.CodeUnavailable)
	}
	want := fmt.Sprintf("Check that it runs, and that its socket is %s/.s.PGSQL.5433.", directory)
	if failure.Hint != want {
		t.Errorf("got the hint %q, want %q", failure.Hint, want)
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	driver, err := Open(Config{Instance: "main", SocketDirectory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = driver.Describe(ctx)
	if store.CodeOf(err) != store.CodeUnavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a cancelled call", err)
	}
}

func TestOpenRefusesBadConfigurations(t *testing.T) {
	tests := map[string]Config{
		"no name":                    {},
		"a host instead of a folder": {Instance: "main", SocketDirectory: "localhost"},
		"a relative folder":          {Instance: "main", SocketDirectory: "run/postgres"},
	}
	for name, config := range tests {
		driver, err := Open(config)
		if driver != nil || store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%s: got %v, %v, want %s", name, driver, err, store.CodeInvalid)
		}
	}
}

func TestEnvironmentDoesNotDecideWhereToConnect(t *testing.T) {
	for name, value := range map[string]string{
		"PGHOST": "a.example,b.example", "PGPORT": "1,2", "PGUSER": "someone", "PGDATABASE": "other",
		"PGOPTIONS": "-c statement_timeout=0", "PGAPPNAME": "other", "PGSSLMODE": "require",
		"PGTARGETSESSIONATTRS": "read-write",
	} {
		t.Setenv(name, value)
	}
	config, err := Config{Instance: "main"}.withDefaults().poolConfig()
	if err != nil {
		t.Fatal(err)
	}
	connection := config.ConnConfig
	if connection.Host != "/run/sluice/postgres" || connection.Port != 5432 || connection.User != "sluice_agent" ||
		connection.Database != "postgres" || len(connection.Fallbacks) != 0 || connection.ValidateConnect != nil || connection.TLSConfig != nil {
		t.Errorf("got %+v", connection.Config)
	}
	want := map[string]string{
		"application_name": "sluice agent", "statement_timeout": "5000", "lock_timeout": "1000", "search_path": "pg_catalog",
	}
	if fmt.Sprint(connection.RuntimeParams) != fmt.Sprint(want) {
		t.Errorf("got parameters %v, want %v", connection.RuntimeParams, want)
	}
}
