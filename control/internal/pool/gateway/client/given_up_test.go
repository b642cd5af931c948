package client_test

import (
	"bufio"
	"context"
	"net"
	"path/filepath"
	"testing"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/pool/gateway/client"
	"sluice.dev/control/internal/pool/gateway/message"
)

// stuckAgent answers everything but read, of which it tells.
type stuckAgent struct {
	socket string
	asked  chan struct{}
}

func newStuckAgent(t *testing.T) *stuckAgent {
	agent := &stuckAgent{socket: filepath.Join(referencetest.SocketDirectory(t), "pool.sock"), asked: make(chan struct{}, 1)}
	listener, err := net.Listen("unix", agent.socket)
	mustBe(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go agent.serve(connection)
		}
	}()
	return agent
}

func (a *stuckAgent) serve(connection net.Conn) {
	defer func() { _ = connection.Close() }()
	reader := bufio.NewReaderSize(connection, localprotocol.ReadBufferBytes)
	for {
		line, err := localprotocol.ReadLineUpTo(reader, message.MaxLineBytes)
		if err != nil {
			return
		}
		request, failure := localprotocol.ParseRequest(line)
		if failure != nil {
			return
		}
		if request.Method == message.MethodRead {
			a.asked <- struct{}{}
			continue
		}
		answer := localprotocol.Answer(request.ID, resultOf(request.Method), nil, message.MaxLineBytes)
		if err := localprotocol.WriteLine(connection, answer); err != nil {
			return
		}
	}
}

func resultOf(method string) any {
	switch method {
	case message.MethodAttach, message.MethodView:
		return message.AttachResult{ProtocolVersion: message.CurrentVersion(), Session: "0123456789abcdef0123456789abcdef"}
	case message.MethodList:
		return message.ListResult{Names: []message.Name{}}
	case message.MethodCreate, message.MethodOpen:
		return message.OpenResult{File: 1}
	default:
		return message.EmptyResult{}
	}
}

// A read whose caller does not wait for it says nothing of the agent: else one part of a file that cannot be read would
// end the reads of the other parts, with them the session, and give the lease away.
func TestReadThatIsGivenUpLeavesTheSession(t *testing.T) {
	agent := newStuckAgent(t)
	session := attach(t, client.Config{Socket: agent.socket, Volume: "orders", Path: "/", Holder: "a test", Wait: lease})
	written := must[*client.File](t)(session.Create(t.Context(), "1"))
	opened := must[*client.File](t)(session.Open(t.Context(), "2"))
	ctx, giveUp := context.WithCancel(t.Context())
	read := make(chan error, 1)
	go func() { read <- opened.ReadAt(ctx, make([]byte, 1), 0) }()
	<-agent.asked
	giveUp()
	if err := <-read; err == nil {
		t.Error("it was read, and not answered")
	}
	if err := written.Sync(t.Context()); err != nil {
		t.Errorf("the session is over: %v", err)
	}
}
