// Package peers has a connection to each of the agents that hold blocks of a pool.
package peers

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/payload"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
)

// Address is where the agent of a node serves the network contract.
type Address struct {
	Node, Address string
}

// Peers are the agents that hold blocks.
type Peers struct {
	names       []string
	connections []*grpc.ClientConn
	services    map[string]sluicev1.BlockServiceClient
}

// Open makes the connections, which are established when they are used.
func Open(credentials *security.Credentials, addresses []Address) (*Peers, error) {
	p := &Peers{services: make(map[string]sluicev1.BlockServiceClient)}
	for _, address := range addresses {
		options := append(protocol.DialOptions(credentials, security.RoleAgent, address.Node), payload.DialOptions()...)
		connection, err := grpc.NewClient(address.Address, options...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the address of the server %s: %w", address.Node, err), p.Close())
		}
		p.names = append(p.names, address.Node)
		p.connections = append(p.connections, connection)
		p.services[address.Node] = sluicev1.NewBlockServiceClient(connection)
	}
	return p, nil
}

// Names are the nodes, in the order of the addresses.
func (p *Peers) Names() []string {
	return slices.Clone(p.names)
}

// Service is the client of a node.
func (p *Peers) Service(node string) (sluicev1.BlockServiceClient, error) {
	service := p.services[node]
	if service == nil {
		return nil, fmt.Errorf("the address of the server %q is not known: add it to pool.client.servers", node)
	}
	return service, nil
}

// Close ends the connections.
func (p *Peers) Close() error {
	var problems []error
	for _, connection := range p.connections {
		problems = append(problems, connection.Close())
	}
	return errors.Join(problems...)
}
