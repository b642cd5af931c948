package controller

import (
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
	processes "sluice.dev/control/tests/process"
)

// describedAgent says its name.
type describedAgent struct {
	sluicev1.UnimplementedAgentServiceServer
	name string
}

func (a describedAgent) Describe(context.Context, *sluicev1.DescribeRequest) (*sluicev1.DescribeResponse, error) {
	return &sluicev1.DescribeResponse{Node: a.name}, nil
}

// serveAgent serves an agent at an address, until the test ends or the function is called.
func serveAgent(t *testing.T, authority *securitytest.Authority, name, address string) (stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(protocol.ServerOptions(authority.Open(t, security.RoleAgent, name))...)
	sluicev1.RegisterAgentServiceServer(server, describedAgent{name: name})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return server.Stop
}

func openChannel(t *testing.T, authority *securitytest.Authority) *agentChannel {
	t.Helper()
	channel, err := openAgentChannel(authority.Open(t, security.RoleController, "c1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := channel.close(); err != nil {
			t.Error(err)
		}
	})
	return channel
}

func linkTo(t *testing.T, channel *agentChannel, node, address string) *agentLink {
	t.Helper()
	link, err := channel.connect(Agent{Node: node, Address: address})
	if err != nil {
		t.Fatal(err)
	}
	return link
}

func describe(t *testing.T, link *agentLink) (string, error) {
	t.Helper()
	answer, err := link.Describe(inTime(t), &sluicev1.DescribeRequest{})
	return answer.GetNode(), err
}

func TestLinksReachTheirAgents(t *testing.T) {
	authority := securitytest.NewAuthority(t, "test")
	channel := openChannel(t, authority)
	links := make(map[string]*agentLink)
	for _, name := range []string{"n1", "n2", "n3"} {
		address := processes.FreeAddress(t)
		serveAgent(t, authority, name, address)
		links[name] = linkTo(t, channel, name, address)
	}
	for range 2 {
		for want, link := range links {
			if got, err := describe(t, link); got != want || err != nil {
				t.Errorf("%s answers as %q, %v", want, got, err)
			}
		}
	}
}

// An order is for one node: that another agent has its address must not do.
func TestLinkRefusesAnotherAgent(t *testing.T) {
	authority := securitytest.NewAuthority(t, "test")
	channel, address := openChannel(t, authority), processes.FreeAddress(t)
	serveAgent(t, authority, "n1", address)
	if _, err := describe(t, linkTo(t, channel, "n2", address)); err == nil || !strings.Contains(err.Error(), "is sluice://test/agent/n1, not agent") {
		t.Errorf("the error is %v", err)
	}
	if got, err := describe(t, linkTo(t, channel, "n1", address)); got != "n1" || err != nil {
		t.Errorf("n1 answers as %q, %v", got, err)
	}
}

func TestLinkConnectsAgain(t *testing.T) {
	authority := securitytest.NewAuthority(t, "test")
	channel, address := openChannel(t, authority), processes.FreeAddress(t)
	stop := serveAgent(t, authority, "n1", address)
	link := linkTo(t, channel, "n1", address)
	if _, err := describe(t, link); err != nil {
		t.Fatal(err)
	}
	stop()
	eventually(t, "the loss of the connection", func() bool { return link.State() != connectivity.Ready })
	if _, err := describe(t, link); store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("without an agent the error is %v", err)
	}
	// From now on it fails at once, and tries again without being asked.
	eventually(t, "an attempt that fails", func() bool { return link.State() == connectivity.TransientFailure })
	serveAgent(t, authority, "n1", address)
	eventually(t, "the connection", func() bool { return link.State() == connectivity.Ready })
	if _, err := describe(t, link); err != nil {
		t.Error(err)
	}
}

func TestStreamOverALink(t *testing.T) {
	authority := securitytest.NewAuthority(t, "test")
	channel, address := openChannel(t, authority), processes.FreeAddress(t)
	serveAgent(t, authority, "n1", address)
	stream, err := linkTo(t, channel, "n1", address).Steer(inTime(t), protocol.ReceiveEncoded())
	if err != nil {
		t.Fatal(err)
	}
	var message protocol.Encoded
	if err := stream.RecvMsg(&message); store.CodeOf(err) != store.CodeUnsupported {
		t.Errorf("an agent without exchanges: %v", err)
	}
}

func TestClosedLink(t *testing.T) {
	authority := securitytest.NewAuthority(t, "test")
	channel, address := openChannel(t, authority), processes.FreeAddress(t)
	serveAgent(t, authority, "n1", address)
	closed, other := linkTo(t, channel, "n1", address), linkTo(t, channel, "n1", address)
	for _, link := range []*agentLink{closed, other} {
		if _, err := describe(t, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the connection", func() bool { return closed.State() == connectivity.Shutdown })
	if _, err := describe(t, closed); store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("the error is %v", err)
	}
	if _, err := describe(t, other); err != nil {
		t.Errorf("another connection: %v", err)
	}
}

// A call that is over before the connection is there does not wait for it.
func TestCallsDoNotOutliveTheirContext(t *testing.T) {
	authority := securitytest.NewAuthority(t, "test")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	link := linkTo(t, openChannel(t, authority), "n1", silent.Addr().String())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := link.Describe(ctx, &sluicev1.DescribeRequest{})
		ended <- err
	}()
	eventually(t, "the attempt", func() bool { return link.State() == connectivity.Connecting })
	cancel()
	if err := receive(t, ended); err == nil {
		t.Error("the call has succeeded")
	}
}
