package agent_test

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"time"

	"sluice.dev/control/internal/agent"
	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/repair"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/security"
)

// newNodeInPool is a node that knows two of the three servers of a pool, which has a volume, and does not repair it.
func newNodeInPool(t *testing.T) (*node, *pooltest.Pool, *metadata.Client) {
	t.Helper()
	pool := pooltest.New(t, 3)
	voters, client := pooltest.NewMetadata(t, pool.Authority, 1)
	n := newNode(t)
	n.authority, n.config.Cluster, n.config.TLS = pool.Authority, "test", pool.Authority.Files(t, security.RoleAgent, nodeName)
	n.config.Pool.Client = &agent.PoolClient{
		Voters: []agent.Peer{{Node: voters[0].Name, Address: voters[0].Address()}}, Copies: 2, BlockBytes: segment.PageBytes,
		LeaseSeconds: 60, RepairAfterSeconds: 900, BalanceTolerancePercent: 100,
	}
	for _, name := range []string{"pool2", "pool3"} {
		n.config.Pool.Client.Servers = append(n.config.Pool.Client.Servers, agent.Peer{Node: name, Address: pool.Servers[name].Address()})
	}
	if err := client.CreateVolume(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	return n, pool, client
}

// inPool is a node that repairs a pool, with a file on the server that it does not know.
func inPool(t *testing.T) (*node, *metadata.Client) {
	t.Helper()
	n, pool, client := newNodeInPool(t)
	n.config.Pool.Client.RepairBytesPerSecond = 1 << 40
	session, err := files.Attach(t.Context(), files.Config{
		Volume: "orders", Path: entry.Root, Holder: "store", TimeToLive: time.Minute, Servers: []string{"pool1", "pool2"}, Copies: 2,
		BlockBytes: segment.PageBytes, Options: stripe.DefaultOptions(), Suspects: stripe.NewSuspects(time.Now),
	}, client, pool.Service, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	writer, err := session.Create(t.Context(), "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	err = errors.Join(writer.Append(bytes.Repeat([]byte("x"), 3*segment.PageBytes)), writer.Seal(t.Context()), session.Detach(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return n, client
}

// TestAgentRepairs what is on a server that is not known any more, counts it, and gives its lease back when it ends.
func TestAgentRepairs(t *testing.T) {
	n, client := inPool(t)
	stop := n.start()
	eventually(t, "nothing is on pool1 any more", func() bool {
		left, _, err := client.FilesOn(t.Context(), "pool1", entry.Page[*entry.FileID]{})
		return err == nil && len(left) == 0
	})
	remade := 0.0
	eventually(t, "it is counted", func() bool {
		families := n.scrape(security.RoleViewer, "prometheus")
		remade = 0
		for _, metric := range families["sluice_pool_repair_bytes_total"].GetMetric() {
			remade += metric.GetCounter().GetValue()
		}
		return families["sluice_pool_repair_segments_left"].GetMetric()[0].GetGauge().GetValue() == 0 && remade == 3*segment.PageBytes
	})
	stop()
	leases, _, err := client.Leases(t.Context(), repair.Volume, entry.Page[string]{})
	if err != nil || len(leases) > 0 {
		t.Errorf("%+v: %v", leases, err)
	}
}

// TestAgentThatDoesNotRepair has neither a lease for it nor its metrics.
func TestAgentThatDoesNotRepair(t *testing.T) {
	n, client := inPool(t)
	n.config.Pool.Client.RepairBytesPerSecond = 0
	n.start()
	if families := n.scrape(security.RoleViewer, "prometheus"); families["sluice_pool_repair_bytes_total"] != nil {
		t.Error("it has metrics of repair")
	}
	if volumes, _, err := client.Volumes(t.Context(), entry.Page[string]{}); err != nil || len(volumes) != 1 {
		t.Errorf("%v: %v", volumes, err)
	}
}
