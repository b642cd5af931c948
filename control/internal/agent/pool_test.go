package agent_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice.dev/control/internal/agent"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/tests/process"
)

func holdMetadata(n *node) {
	n.config.Pool.Metadata = &agent.PoolMetadata{
		Listen: "127.0.0.1:0", StateDirectory: filepath.Join(process.MemoryDirectory(n.t), "state"), Bootstrap: true,
		Voters: []agent.PoolVoter{{Node: nodeName, Address: "127.0.0.1:1"}},
	}
}

func (n *node) metadataClient() *metadata.Client {
	n.t.Helper()
	client, err := metadata.NewClient([]metadata.Peer{{Node: nodeName, Address: n.agent.Address().String()}},
		n.authority.Open(n.t, security.RoleAgent, "db-2"))
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { client.Close() })
	return client
}

// An agent that is the only voter holds metadata, also over its restart, and has its metrics beside its own.
func TestAgentHoldsMetadata(t *testing.T) {
	n := newNode(t)
	holdMetadata(n)
	stop := n.start()
	if err := n.metadataClient().CreateVolume(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	families := n.scrape(security.RoleViewer, "prometheus")
	for name, want := range map[string]float64{"sluice_pool_metadata_is_leader": 1, "sluice_pool_metadata_volumes": 1} {
		if got := families[name].GetMetric()[0].GetGauge().GetValue(); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	stop()
	n.config.Pool.Metadata.Bootstrap = false
	n.start()
	volumes, _, err := n.metadataClient().Volumes(t.Context(), entry.Page[string]{})
	if err != nil || len(volumes) != 1 || volumes[0] != "orders" {
		t.Errorf("%v, %v", volumes, err)
	}
}

func TestAgentWithoutMetadataDoesNotServeIt(t *testing.T) {
	n := newNode(t)
	n.start()
	if _, _, err := n.metadataClient().Volumes(t.Context(), entry.Page[string]{}); err == nil || !strings.Contains(err.Error(), "PoolMetadataService") {
		t.Errorf("%v", err)
	}
}

func TestMetadataThatCannotBeOpenedIsNamed(t *testing.T) {
	n := newNode(t)
	holdMetadata(n)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	n.config.Pool.Metadata.Listen = taken.Addr().String()
	if _, err := agent.Open(t.Context(), n.config, nil); err == nil || !strings.Contains(err.Error(), "pool.metadata: listen: ") {
		t.Errorf("%v does not name the key", err)
	}
}

// Whoever copies the example of the page must not be stopped by what the agent refuses.
func TestExampleOfThePoolPageLoads(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "pool-metadata.md"))
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindSubmatch(page)
	if example == nil {
		t.Fatal("there is no example")
	}
	const around = `cluster: east
node: db-1
tls: {certificate_file: /a, key_file: /b, ca_file: /c}
`
	file := filepath.Join(t.TempDir(), "agent.yml")
	if err := os.WriteFile(file, append([]byte(around), example[1]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Load(file); err != nil {
		t.Error(err)
	}
}
