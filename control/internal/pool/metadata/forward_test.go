package metadata_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcmetadata "google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
)

func (c *cluster) passedOn() float64 {
	total := 0.0
	for _, v := range c.voters {
		total += v.metric("sluice_pool_metadata_passed_on_total")
	}
	return total
}

// A client does not reach the leader, which the other voters do: they pass its changes on, each made once, and its lease
// lasts. Once it reaches the leader again it asks that.
func TestClientIsCutOffFromTheLeader(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(w *wire, isCut bool){"closed": (*wire).set, "silent": (*wire).mute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 3).steady().start()
			client := c.farClient("n1")
			lease := c.newStore(client)
			leader := c.leader(c.voters...)
			cut(leader.clients, true)
			c.changeAndRead(client, lease)
			if c.leader(c.voters...) != leader || c.passedOn() == 0 {
				t.Error("another voter leads, or none has passed anything on")
			}
			if err := client.RenewLease(c.patient(), lease); err != nil {
				t.Error(err)
			}
			leader.clients.set(true)
			cut(leader.clients, false)
			leader.clients.set(false)
			c.eventually("the leader to be asked by itself", func() bool {
				before := c.passedOn()
				if _, err := client.Stat(c.patient(), "db", "/"); err != nil {
					t.Fatal(err)
				}
				return c.passedOn() == before
			})
		})
	}
}

func (c *cluster) changeAndRead(client *metadata.Client, lease entry.Lease) {
	c.t.Helper()
	const count = 20
	for number := range count {
		// Made twice, it would be refused.
		if _, err := client.CreateFile(c.patient(), newFile(lease, 'a', number)); err != nil {
			c.t.Fatal(err)
		}
	}
	c.requireNames(client, count)
}

func (c *cluster) requireNames(client *metadata.Client, count int) {
	c.t.Helper()
	names := c.names(client)
	for number := range count {
		if name := fmt.Sprintf("a%d", number); names[name] == nil {
			c.t.Errorf("%s was made, and is not there", name)
		}
	}
}

// The leader goes while calls are passed on to it: what was answered is there, and nothing is made twice.
func TestLeaderIsLostBehindAnother(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3).start()
	client := c.farClient("n1")
	lease := c.newStore(client)
	first := c.leader(c.voters...)
	first.clients.set(true)
	var stop atomic.Bool
	var done atomic.Int64
	made := make(chan int, 1)
	go func() {
		count, err := c.write(client, lease, 'a', &stop, func() { done.Add(1) })
		if err != nil {
			t.Error(err)
		}
		made <- count
	}()
	c.eventually("changes that were passed on", func() bool { return done.Load() > 20 && c.passedOn() > 0 })
	first.stop()
	before := done.Load()
	c.eventually("changes with another leader", func() bool { return done.Load() > before+20 })
	stop.Store(true)
	c.requireAll(c.client("n2", c.others(first)...), []byte("a"), []int{<-made})
}

// asker calls one voter, and asks it to pass on what it does not lead in.
func (c *cluster) asker(role security.Role, v *voter) (context.Context, sluicev1.PoolMetadataServiceClient) {
	c.t.Helper()
	credentials := c.authority.Open(c.t, role, "asker")
	connection, err := grpc.NewClient(v.calls, protocol.DialOptions(credentials, security.RoleAgent, v.node)...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = connection.Close() })
	return grpcmetadata.AppendToOutgoingContext(c.patient(), "sluice-pool-pass-on", "leader"), sluicev1.NewPoolMetadataServiceClient(connection)
}

// Nobody may do more by way of a voter, whose own certificate is an agent's.
func TestRolesCountWhereACallArrives(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3).steady().start()
	c.newStore(c.client("n1"))
	other := c.others(c.leader(c.voters...))[0]
	ctx, viewer := c.asker(security.RoleViewer, other)
	change := &sluicev1.ChangeMetadataRequest{
		RequestId: &sluicev1.MetadataRequestId{Client: make([]byte, 16), Serial: 1},
		Change:    &sluicev1.ChangeMetadataRequest_CreateVolume{CreateVolume: &sluicev1.CreateVolumeChange{Volume: "stolen"}},
	}
	if _, err := viewer.ChangeMetadata(ctx, change); status.Code(err) != codes.PermissionDenied {
		t.Errorf("a viewer has changed something: %v", err)
	}
	if _, err := viewer.StatPath(ctx, &sluicev1.StatPathRequest{Volume: "db", Path: "/"}); err != nil {
		t.Errorf("a viewer may read: %v", err)
	}
	ctx, agent := c.asker(security.RoleAgent, other)
	if _, err := agent.ChangeMetadata(ctx, change); err != nil {
		t.Error(err)
	}
	// The same again, to the leader itself, is not made again.
	_, direct := c.asker(security.RoleAgent, c.leader(c.voters...))
	if _, err := direct.ChangeMetadata(c.patient(), change); err != nil {
		t.Errorf("the change was made twice: %v", err)
	}
}

// Whoever asks without the header is told who leads, and what the leader refuses comes back as it has refused it.
func TestOneHopAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3).steady().start()
	c.newStore(c.client("n1"))
	leader := c.leader(c.voters...)
	ctx, agent := c.asker(security.RoleAgent, c.others(leader)[0])
	missing := &sluicev1.StatPathRequest{Volume: "db", Path: "/missing"}
	_, err := agent.StatPath(ctx, missing)
	if refusal := message.RefusalIn(err); refusal == nil || refusal.Reason != entry.NotFound {
		t.Errorf("%v", err)
	}
	before := c.passedOn()
	_, err = agent.StatPath(c.patient(), missing)
	if refusal := message.RefusalIn(err); refusal == nil || refusal.Reason != entry.NotLeader || refusal.Leader != leader.node {
		t.Errorf("%v", err)
	}
	// Nor does it where the leader is not reached by anybody, but says so in time.
	for _, v := range c.voters {
		if v == leader {
			v.stop()
		}
	}
	short, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := agent.StatPath(short, missing); short.Err() != nil {
		t.Errorf("no answer in time: %v", err)
	}
	if after := c.passedOn(); after > before+1 {
		t.Errorf("one call was passed on %v times", after-before)
	}
}
