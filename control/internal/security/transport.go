package security

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc/credentials"
)

// ServerTransport makes gRPC servers ask for a certificate of the cluster, and refuse whoever has none.
func (c *Credentials) ServerTransport() credentials.TransportCredentials {
	return &transport{credentials.NewTLS(c.serverConfig(tls.RequireAndVerifyClientCert)), c.logger, c.refusals}
}

// ClientTransport makes gRPC clients talk to a server of the role alone, and of the name unless that is
// empty. An agent must be asked for by name: an order is for one node.
func (c *Credentials) ClientTransport(role Role, name string) credentials.TransportCredentials {
	return &transport{credentials.NewTLS(c.ClientConfig(role, name)), c.logger, c.refusals}
}

// NamedClientTransport is ClientTransport for a channel with connections to many servers of a role. Each must be
// of the name that its address has as the name of the server.
func (c *Credentials) NamedClientTransport(role Role) credentials.TransportCredentials {
	return &namedTransport{c.ClientTransport(role, ""), c, role}
}

type namedTransport struct {
	credentials.TransportCredentials
	credentials *Credentials
	role        Role
}

func (t *namedTransport) ClientHandshake(
	ctx context.Context, name string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	if name == "" {
		return nil, nil, forbiddenf("the address %v does not say which %s is to be there", raw.RemoteAddr(), t.role)
	}
	// The name is none of DNS, and is not sent.
	return t.credentials.ClientTransport(t.role, name).ClientHandshake(ctx, "", raw)
}

func (t *namedTransport) Clone() credentials.TransportCredentials {
	return &namedTransport{t.TransportCredentials.Clone(), t.credentials, t.role}
}

// serverConfig takes certificate and authorities anew for each handshake. There are no session tickets:
// a resumed session would rest on an earlier look at the certificate.
func (c *Credentials) serverConfig(clients tls.ClientAuthType, protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			current := c.current.Load()
			return &tls.Config{
				MinVersion:             tls.VersionTLS13,
				NextProtos:             protocols,
				Certificates:           []tls.Certificate{current.certificate},
				ClientCAs:              current.authorities,
				ClientAuth:             clients,
				SessionTicketsDisabled: true,
				VerifyConnection:       c.verifyClient,
			}, nil
		},
	}
}

// verifyClient checks who the client is; its chain of certificates is verified already.
func (c *Credentials) verifyClient(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return nil // Only where certificates are optional.
	}
	_, err := identityOf(state.PeerCertificates[0], c.cluster)
	return err
}

// ClientConfig is for clients of HTTPS servers of the cluster: of the role, and of the name unless that
// is empty.
func (c *Credentials) ClientConfig(role Role, name string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &c.current.Load().certificate, nil
		},
		// The library's own check would be of the DNS name. VerifyConnection does the whole of it, and
		// no handshake goes on without it.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			return c.verifyServer(state, role, name)
		},
	}
}

func (c *Credentials) verifyServer(state tls.ConnectionState, role Role, name string) error {
	intermediates := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		intermediates.AddCert(certificate)
	}
	certificate := state.PeerCertificates[0]
	_, err := certificate.Verify(x509.VerifyOptions{
		Roots: c.current.Load().authorities, Intermediates: intermediates,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return forbiddenf("the server's certificate is refused: %w", err)
	}
	identity, err := identityOf(certificate, c.cluster)
	switch {
	case err != nil:
		return err
	case identity.Role != role:
		return forbiddenf("the server is %s, which is no %s", identity, role).
			WithHint("Look at the address: it may be that of another part of the cluster.")
	case name != "" && identity.Name != name:
		return forbiddenf("the server is %s, not %s %q", identity, role, name).
			WithHint("Look at the address, and at the name in the server's certificate.")
	}
	return nil
}

// transport logs the connections that a server refuses, whose peers learn little of it from TLS, and
// closes connections when the peer's certificate expires.
type transport struct {
	credentials.TransportCredentials
	logger   *slog.Logger
	refusals *refusals
}

func (t *transport) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	below := &coalescer{Conn: raw}
	conn, info, err := t.TransportCredentials.ServerHandshake(below)
	if err != nil {
		t.refusals.log("connection refused", "peer", raw.RemoteAddr().String(), "error", err)
		return nil, nil, err
	}
	return t.untilExpiry(&coalescedConn{Conn: conn, below: below}, info), info, nil
}

func (t *transport) ClientHandshake(
	ctx context.Context, authority string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	below := &coalescer{Conn: raw}
	conn, info, err := t.TransportCredentials.ClientHandshake(ctx, authority, below)
	if err != nil {
		return nil, nil, err
	}
	return t.untilExpiry(&coalescedConn{Conn: conn, below: below}, info), info, nil
}

func (t *transport) Clone() credentials.TransportCredentials {
	return &transport{t.TransportCredentials.Clone(), t.logger, t.refusals}
}

func (t *transport) untilExpiry(conn net.Conn, info credentials.AuthInfo) net.Conn {
	tlsInfo, isTLS := info.(credentials.TLSInfo)
	if !isTLS || len(tlsInfo.State.PeerCertificates) == 0 {
		return conn
	}
	// The timer keeps nothing else of the handshake, for as long as the connection is there.
	expiresAt, logger := tlsInfo.State.PeerCertificates[0].NotAfter, t.logger
	timer := time.AfterFunc(time.Until(expiresAt), func() {
		logger.Info("connection closed, for the peer's certificate has expired",
			"peer", conn.RemoteAddr().String(), "expired_at", expiresAt)
		// The peer may have closed it just before, which is as good.
		_ = conn.Close()
	})
	return &expiringConn{conn, timer}
}

// expiringConn stops the timer of a connection that is closed before.
type expiringConn struct {
	net.Conn
	timer *time.Timer
}

func (c *expiringConn) Close() error {
	c.timer.Stop()
	return c.Conn.Close()
}
