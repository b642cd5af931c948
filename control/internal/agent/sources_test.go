package agent

import (
	"testing"

	"sluice.dev/control/internal/agent/discovery"
	"sluice.dev/control/internal/agent/stores"
)

func TestConfiguredStoreGoesBeforeOneThatWasFound(t *testing.T) {
	configured := []Postgres{
		{Instance: "main", SocketDirectory: "/run/postgresql", Port: 5433, Database: "postgres", User: "sluice_agent"},
	}
	found := []discovery.Socket{
		{Store: "postgres", Instance: "main", Path: "/run/sluice/postgres/main.sock"},
		{Store: "rocksdb", Instance: "main", Path: "/run/sluice/rocksdb/main.sock"},
	}
	want := map[stores.Ref]string{
		{Store: "postgres", Instance: "main"}: "/run/postgresql/.s.PGSQL.5433",
		{Store: "rocksdb", Instance: "main"}:  "/run/sluice/rocksdb/main.sock",
	}
	sources := sourcesOf(configured, found)
	if len(sources) != len(want) {
		t.Errorf("%d sources, want %d", len(sources), len(want))
	}
	for _, source := range sources {
		if source.Socket != want[source.Ref] {
			t.Errorf("%v is at %s, want %s", source.Ref, source.Socket, want[source.Ref])
		}
		driver, err := source.Open()
		if err != nil {
			t.Errorf("%v: %v", source.Ref, err)
			continue
		}
		if err := driver.Close(); err != nil {
			t.Errorf("%v: %v", source.Ref, err)
		}
	}
}
