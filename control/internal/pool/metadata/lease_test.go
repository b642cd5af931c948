package metadata_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/security"
)

func (c *cluster) acquire(client *metadata.Client, path string, outer uint64) (entry.Lease, []entry.OpenFile, error) {
	return client.AcquireLease(c.patient(), metadata.NewLease{
		Volume: "db", Path: path, Holder: "next", TimeToLive: time.Minute, OuterEpoch: outer,
	})
}

// A lease ends by the leader's clock alone, and its holder is fenced from then on; who takes over is told what was left
// open.
func TestLeaseExpires(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3).steady().start()
	client := c.client("n1")
	lease := c.newStore(client)
	left := newFile(lease, 'a', 0)
	if _, err := client.CreateFile(c.patient(), left); err != nil {
		t.Fatal(err)
	}
	if err := client.SetLength(c.patient(), left.ID, lease.Epoch, 5); err != nil {
		t.Fatal(err)
	}
	c.clock.advance(59 * time.Second)
	if err := client.RenewLease(c.patient(), lease); err != nil {
		t.Fatal(err)
	}
	c.clock.advance(59 * time.Second)
	_, _, err := c.acquire(client, "/", 0)
	if refusal := requireRefusal(t, err, entry.LeaseHeld); refusal.Lease == nil || refusal.Lease.Holder != "store" {
		t.Errorf("%+v", refusal)
	}
	c.clock.advance(time.Second)
	next, open, err := c.acquire(client, "/", 0)
	if err != nil || next.Epoch <= lease.Epoch || len(open) != 1 || open[0].Path != "/a0" || open[0].File.LengthBytes != 5 {
		t.Fatalf("%+v, %+v, %v", next, open, err)
	}
	refusal := requireRefusal(t, client.SetLength(c.patient(), left.ID, lease.Epoch, 6), entry.Fenced)
	if refusal.Lease == nil || refusal.Lease.Epoch != next.Epoch || refusal.Hint == "" {
		t.Errorf("%+v", refusal)
	}
	requireRefusal(t, client.RenewLease(c.patient(), lease), entry.Fenced)
	if err := client.SealFile(c.patient(), left.ID, next.Epoch, 5); err != nil {
		t.Error(err)
	}
}

// A new leader lets each lease have its full time again.
func TestLeaseOutlivesItsLeader(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3).steady().start()
	client := c.client("n1")
	lease := c.newStore(client)
	c.clock.advance(59 * time.Second)
	c.leader(c.voters...).stop()
	if _, err := client.Stat(c.patient(), "db", "/"); err != nil {
		t.Fatal(err)
	}
	// The time of the lease begins when the new leader has looked at it, at the latest here.
	_, _, err := c.acquire(client, "/", 0)
	requireRefusal(t, err, entry.LeaseHeld)
	c.clock.advance(59 * time.Second)
	_, _, err = c.acquire(client, "/", 0)
	requireRefusal(t, err, entry.LeaseHeld)
	c.clock.advance(time.Second)
	if next, _, err := c.acquire(client, "/", 0); err != nil || next.Epoch <= lease.Epoch {
		t.Errorf("%+v, %v", next, err)
	}
}

// Every method of the client, from a store's and its worker's life.
func TestStoreAndWorker(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1).start()
	store, worker, ctx := c.client("n1"), c.client("n2"), c.patient()
	lease := c.newStore(store)
	at := func(path string, epoch uint64) metadata.At {
		return metadata.At{Volume: "db", Path: path, Epoch: epoch}
	}
	require := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	require(store.CreateDirectory(ctx, at("/job", lease.Epoch)))
	nested, _, err := c.acquire(worker, "/job", lease.Epoch)
	require(err)
	output := metadata.NewFile{At: at("/job/7.sst", nested.Epoch), ID: fileID('o', 7), Layout: layout()}
	_, err = worker.CreateFile(ctx, output)
	require(err)
	require(worker.SealFile(ctx, output.ID, nested.Epoch, 9<<20))
	_, err = store.Rename(ctx, metadata.Move{
		Volume: "db", Source: "/job/7.sst", SourceEpoch: nested.Epoch, Target: "/7.sst", TargetEpoch: lease.Epoch,
	})
	require(err)
	require(store.ReleaseLease(ctx, at("/job", lease.Epoch)))
	_, err = worker.CreateFile(ctx, metadata.NewFile{At: at("/job/8.sst", nested.Epoch), ID: fileID('o', 8), Layout: layout()})
	requireRefusal(t, err, entry.Fenced)
	require(store.RemoveDirectory(ctx, at("/job", lease.Epoch)))

	require(store.LinkFile(ctx, metadata.Move{
		Volume: "db", Source: "/7.sst", SourceEpoch: lease.Epoch, Target: "/checkpoint.sst", TargetEpoch: lease.Epoch,
	}))
	part := metadata.Part{ID: output.ID, Place: entry.Place{Slot: 1, Copy: 1}}
	require(worker.MarkMissing(ctx, part))
	byID, err := worker.File(ctx, output.ID)
	require(err)
	none, err := worker.File(ctx, fileID('o', 8))
	require(err)
	if byID == nil || byID.ID != output.ID || none != nil {
		t.Errorf("%+v, %+v", byID, none)
	}
	file, err := worker.Stat(ctx, "db", "/7.sst")
	require(err)
	if !file.Sealed || file.Links != 2 || file.LengthBytes != 9<<20 || len(file.Missing) != 1 || file.Missing[0] != part.Place {
		t.Errorf("%+v", file)
	}
	over := part
	over.Epoch = nested.Epoch
	requireRefusal(t, worker.ReplaceServer(ctx, over, "n3", "n4"), entry.Fenced)
	part.Epoch = lease.Epoch
	require(worker.ReplaceServer(ctx, part, "n3", "n4"))
	requireRefusal(t, worker.ReplaceServer(ctx, part, "n3", "n5"), entry.OtherServer)
	require(worker.MarkMissing(ctx, part))
	require(worker.ClearMissing(ctx, part))
	files, more, err := worker.FilesOn(ctx, "n4", entry.Page[*entry.FileID]{})
	require(err)
	if more || len(files) != 1 || files[0].Layout.Servers[1][1] != "n4" || len(files[0].Missing) != 0 {
		t.Errorf("%+v", files)
	}
	leases, _, err := worker.Leases(ctx, "db", entry.Page[string]{})
	require(err)
	if len(leases) != 1 || leases[0] != lease {
		t.Errorf("%+v, want %+v", leases, lease)
	}

	removal, err := store.RemoveFile(ctx, at("/checkpoint.sst", lease.Epoch))
	require(err)
	if removal != nil {
		t.Errorf("%+v has another path", removal)
	}
	replacing := metadata.NewFile{At: at("/7.sst", lease.Epoch), ID: fileID('o', 9), Layout: layout(), Replace: true}
	removal, err = store.CreateFile(ctx, replacing)
	require(err)
	removals, _, err := worker.Removals(ctx, entry.Page[*entry.FileID]{})
	require(err)
	if removal == nil || removal.ID != output.ID || len(removals) != 1 || removals[0].ID != output.ID {
		t.Errorf("%+v, %+v", removal, removals)
	}
	require(worker.ConfirmRemoval(ctx, output.ID))
	_, err = store.RemoveFile(ctx, at("/7.sst", lease.Epoch))
	require(err)
	require(store.ReleaseLease(ctx, at("/", lease.Epoch)))
	require(store.RemoveVolume(ctx, "db"))
	volumes, _, err := store.Volumes(ctx, entry.Page[string]{})
	require(err)
	if len(volumes) != 0 {
		t.Errorf("%v", volumes)
	}
}

func requireRefusal(t *testing.T, err error, want entry.Reason) *entry.Refusal {
	t.Helper()
	var refusal *entry.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != want {
		t.Fatalf("%v, want it refused as %s", err, want)
	}
	return refusal
}

// A viewer reads, and does not change anything.
func TestViewersRead(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1).start()
	c.newStore(c.client("n1"))
	viewer, err := metadata.NewClient(
		[]metadata.Peer{{Node: "n1", Address: c.voters[0].calls}}, c.authority.Open(t, security.RoleViewer, "v"))
	if err != nil {
		t.Fatal(err)
	}
	defer viewer.Close()
	if _, err := viewer.Stat(c.patient(), "db", "/"); err != nil {
		t.Error(err)
	}
	if err := viewer.CreateVolume(c.patient(), "other"); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a viewer has made a volume: %v", err)
	}
}
