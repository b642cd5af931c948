package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"sluice.dev/control/internal/agent/discovery"
	"sluice.dev/control/internal/clients"
	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/policy"
)

const (
	defaultClientsSocket = "/run/sluice/clients/agent.sock"
	maxClientStores      = 8
)

// Clients says what response times the agent takes from the clients of stores.
type Clients struct {
	// Socket is where the clients on this node find the agent. Who may open it may report.
	Socket string `yaml:"socket"`
	// Stores are the kinds of stores that reports are taken of.
	Stores []string `yaml:"stores"`
}

// UnmarshalYAML sets the defaults of what is left out.
func (c *Clients) UnmarshalYAML(unmarshal func(any) error) error {
	*c = Clients{Socket: defaultClientsSocket}
	type plain Clients
	return unmarshal((*plain)(c))
}

func (c *Clients) check(key string) error {
	problems := []error{checkPath(key+".socket", c.Socket)}
	if len(c.Stores) < 1 || len(c.Stores) > maxClientStores {
		problems = append(problems, fmt.Errorf("%s.stores must have 1 to %d kinds of stores, not %d", key, maxClientStores, len(c.Stores)))
	}
	seen := make(map[string]bool)
	for i, kind := range c.Stores {
		if !discovery.ValidName(kind) {
			problems = append(problems, fmt.Errorf("%s.stores[%d] must be a kind of store such as hbase, not %q", key, i, kind))
		}
		if seen[kind] {
			problems = append(problems, fmt.Errorf("%s.stores[%d] %q is there twice: name each kind once", key, i, kind))
		}
		seen[kind] = true
	}
	return errors.Join(problems...)
}

// clientReports takes what clients report; its parts are nil where that is not configured.
type clientReports struct {
	listener  net.Listener
	collector *clients.Collector
	server    *clients.Server
}

func (a *Agent) openClients(ctx context.Context) error {
	config := a.config.Clients
	if config == nil {
		return nil
	}
	var err error
	if a.clients.listener, err = localprotocol.Listen(ctx, config.Socket); err != nil {
		return fmt.Errorf("clients.socket: %w", err)
	}
	a.clients.collector = clients.NewCollector(config.Stores, time.Now)
	a.clients.server = clients.NewServer(a.clients.collector, a.logger)
	return nil
}

// serveClients runs until its context ends.
func (a *Agent) serveClients(ctx context.Context, run func(func()), failures chan<- error) {
	if a.clients.server == nil {
		return
	}
	run(func() {
		if err := a.clients.server.Serve(ctx, a.clients.listener); err != nil {
			failures <- err
		}
	})
}

func (a *Agent) closeClients() error {
	if a.clients.listener == nil {
		return nil
	}
	return a.clients.listener.Close()
}

// clientLatencies are what clients have reported lately.
func (a *Agent) clientLatencies() []policy.ClientLatencies {
	if a.clients.collector == nil {
		return nil
	}
	return a.clients.collector.Latencies()
}

func (a *Agent) clientUsage() map[string]clients.Usage {
	if a.clients.collector == nil {
		return nil
	}
	return a.clients.collector.Usage()
}
