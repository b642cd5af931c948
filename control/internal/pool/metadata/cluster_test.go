package metadata_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/replica"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/tests/process"
)

const (
	clusterName = "east"
	patience    = 2 * time.Minute
)

// cluster are voters in one process, with the network between them through wires that can be cut.
type cluster struct {
	t         *testing.T
	authority *securitytest.Authority
	clock     *clock
	voters    []*voter
	tuning    replica.Tuning
}

// voter is one of them. Its ports and its directory stay the same when it is started again.
type voter struct {
	cluster     *cluster
	node        string
	directory   string
	credentials *security.Credentials
	// raft and calls are where it listens, and wires lead to it, by the name of who uses them.
	raft, calls string
	wires       map[string]*wire
	// clients is the wire of clients that are not to reach all voters.
	clients  *wire
	registry *prometheus.Registry
	stop     func()
}

// clock is the time of leases, which goes on when a test says so.
type clock struct {
	mutex sync.Mutex
	now   time.Duration
}

func (c *clock) read() time.Duration {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

func (c *clock) advance(by time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now += by
}

func newCluster(t *testing.T, count int) *cluster {
	t.Helper()
	c := &cluster{t: t, authority: securitytest.NewAuthority(t, clusterName), clock: &clock{}, tuning: replica.DefaultTuning()}
	// Tests lose leaders often.
	c.tuning.Election, c.tuning.Lease = 500*time.Millisecond, 250*time.Millisecond
	for number := range count {
		node := "n" + strconv.Itoa(number+1)
		v := &voter{
			cluster: c, node: node, directory: filepath.Join(process.MemoryDirectory(t), "state"), raft: process.FreeAddress(t), calls: process.FreeAddress(t),
			credentials: c.authority.Open(t, security.RoleAgent, node), wires: make(map[string]*wire), stop: func() {},
		}
		c.voters = append(c.voters, v)
	}
	for _, to := range c.voters {
		to.clients = newWire(t, to.calls)
		for _, from := range c.voters {
			to.wires[from.node] = newWire(t, to.raft)
		}
	}
	return c
}

// steady is for tests of one leader that goes on: it is not to be deposed for what a busy machine keeps it from.
func (c *cluster) steady() *cluster {
	c.tuning.Election, c.tuning.Lease = 2*time.Second, 2*time.Second
	return c
}

func (c *cluster) start() *cluster {
	c.t.Helper()
	for _, v := range c.voters {
		v.start(true)
	}
	return c
}

func (v *voter) config(bootstrap bool) metadata.Config {
	config := metadata.Config{
		Listen: v.raft, Now: v.cluster.clock.read,
		Replica: replica.Config{Node: v.node, StateDirectory: v.directory, Bootstrap: bootstrap, Tuning: v.cluster.tuning},
	}
	for _, other := range v.cluster.voters {
		config.Replica.Voters = append(config.Replica.Voters, replica.Voter{Node: other.node, Address: other.wires[v.node].address()})
		config.Peers = append(config.Peers, metadata.Peer{Node: other.node, Address: other.calls})
	}
	return config
}

func (v *voter) open(bootstrap bool) (*metadata.Server, error) {
	v.registry = prometheus.NewRegistry()
	return metadata.Open(v.cluster.t.Context(), v.config(bootstrap), v.credentials, v.registry, slog.New(slog.DiscardHandler))
}

func (v *voter) start(bootstrap bool) {
	t := v.cluster.t
	t.Helper()
	opened, err := v.open(bootstrap)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := protocol.Listen(t.Context(), v.calls)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(protocol.ServerOptions(v.credentials)...)
	sluicev1.RegisterPoolMetadataServiceServer(server, opened.Service())
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = server.Serve(listener) })
	loops.Go(func() { _ = opened.Serve(ctx) })
	// As hard as a process can be ended from within: calls get no answer, and nobody is told.
	v.stop = sync.OnceFunc(func() {
		cancel()
		server.Stop()
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
		loops.Wait()
	})
	t.Cleanup(v.stop)
}

// client is that of an agent, of these voters or of all.
func (c *cluster) client(name string, voters ...*voter) *metadata.Client {
	c.t.Helper()
	if len(voters) == 0 {
		voters = c.voters
	}
	var peers []metadata.Peer
	for _, v := range voters {
		peers = append(peers, metadata.Peer{Node: v.node, Address: v.calls})
	}
	return c.clientOf(name, peers)
}

// farClient is one that reaches voters through their wires of clients.
func (c *cluster) farClient(name string) *metadata.Client {
	c.t.Helper()
	var peers []metadata.Peer
	for _, v := range c.voters {
		peers = append(peers, metadata.Peer{Node: v.node, Address: v.clients.address()})
	}
	return c.clientOf(name, peers)
}

func (c *cluster) clientOf(name string, peers []metadata.Peer) *metadata.Client {
	c.t.Helper()
	client, err := metadata.NewClient(peers, c.authority.Open(c.t, security.RoleAgent, name))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { client.Close() })
	return client
}

func (c *cluster) patient() context.Context {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	c.t.Cleanup(cancel)
	return ctx
}

// leader waits for one of these to lead, by their metrics.
func (c *cluster) leader(among ...*voter) *voter {
	c.t.Helper()
	var found *voter
	c.eventually("a leader", func() bool {
		for _, v := range among {
			if v.metric("sluice_pool_metadata_is_leader") == 1 {
				found = v
				return true
			}
		}
		return false
	})
	return found
}

func (v *voter) metric(name string) float64 {
	v.cluster.t.Helper()
	families, err := v.registry.Gather()
	if err != nil {
		v.cluster.t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			metric := family.GetMetric()[0]
			return metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	v.cluster.t.Fatalf("there is no metric %s", name)
	return 0
}

func (c *cluster) others(than *voter) []*voter {
	var others []*voter
	for _, v := range c.voters {
		if v != than {
			others = append(others, v)
		}
	}
	return others
}

// cutOff has nothing pass between a voter and the others until it is joined again.
func (c *cluster) cutOff(v *voter, isCut bool) {
	for _, other := range c.others(v) {
		other.wires[v.node].set(isCut)
		v.wires[other.node].set(isCut)
	}
}

func (c *cluster) eventually(what string, condition func() bool) {
	c.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			c.t.Fatalf("in vain waited for %s", what)
		}
	}
}

func fileID(kind byte, number int) entry.FileID {
	return entry.FileID{0: kind, 14: byte(number >> 8), 15: byte(number)}
}

func layout() entry.Layout {
	return entry.Layout{BlockBytes: 1 << 20, Servers: [][]string{{"n1", "n2", "n3"}, {"n2", "n3", "n1"}}}
}

// newStore makes a volume, and has the lease on all of it.
func (c *cluster) newStore(client *metadata.Client) entry.Lease {
	c.t.Helper()
	if err := client.CreateVolume(c.patient(), "db"); err != nil {
		c.t.Fatal(err)
	}
	lease, open, err := client.AcquireLease(c.patient(), metadata.NewLease{Volume: "db", Path: "/", Holder: "store", TimeToLive: time.Minute})
	if err != nil || len(open) != 0 {
		c.t.Fatal(open, err)
	}
	return lease
}

func newFile(lease entry.Lease, kind byte, number int) metadata.NewFile {
	return metadata.NewFile{
		At: metadata.At{Volume: "db", Path: fmt.Sprintf("/%c%d", kind, number), Epoch: lease.Epoch}, ID: fileID(kind, number), Layout: layout(),
	}
}
