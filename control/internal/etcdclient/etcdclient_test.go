package etcdclient

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// emptyKeys is the part of etcd that is read, without any key.
type emptyKeys struct {
	etcdserverpb.UnimplementedKVServer
}

func (emptyKeys) Range(context.Context, *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	return &etcdserverpb.RangeResponse{Header: &etcdserverpb.ResponseHeader{}}, nil
}

func serveKeys(t *testing.T) net.Addr {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	etcdserverpb.RegisterKVServer(server, emptyKeys{})
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return listener.Addr()
}

// network is the way to a server. What is cut off stays open, and nothing gets through; new connections do.
type network struct {
	listener net.Listener
	server   net.Addr

	mutex sync.Mutex
	links []*link
}

type link struct {
	client, server net.Conn
	isCut          atomic.Bool
}

func newNetwork(t *testing.T, server net.Addr) *network {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{listener: listener, server: server}
	var accepting sync.WaitGroup
	accepting.Go(n.accept)
	t.Cleanup(func() {
		listener.Close()
		accepting.Wait()
		n.each(func(l *link) {
			l.client.Close()
			l.server.Close()
		})
	})
	return n
}

func (n *network) accept() {
	for {
		client, err := n.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", n.server.String())
		if err != nil {
			client.Close()
			continue
		}
		made := &link{client: client, server: server}
		n.mutex.Lock()
		n.links = append(n.links, made)
		n.mutex.Unlock()
		go made.pass(client, server)
		go made.pass(server, client)
	}
}

func (l *link) pass(from, to net.Conn) {
	buffer := make([]byte, 4096)
	for {
		count, err := from.Read(buffer)
		if err != nil {
			return
		}
		if l.isCut.Load() {
			continue
		}
		if _, err := to.Write(buffer[:count]); err != nil {
			return
		}
	}
}

func (n *network) each(do func(*link)) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, l := range n.links {
		do(l)
	}
}

func TestAMemberThatIsGoneWithoutAWordIsNoticed(t *testing.T) {
	t.Parallel()
	way := newNetwork(t, serveKeys(t))
	client, err := New([]string{"http://" + way.listener.Addr().String()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	get := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Get(ctx, "key")
		return err
	}
	for begun := time.Now(); get() != nil; {
		if time.Since(begun) > time.Minute {
			t.Fatal("there is no answer to begin with")
		}
	}
	way.each(func(l *link) { l.isCut.Store(true) })
	if get() == nil {
		t.Fatal("an answer came over a connection that is cut off")
	}
	for begun := time.Now(); ; {
		if err := get(); err == nil {
			return
		} else if time.Since(begun) > 3*(keepaliveTime+keepaliveTimeout) {
			t.Fatalf("the connection that is cut off is still taken for good: %v", err)
		}
	}
}
