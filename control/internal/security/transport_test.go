package security_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
)

const patience = 30 * time.Second

// handshake is the outcome of one end.
type handshake struct {
	conn net.Conn
	info credentials.AuthInfo
	err  error
}

// connect lets the two ends shake hands over TCP.
func connect(t *testing.T, server, client func(net.Conn) handshake) (atServer, atClient handshake) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	served := make(chan handshake, 1)
	go func() {
		raw, err := listener.Accept()
		if err != nil {
			served <- handshake{err: err}
			return
		}
		served <- server(bounded(t, raw))
	}()
	raw, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if atClient = client(bounded(t, raw)); atClient.err != nil {
		// Who refuses to begin has said nothing: the server would wait.
		_ = raw.Close()
	}
	return <-served, atClient
}

// bounded makes whatever hangs an error, and closes the connection with the test.
func bounded(t *testing.T, raw net.Conn) net.Conn {
	t.Cleanup(func() { _ = raw.Close() })
	if err := raw.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Error(err)
	}
	return raw
}

func serverOf(transport credentials.TransportCredentials) func(net.Conn) handshake {
	return func(raw net.Conn) handshake {
		conn, info, err := transport.ServerHandshake(raw)
		return handshake{conn, info, err}
	}
}

func clientOf(t *testing.T, transport credentials.TransportCredentials) func(net.Conn) handshake {
	return clientFor(t, transport, "somewhere.invalid:1")
}

func clientFor(t *testing.T, transport credentials.TransportCredentials, server string) func(net.Conn) handshake {
	return func(raw net.Conn) handshake {
		conn, info, err := transport.ClientHandshake(t.Context(), server, raw)
		return handshake{conn, info, err}
	}
}

// plainClient is TLS by the standard library; it reads, for a server's refusal comes after the
// handshake.
func plainClient(config *tls.Config) func(net.Conn) handshake {
	return func(raw net.Conn) handshake {
		conn := tls.Client(raw, config)
		if err := conn.Handshake(); err != nil {
			return handshake{err: err}
		}
		_, err := conn.Read(make([]byte, 1))
		return handshake{conn: conn, err: err}
	}
}

func plainServer(config *tls.Config) func(net.Conn) handshake {
	return func(raw net.Conn) handshake {
		conn := tls.Server(raw, config)
		return handshake{conn: conn, err: conn.Handshake()}
	}
}

func keyPair(t *testing.T, authority *securitytest.Authority, request securitytest.Request) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(authority.Issue(t, request))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestHandshake(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	agent := authority.Open(t, security.RoleAgent, "n1")
	controller := authority.Open(t, security.RoleController, "c1")
	atServer, atClient := connect(t, serverOf(agent.ServerTransport()),
		clientOf(t, controller.ClientTransport(security.RoleAgent, "n1")))
	if atServer.err != nil || atClient.err != nil {
		t.Fatalf("server: %v, client: %v", atServer.err, atClient.err)
	}
	state := atServer.info.(credentials.TLSInfo).State
	if state.Version != tls.VersionTLS13 {
		t.Errorf("TLS version is %#x", state.Version)
	}
	ctx := peer.NewContext(t.Context(), &peer.Peer{AuthInfo: atServer.info})
	caller, err := security.FromContext(ctx)
	if err != nil || caller != controller.Identity() {
		t.Errorf("the server takes the client for %v, error %v", caller, err)
	}
	exchange(t, atServer.conn, atClient.conn)
}

// exchange sends a byte each way.
func exchange(t *testing.T, one, other net.Conn) {
	t.Helper()
	for _, ends := range [][2]net.Conn{{one, other}, {other, one}} {
		if _, err := ends[0].Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(ends[1], make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFromContextRefuses(t *testing.T) {
	_, err := security.FromContext(t.Context())
	requireMessage(t, err, "there is no caller")
	plain := &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}}
	_, err = security.FromContext(peer.NewContext(context.Background(), plain))
	requireMessage(t, err, "192.0.2.1:1 showed no certificate")
}

func TestServerRefusesClients(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	agent := authority.Open(t, security.RoleAgent, "n1")
	server := serverOf(agent.ServerTransport())
	config := func(pairs ...tls.Certificate) *tls.Config {
		return &tls.Config{Certificates: pairs, InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	}
	for name, test := range badRequests() {
		t.Run(name, func(t *testing.T) {
			atServer, atClient := connect(t, server, plainClient(config(keyPair(t, authority, test.request))))
			requireMessage(t, atServer.err, test.message)
			requireMessage(t, atClient.err, "remote error: tls:")
		})
	}
	good := authority.RequestFor(security.RoleController, "c1")
	serverUse := good
	serverUse.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	old := config(keyPair(t, authority, good))
	old.MaxVersion = tls.VersionTLS12
	tests := map[string]struct {
		config  *tls.Config
		message string
	}{
		"no certificate":  {config(), "client didn't provide a certificate"},
		"other authority": {config(keyPair(t, securitytest.NewAuthority(t, cluster), good)), "signed by unknown authority"},
		"server use":      {config(keyPair(t, authority, serverUse)), "incompatible key usage"},
		"TLS 1.2":         {old, "unsupported versions"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			atServer, atClient := connect(t, server, plainClient(test.config))
			requireMessage(t, atServer.err, test.message)
			requireMessage(t, atClient.err, "remote error: tls:")
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		atServer, _ := connect(t, server, func(raw net.Conn) handshake {
			_, err := raw.Write(bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 10))
			return handshake{raw, nil, err}
		})
		requireMessage(t, atServer.err, "does not look like a TLS handshake")
	})
	if want := uint64(len(badRequests()) + len(tests) + 1); agent.RefusedHandshakes() != want {
		t.Errorf("%d handshakes were counted as refused, want %d", agent.RefusedHandshakes(), want)
	}
}

func TestClientRefusesServers(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	controller := authority.Open(t, security.RoleController, "c1")
	client := clientOf(t, controller.ClientTransport(security.RoleAgent, "n1"))
	named := clientFor(t, controller.NamedClientTransport(security.RoleAgent), "n1")
	config := func(pair tls.Certificate) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	}
	clientUse := authority.RequestFor(security.RoleAgent, "n1")
	clientUse.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	withName := authority.RequestFor(security.RoleAgent, "n2")
	withName.DNSNames = []string{"somewhere.invalid", "n1"}
	tests := badRequests()
	tests["another node"] = badRequest{
		authority.RequestFor(security.RoleAgent, "n2"), `the server is sluice://prod/agent/n2, not agent "n1"`,
	}
	tests["another node with the right DNS name"] = badRequest{withName, `not agent "n1"`}
	tests["another role"] = badRequest{
		authority.RequestFor(security.RoleViewer, "n1"), "the server is sluice://prod/viewer/n1, which is no agent",
	}
	tests["client use"] = badRequest{clientUse, "incompatible key usage"}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, client := range []func(net.Conn) handshake{client, named} {
				_, atClient := connect(t, plainServer(config(keyPair(t, authority, test.request))), client)
				requireMessage(t, atClient.err, test.message)
			}
		})
	}
	t.Run("other authority", func(t *testing.T) {
		other := securitytest.NewAuthority(t, cluster)
		pair := keyPair(t, other, other.RequestFor(security.RoleAgent, "n1"))
		_, atClient := connect(t, plainServer(config(pair)), client)
		requireMessage(t, atClient.err, "signed by unknown authority")
	})
	t.Run("TLS 1.2", func(t *testing.T) {
		old := config(keyPair(t, authority, authority.RequestFor(security.RoleAgent, "n1")))
		old.MaxVersion = tls.VersionTLS12
		_, atClient := connect(t, plainServer(old), client)
		requireMessage(t, atClient.err, "protocol version")
	})
}

// A channel to many servers says of each which it means; without that any of the role would do.
func TestNamedTransport(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	agent := serverOf(authority.Open(t, security.RoleAgent, "n1").ServerTransport())
	transport := authority.Open(t, security.RoleController, "c1").NamedClientTransport(security.RoleAgent).Clone()
	if _, atClient := connect(t, agent, clientFor(t, transport, "n1")); atClient.err != nil {
		t.Error(atClient.err)
	}
	_, atClient := connect(t, agent, clientFor(t, transport, ""))
	requireMessage(t, atClient.err, "does not say which agent")
}

func TestConnectionsEndWithTheCertificateOfThePeer(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	agent := authority.Open(t, security.RoleAgent, "n1")
	request := authority.RequestFor(security.RoleController, "c1")
	request.NotAfter = time.Now().Add(10 * time.Second)
	controller, err := security.Open(authority.Write(t, t.TempDir(), request), cluster, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer controller.Close()
	atServer, atClient := connect(t, serverOf(agent.ServerTransport()),
		clientOf(t, controller.ClientTransport(security.RoleAgent, "n1")))
	if atServer.err != nil || atClient.err != nil {
		t.Fatalf("server: %v, client: %v", atServer.err, atClient.err)
	}
	exchange(t, atServer.conn, atClient.conn)
	if _, err := atClient.conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the server ended the connection with %v", err)
	}
	if time.Now().Before(controller.ExpiresAt()) {
		t.Errorf("the connection ended before the certificate did, at %v", controller.ExpiresAt())
	}
}
