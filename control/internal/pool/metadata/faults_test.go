package metadata_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/security"
)

// names are all names of the store's directory.
func (c *cluster) names(client *metadata.Client) map[string]*entry.File {
	c.t.Helper()
	all := make(map[string]*entry.File)
	var page entry.Page[string]
	for more := true; more; {
		var names []entry.Name
		var err error
		if names, more, err = client.Directory(c.patient(), "db", "/", page); err != nil {
			c.t.Fatal(err)
		}
		for _, name := range names {
			all[name.Name] = name.File
			page.After = name.Name
		}
	}
	return all
}

// write makes files, and moves every second of them, until it is told to stop; it gives how many it has made. Done
// twice, a creation would be refused, as would a move.
func (c *cluster) write(client *metadata.Client, lease entry.Lease, kind byte, stop *atomic.Bool, made func()) (int, error) {
	for number := 0; ; number++ {
		if stop.Load() {
			return number, nil
		}
		if err := c.writeOne(client, lease, newFile(lease, kind, number), number%2 == 1); err != nil {
			return number, err
		}
		made()
	}
}

func (c *cluster) writeOne(client *metadata.Client, lease entry.Lease, file metadata.NewFile, isMoved bool) error {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	if _, err := client.CreateFile(ctx, file); err != nil {
		return fmt.Errorf("create %s: %w", file.Path, err)
	}
	if !isMoved {
		return nil
	}
	move := metadata.Move{
		Volume: "db", Source: file.Path, SourceEpoch: lease.Epoch, Target: file.Path + "-moved", TargetEpoch: lease.Epoch,
	}
	if _, err := client.Rename(ctx, move); err != nil {
		return fmt.Errorf("move %s: %w", file.Path, err)
	}
	return nil
}

// The leader is lost in the middle of changes, again and again: none that was answered is lost, and none is made twice.
func TestLeaderIsLost(t *testing.T) {
	t.Parallel()
	for _, count := range []int{3, 4} {
		t.Run(fmt.Sprintf("%d voters", count), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, count).start()
			client := c.client("n1")
			lease := c.newStore(client)
			kinds := []byte("abcd")
			counts := make([]int, len(kinds))
			var stop atomic.Bool
			var done atomic.Int64
			var writers sync.WaitGroup
			for i, kind := range kinds {
				writers.Go(func() {
					var err error
					if counts[i], err = c.write(client, lease, kind, &stop, func() { done.Add(1) }); err != nil {
						t.Error(err)
					}
				})
			}
			for range 2 {
				before := done.Load()
				c.eventually("changes", func() bool { return done.Load() > before+20 })
				lost := c.leader(c.voters...)
				lost.stop()
				before = done.Load()
				c.eventually("changes with another leader", func() bool { return done.Load() > before+20 })
				lost.start(false)
			}
			stop.Store(true)
			writers.Wait()
			c.requireAll(c.client("n2"), kinds, counts)
		})
	}
}

func (c *cluster) requireAll(client *metadata.Client, kinds []byte, counts []int) {
	c.t.Helper()
	names := c.names(client)
	total := 0
	for i, kind := range kinds {
		total += counts[i]
		for number := range counts[i] {
			name := fmt.Sprintf("%c%d", kind, number)
			if number%2 == 1 {
				name += "-moved"
			}
			if file := names[name]; file == nil || file.ID != fileID(kind, number) {
				c.t.Errorf("%s was made, and is not there", name)
			}
		}
	}
	if len(names) != total {
		c.t.Errorf("there are %d files of %d that were made", len(names), total)
	}
}

// A leader that is cut off refuses, or does not answer; the others go on, and what it had is theirs when it is back.
func TestMinorityRefuses(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3).start()
	client := c.client("n1")
	lease := c.newStore(client)
	cut := c.leader(c.voters...)
	c.cutOff(cut, true)
	alone := c.client("n2", cut)
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := alone.CreateFile(short, newFile(lease, 'x', 0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a minority has made a file: %v", err)
	}
	short, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := alone.Stat(short, "db", "/"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a minority has read: %v", err)
	}
	majority := c.client("n3", c.others(cut)...)
	if _, err := majority.CreateFile(c.patient(), newFile(lease, 'a', 0)); err != nil {
		t.Fatal(err)
	}
	c.cutOff(cut, false)
	c.eventually("the one that was cut off to have it all", func() bool {
		return cut.metric("sluice_pool_metadata_files") == float64(len(c.names(majority)))
	})
	if names := c.names(client); names["a0"] == nil {
		t.Errorf("%v", names)
	}
}

// All are stopped and started again, with snapshots and a log that was cut on the way.
func TestRestartFromDisk(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c.tuning.SnapshotEntries, c.tuning.TrailingEntries, c.tuning.SnapshotPeriod = 32, 16, 100*time.Millisecond
	c.start()
	client := c.client("n1")
	lease := c.newStore(client)
	away := c.others(c.leader(c.voters...))[0]
	away.stop()
	const count = 120
	for number := range count {
		if _, err := client.CreateFile(c.patient(), newFile(lease, 'a', number)); err != nil {
			t.Fatal(err)
		}
	}
	leader := c.leader(c.others(away)...)
	c.eventually("the log to be cut", func() bool { return leader.metric("sluice_pool_metadata_log_entries") < count })
	// What it lacks is only in the snapshot.
	away.start(false)
	c.eventually("the one that was away to have it all", func() bool { return away.metric("sluice_pool_metadata_files") == count })
	for _, v := range c.voters {
		v.stop()
	}
	for _, v := range c.voters {
		v.start(false)
	}
	if names := c.names(client); len(names) != count {
		t.Errorf("there are %d files of %d", len(names), count)
	}
	// The lease has outlived its leader, and epochs go on.
	if err := client.RenewLease(c.patient(), lease); err != nil {
		t.Error(err)
	}
	at := metadata.At{Volume: "db", Path: "/", Epoch: lease.Epoch}
	if err := client.ReleaseLease(c.patient(), at); err != nil {
		t.Fatal(err)
	}
	next, open, err := client.AcquireLease(c.patient(), metadata.NewLease{Volume: "db", Path: "/", Holder: "other", TimeToLive: time.Minute})
	if err != nil || next.Epoch <= lease.Epoch || len(open) != count {
		t.Errorf("%+v after %+v, %d open files, %v", next, lease, len(open), err)
	}
}

// A voter without its log does not begin a new one by itself; with a copy of the leader's it is one again.
func TestVoterHasLostItsLog(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3).start()
	client := c.client("n1")
	lease := c.newStore(client)
	lost := c.others(c.leader(c.voters...))[0]
	lost.stop()
	if err := os.RemoveAll(lost.directory); err != nil {
		t.Fatal(err)
	}
	if _, err := lost.open(false); err == nil || !strings.Contains(err.Error(), "copy the directory of the leader") {
		t.Fatalf("%v", err)
	}
	if _, err := client.CreateFile(c.patient(), newFile(lease, 'a', 0)); err != nil {
		t.Fatal(err)
	}
	leader := c.leader(c.others(lost)...)
	leader.stop()
	if err := errors.Join(os.RemoveAll(lost.directory), os.CopyFS(lost.directory, os.DirFS(leader.directory))); err != nil {
		t.Fatal(err)
	}
	lost.start(false)
	if _, err := client.CreateFile(c.patient(), newFile(lease, 'a', 1)); err != nil {
		t.Fatal(err)
	}
	leader.start(false)
	if names := c.names(client); len(names) != 2 {
		t.Errorf("%v", names)
	}
}

func TestOtherVotersAreRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1).start()
	v := c.voters[0]
	v.stop()
	config := v.config(false)
	config.Replica.Voters[0].Node = "n2"
	config.Replica.Node = "n2"
	_, err := metadata.Open(t.Context(), config, v.credentials, v.registry, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "[n1]") || !strings.Contains(err.Error(), "[n2]") {
		t.Errorf("%v does not name both lists", err)
	}
}

// Nobody but the agents of voters gets as far as the log.
func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1).start()
	v := c.voters[0]
	c.leader(v)
	for _, stranger := range []*security.Credentials{
		c.authority.Open(t, security.RoleAgent, "n9"), c.authority.Open(t, security.RoleController, "n1"),
		c.authority.Open(t, security.RoleOperator, "n1"),
	} {
		requireClosed(t, v.raft, stranger)
	}
}

// requireClosed waits for a server to close the connection of a caller.
func requireClosed(t *testing.T, address string, caller *security.Credentials) {
	t.Helper()
	raw, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	conn, _, err := caller.ClientTransport(security.RoleAgent, "n1").ClientHandshake(t.Context(), "", raw)
	if err != nil {
		return
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s was let in: %v", caller.Identity(), err)
	}
}
