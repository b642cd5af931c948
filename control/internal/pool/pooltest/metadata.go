package pooltest

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/replica"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/tests/process"
)

// Voter holds the metadata of a pool, with others.
type Voter struct {
	Name string

	t           testing.TB
	credentials *security.Credentials
	config      metadata.Config
	link        *link
	metadata    *metadata.Server
	server      *grpc.Server
	end         context.CancelFunc
	ended       chan error
}

// NewMetadata starts so many voters, "voter1" and so on, and gives a client of them.
func NewMetadata(t testing.TB, authority *securitytest.Authority, voters int) ([]*Voter, *metadata.Client) {
	t.Helper()
	var all []replica.Voter
	for i := range voters {
		all = append(all, replica.Voter{Node: fmt.Sprintf("voter%d", i+1), Address: process.FreeAddress(t)})
	}
	var started []*Voter
	var peers []metadata.Peer
	for _, voter := range all {
		v := &Voter{Name: voter.Node, t: t, link: newLink(t), credentials: authority.Open(t, security.RoleAgent, voter.Node)}
		v.config = metadata.Config{Listen: voter.Address, Now: metadata.MonotonicClock(), Replica: replica.Config{
			Node: voter.Node, StateDirectory: process.MemoryDirectory(t), Bootstrap: true, Voters: all, Tuning: tuningOf(voters),
		}}
		v.Start()
		t.Cleanup(v.Stop)
		started = append(started, v)
		peers = append(peers, metadata.Peer{Node: voter.Node, Address: v.link.address()})
	}
	client, err := metadata.NewClient(peers, authority.Open(t, security.RoleAgent, "client"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return started, client
}

// tuningOf lets a voter that is alone lead soon: there is nobody whom it could be too slow for.
func tuningOf(voters int) replica.Tuning {
	tuning := replica.DefaultTuning()
	if voters == 1 {
		tuning.Election, tuning.Lease = 50*time.Millisecond, 50*time.Millisecond
	}
	return tuning
}

// Address is where the voter is reached, also when it was started again.
func (v *Voter) Address() string {
	return v.link.address()
}

// Start serves what is in the state directory.
func (v *Voter) Start() {
	v.t.Helper()
	ctx, end := context.WithCancel(context.Background())
	v.end = end
	var err error
	v.metadata, err = metadata.Open(ctx, v.config, v.credentials, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		v.t.Fatal(err)
	}
	listener, err := protocol.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		v.t.Fatal(err)
	}
	v.server = grpc.NewServer(protocol.ServerOptions(v.credentials)...)
	sluicev1.RegisterPoolMetadataServiceServer(v.server, v.metadata.Service())
	v.ended = make(chan error, 2)
	go func() { v.ended <- v.server.Serve(listener) }()
	go func() { v.ended <- v.metadata.Serve(ctx) }()
	v.link.to(listener.Addr().String())
}

// Stop ends the voter and all connections to it at once.
func (v *Voter) Stop() {
	if v.server == nil {
		return
	}
	v.link.to("")
	v.server.Stop()
	v.end()
	<-v.ended
	<-v.ended
	v.server = nil
	if err := v.metadata.Close(); err != nil {
		v.t.Error(err)
	}
}

// Leads says whether it is the leader, as far as it knows.
func (v *Voter) Leads() bool {
	if v.server == nil {
		return false
	}
	status, err := v.metadata.GetMetadataStatus(context.Background(), &sluicev1.GetMetadataStatusRequest{})
	return err == nil && status.GetLeader() == v.Name
}
