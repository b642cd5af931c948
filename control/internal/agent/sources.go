package agent

import (
	"fmt"
	"path/filepath"

	"sluice.dev/control/internal/agent/discovery"
	"sluice.dev/control/internal/agent/stores"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/local"
	"sluice.dev/control/internal/store/postgres"
)

// postgresStore is what the driver calls its kind of store.
const postgresStore = "postgres"

// sourcesOf lists the stores of the configuration, and those that were found. One that is configured
// takes the place of one that was found under the same name.
func sourcesOf(configured []Postgres, found []discovery.Socket) []stores.Source {
	var sources []stores.Source
	taken := make(map[stores.Ref]bool)
	for _, instance := range configured {
		source := instance.source()
		sources, taken[source.Ref] = append(sources, source), true
	}
	for _, socket := range found {
		if source := sourceOf(socket); !taken[source.Ref] {
			sources = append(sources, source)
		}
	}
	return sources
}

func (p Postgres) source() stores.Source {
	config := postgres.Config{
		Instance: p.Instance, SocketDirectory: p.SocketDirectory, Port: uint16(p.Port),
		Database: p.Database, User: p.User,
	}
	return stores.Source{
		Ref:    stores.Ref{Store: postgresStore, Instance: p.Instance},
		Socket: filepath.Join(p.SocketDirectory, fmt.Sprintf(".s.PGSQL.%d", p.Port)),
		Open: func() (store.Driver, error) {
			return postgres.Open(config)
		},
	}
}

func sourceOf(socket discovery.Socket) stores.Source {
	return stores.Source{
		Ref:    stores.Ref{Store: socket.Store, Instance: socket.Instance},
		Socket: socket.Path,
		Open: func() (store.Driver, error) {
			return local.Open(socket.Path), nil
		},
	}
}
