package agent_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/agent"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/tests/process"
)

func poolServer(directory string) *agent.PoolServer {
	return &agent.PoolServer{Directory: directory, ScrubPeriodSeconds: 3600, ScrubBytesPerSecond: 1 << 30}
}

func (n *node) blockService(role security.Role) sluicev1.BlockServiceClient {
	n.t.Helper()
	return sluicev1.NewBlockServiceClient(n.connection(role, "other"))
}

// TestAgentHoldsBlocks which are there after it was started again, and are counted.
func TestAgentHoldsBlocks(t *testing.T) {
	n := newNode(t)
	n.config.Pool.Server = poolServer(filepath.Join(process.MemoryDirectory(t), "blocks"))
	file := stripe.File{
		ID: layout.FileID{7}, Stripes: layout.Stripes{BlockBytes: segment.PageBytes, Slots: 1}, Servers: [][]string{{nodeName}},
	}
	content := strings.Repeat("a line of a file\n", 1000)

	stop := n.start()
	service := n.blockService(security.RoleAgent)
	services := func(string) (sluicev1.BlockServiceClient, error) { return service, nil }
	writer, err := stripe.NewWriter(t.Context(), file, 1, services, stripe.DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Append([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Seal(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	families := n.scrape(security.RoleViewer, "prometheus")
	if got := families["sluice_pool_written_bytes_total"].GetMetric()[0].GetCounter().GetValue(); got != float64(len(content)) {
		t.Errorf("%v bytes are counted of %d", got, len(content))
	}
	stop()

	stop = n.start()
	defer stop()
	service = n.blockService(security.RoleAgent)
	reader, err := stripe.NewReader(file, int64(len(content)), services, stripe.DefaultOptions(), stripe.NewSuspects(time.Now), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(content))
	if _, err := reader.ReadAt(t.Context(), got, 0); err != nil || string(got) != content {
		t.Errorf("equal: %v: %v", string(got) == content, err)
	}
}

// TestBlocksAreForAgents alone: who may read the metrics may not read the data.
func TestBlocksAreForAgents(t *testing.T) {
	n := newNode(t)
	n.config.Pool.Server = poolServer(t.TempDir())
	defer n.start()()
	for _, role := range []security.Role{security.RoleViewer, security.RoleOperator, security.RoleController} {
		if _, err := n.blockService(role).GetBlockSpace(t.Context(), &sluicev1.GetBlockSpaceRequest{}); err == nil {
			t.Errorf("%s was answered", role)
		}
	}
}

// TestTwoAgentsDoNotShareBlocks: the second one says whose they are, and does not start.
func TestTwoAgentsDoNotShareBlocks(t *testing.T) {
	n := newNode(t)
	n.config.Pool.Server = poolServer(t.TempDir())
	defer n.start()()
	second, err := agent.Open(t.Context(), n.config, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "pool.server.directory: another process has the blocks") {
		t.Errorf("opened %v: %v", second, err)
	}
}
