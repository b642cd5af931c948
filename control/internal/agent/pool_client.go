package agent

import (
	"errors"
	"fmt"
	"log/slog"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/peers"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/security"
)

// PoolClient says where a pool is, for those that use it from this node.
type PoolClient struct {
	// Voters are the agents that hold its metadata, Servers those that hold blocks.
	Voters  []Peer `yaml:"voters"`
	Servers []Peer `yaml:"servers"`
	// Copies and BlockBytes are those of new files.
	Copies     int    `yaml:"copies"`
	BlockBytes uint64 `yaml:"block_bytes"`
	// Socket is where the stores of this node find the pool's files; empty for nowhere.
	Socket string `yaml:"socket"`
	// LeaseSeconds is how long the directory of a store is nobody's once this agent is gone.
	LeaseSeconds float64 `yaml:"lease_seconds"`
	// RepairBytesPerSecond bounds what this agent moves when it is the one that repairs the pool; with 0 it never is.
	RepairBytesPerSecond uint64 `yaml:"repair_bytes_per_second"`
	// RepairAfterSeconds is how long a server may not answer until its copies are made anew on others.
	RepairAfterSeconds float64 `yaml:"repair_after_seconds"`
	// BalanceTolerancePercent is how far from the mean servers may be filled; 100 moves nothing.
	BalanceTolerancePercent float64 `yaml:"balance_tolerance_percent"`
}

const (
	defaultPoolCopies     = 2
	defaultPoolBlockBytes = 1 << 20
	mostPoolBlockBytes    = 64 << 20
	mostPoolVoters        = 5
	defaultPoolLease      = 10
	leastPoolLease        = 5
	longestPoolLease      = 3600
	defaultRepairRate     = 10 << 20
	leastRepairRate       = 4096
	defaultRepairAfter    = 900
	leastRepairAfter      = 30
	longestRepairAfter    = 366 * 86400
	defaultBalance        = 5
	mostBalance           = 100
)

// UnmarshalYAML sets the defaults of what is left out.
func (c *PoolClient) UnmarshalYAML(unmarshal func(any) error) error {
	*c = PoolClient{
		Copies: defaultPoolCopies, BlockBytes: defaultPoolBlockBytes, LeaseSeconds: defaultPoolLease,
		RepairBytesPerSecond: defaultRepairRate, RepairAfterSeconds: defaultRepairAfter, BalanceTolerancePercent: defaultBalance,
	}
	type plain PoolClient
	return unmarshal((*plain)(c))
}

func (c *PoolClient) check(key string) error {
	problems := []error{
		checkPeers(key+".voters", c.Voters, mostPoolVoters),
		checkPeers(key+".servers", c.Servers, entry.MaxSlots),
		checkRange(key+".copies", float64(c.Copies), 1, layout.MaxCopies),
		checkRange(key+".block_bytes", float64(c.BlockBytes), segment.PageBytes, mostPoolBlockBytes),
		checkRange(key+".lease_seconds", c.LeaseSeconds, leastPoolLease, longestPoolLease),
		checkRange(key+".repair_after_seconds", c.RepairAfterSeconds, leastRepairAfter, longestRepairAfter),
		checkRange(key+".balance_tolerance_percent", c.BalanceTolerancePercent, 1, mostBalance),
	}
	if c.RepairBytesPerSecond != 0 {
		problems = append(problems,
			checkRange(key+".repair_bytes_per_second", float64(c.RepairBytesPerSecond), leastRepairRate, mostPoolBytes))
	}
	if c.Socket != "" {
		problems = append(problems, checkPath(key+".socket", c.Socket))
	}
	if c.BlockBytes&(c.BlockBytes-1) != 0 {
		problems = append(problems, fmt.Errorf("%s.block_bytes must be a power of two, not %d", key, c.BlockBytes))
	}
	if len(c.Servers) < c.Copies {
		problems = append(problems, fmt.Errorf("%s.servers has %d entries, which are too few for %d copies", key, len(c.Servers), c.Copies))
	}
	return errors.Join(problems...)
}

func (c *PoolClient) voters() []metadata.Peer {
	var voters []metadata.Peer
	for _, voter := range c.Voters {
		voters = append(voters, metadata.Peer(voter))
	}
	return voters
}

func checkPeers(key string, named []Peer, most int) error {
	problems := []error{checkCount(key, len(named), most)}
	if len(named) == 0 {
		problems = append(problems, fmt.Errorf("%s is missing: name nodes and addresses of the agents", key))
	}
	seen := make(map[string]bool)
	for i, peer := range named {
		entry := fmt.Sprintf("%s[%d]", key, i)
		problems = append(problems, checkIdentity(entry+".node", peer.Node), checkAddress(entry+".address", peer.Address))
		if seen[peer.Node] {
			problems = append(problems, fmt.Errorf("%s.node %q is there twice: name each once", entry, peer.Node))
		}
		seen[peer.Node] = true
	}
	return errors.Join(problems...)
}

// PoolAccess are the connections to a pool.
type PoolAccess struct {
	Metadata *metadata.Client
	Servers  *peers.Peers
	// Copies and BlockBytes are those of new files.
	Copies     int
	BlockBytes int64

	credentials *security.Credentials
}

// OpenPool connects to the pool of a configuration, as the node that it is of.
func OpenPool(config Config, logger *slog.Logger) (*PoolAccess, error) {
	client := config.Pool.Client
	if client == nil {
		return nil, errors.New("pool.client is missing: name the voters and servers of the pool")
	}
	credentials, err := security.Open(config.TLS, config.Cluster, logger)
	if err != nil {
		return nil, err
	}
	access := &PoolAccess{Copies: client.Copies, BlockBytes: int64(client.BlockBytes), credentials: credentials}
	var servers []peers.Address
	for _, server := range client.Servers {
		servers = append(servers, peers.Address(server))
	}
	if access.Metadata, err = metadata.NewClient(client.voters(), credentials); err == nil {
		access.Servers, err = peers.Open(credentials, servers)
	}
	if err != nil {
		return nil, errors.Join(err, access.Close())
	}
	return access, nil
}

// Close ends the connections.
func (a *PoolAccess) Close() error {
	a.credentials.Close()
	var problems []error
	if a.Metadata != nil {
		problems = append(problems, a.Metadata.Close())
	}
	if a.Servers != nil {
		problems = append(problems, a.Servers.Close())
	}
	return errors.Join(problems...)
}
