package repair_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/repair"
)

// bounded is a server with a disk of its own size, where all servers of a test share one.
type bounded struct {
	sluicev1.BlockServiceClient
	server        *pooltest.Server
	capacityBytes uint64
}

func (b bounded) GetBlockSpace(ctx context.Context, request *sluicev1.GetBlockSpaceRequest, options ...grpc.CallOption) (*sluicev1.GetBlockSpaceResponse, error) {
	if _, err := b.BlockServiceClient.GetBlockSpace(ctx, request, options...); err != nil {
		return nil, err
	}
	used, err := b.server.HeldBytes()
	return &sluicev1.GetBlockSpaceResponse{TotalBytes: b.capacityBytes, FreeBytes: b.capacityBytes - used}, err
}

// TestBalanceAfterAJoin fills the new server until all are as full as the others.
func TestBalanceAfterAJoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	session := w.attach("pool1", "pool2", "pool3")
	w.putSome(session, 20)
	services := func(node string) (sluicev1.BlockServiceClient, error) {
		service, err := w.pool.Service(node)
		return bounded{service, w.pool.Servers[node], 1 << 20}, err
	}
	all := []string{"pool1", "pool2", "pool3", "pool4"}
	config := w.config(all...)
	config.BalanceTolerance = 0.03
	registry := prometheus.NewRegistry()
	repairer := repair.New(config, w.metadata, services, repair.NewMetrics(registry), slog.New(slog.DiscardHandler))
	reader, err := session.Open(t.Context(), "/000019.sst")
	if err != nil {
		t.Fatal(err)
	}
	w.settle(repairer)
	w.mustBeWhole(all...)
	w.mustReadAll(reader)
	servers := repair.Ask(t.Context(), all, services, w.patience)
	if _, err := repair.Look(t.Context(), w.metadata.Files, servers); err != nil {
		t.Fatal(err)
	}
	for one, server := range servers {
		for other, than := range servers {
			if server.Fill()-than.Fill() > 2*config.BalanceTolerance {
				t.Errorf("%s is filled to %f, and %s to %f", one, server.Fill(), other, than.Fill())
			}
		}
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v: %v", problems, err)
	}
	if got := servers["pool4"].HeldBytes; got == 0 {
		t.Error("the new server has nothing")
	}
}

// TestBalanceKeepsCopiesApart: with as many servers as copies, all of them have to hold as much, however small one is.
func TestBalanceKeepsCopiesApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	session := w.attach("pool1", "pool2")
	w.putSome(session, 6)
	services := func(node string) (sluicev1.BlockServiceClient, error) {
		service, err := w.pool.Service(node)
		return bounded{service, w.pool.Servers[node], map[string]uint64{"pool1": 1 << 20, "pool2": 1 << 24}[node]}, err
	}
	config := w.config("pool1", "pool2")
	config.BalanceTolerance = 0.01
	w.settle(repair.New(config, w.metadata, services, repair.NewMetrics(prometheus.NewRegistry()), slog.New(slog.DiscardHandler)))
	w.mustBeWhole("pool1", "pool2")
}

// TestRunRepairs until its context ends, and gives the lease back then.
func TestRunRepairs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	session := w.attach("pool1", "pool2")
	w.putSome(session, 3)
	w.pool.Servers["pool1"].Stop()
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	config := w.config("pool1", "pool2", "pool3")
	config.Period = time.Hour
	repairer := repair.New(config, w.metadata, w.pool.Service, repair.NewMetrics(prometheus.NewRegistry()), slog.New(slog.DiscardHandler))
	go func() {
		defer close(ended)
		repairer.Run(ctx)
	}()
	eventually(t, "all is repaired", func() bool { return w.listedOn("pool1") == 0 })
	end()
	<-ended
	w.mustBeWhole("pool2", "pool3")
	leases, _, err := w.metadata.Leases(t.Context(), repair.Volume, entry.Page[string]{})
	if err != nil || len(leases) > 0 {
		t.Errorf("%v: %v", leases, err)
	}
}

// listedOn counts the files that have a part on a server.
func (w *world) listedOn(server string) int {
	w.t.Helper()
	files, _, err := w.metadata.FilesOn(w.t.Context(), server, entry.Page[*entry.FileID]{})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(files)
}
