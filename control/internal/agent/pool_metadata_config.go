package agent

import (
	"errors"
	"fmt"
	"slices"

	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/replica"
)

// PoolMetadata has the agent be one of those that hold a pool's metadata.
type PoolMetadata struct {
	// Listen is where the other voters reach this one.
	Listen         string `yaml:"listen"`
	StateDirectory string `yaml:"state_directory"`
	// Bootstrap lets an empty state directory begin a new pool.
	Bootstrap bool `yaml:"bootstrap"`
	// Voters are all of them, this one too.
	Voters []PoolVoter `yaml:"voters"`
}

// PoolVoter is a node that holds a pool's metadata, and the address of its listen.
type PoolVoter struct {
	Node    string `yaml:"node"`
	Address string `yaml:"address"`
}

const (
	defaultMetadataListen         = "0.0.0.0:7413"
	defaultMetadataStateDirectory = "/var/lib/sluice-agent/pool-metadata"
)

// voterCounts are those with a majority that is worth its cost: two need both.
var voterCounts = []int{1, 3, 4, 5}

// UnmarshalYAML sets the defaults of what is left out.
func (m *PoolMetadata) UnmarshalYAML(unmarshal func(any) error) error {
	*m = PoolMetadata{Listen: defaultMetadataListen, StateDirectory: defaultMetadataStateDirectory}
	type plain PoolMetadata
	return unmarshal((*plain)(m))
}

func (m *PoolMetadata) check(key, node string) error {
	problems := []error{
		checkAddress(key+".listen", m.Listen),
		checkPath(key+".state_directory", m.StateDirectory),
	}
	if !slices.Contains(voterCounts, len(m.Voters)) {
		problems = append(problems, fmt.Errorf("%s.voters has %d entries, where 1, 3, 4 or 5 are allowed", key, len(m.Voters)))
	}
	isNamed := make(map[string]bool)
	for i, voter := range m.Voters {
		entry := fmt.Sprintf("%s.voters[%d]", key, i)
		problems = append(problems, checkIdentity(entry+".node", voter.Node), checkAddress(entry+".address", voter.Address))
		if isNamed[voter.Node] {
			problems = append(problems, fmt.Errorf("%s.node %q is there twice: name each voter once", entry, voter.Node))
		}
		isNamed[voter.Node] = true
	}
	if !isNamed[node] {
		problems = append(problems, fmt.Errorf("%s.voters does not have this node, %q: add it, or take %s away", key, node, key))
	}
	return errors.Join(problems...)
}

func (m *PoolMetadata) server(node string) metadata.Config {
	config := metadata.Config{
		Listen: m.Listen, Now: metadata.MonotonicClock(),
		Replica: replica.Config{
			Node: node, StateDirectory: m.StateDirectory, Bootstrap: m.Bootstrap, Tuning: replica.DefaultTuning(),
		},
	}
	for _, voter := range m.Voters {
		config.Replica.Voters = append(config.Replica.Voters, replica.Voter(voter))
	}
	return config
}
