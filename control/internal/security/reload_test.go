package security_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
)

// logText is what a logger wrote.
type logText struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func newLog() (*logText, *slog.Logger) {
	log := &logText{}
	return log, slog.New(slog.NewTextHandler(log, nil))
}

func (l *logText) Write(line []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(line)
}

func (l *logText) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// waitFor waits until the condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// agentWithLog opens credentials of agent n1 and keeps what they log.
func agentWithLog(t *testing.T, files security.Files) (*security.Credentials, *logText) {
	t.Helper()
	log, logger := newLog()
	agent, err := security.Open(files, cluster, logger)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(agent.Close)
	return agent, log
}

func TestReloadKeepsConnections(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	request := authority.RequestFor(security.RoleAgent, "n1")
	directory := t.TempDir()
	agent, log := agentWithLog(t, authority.Write(t, directory, request))
	server := serverOf(agent.ServerTransport())
	client := clientOf(t, authority.Open(t, security.RoleController, "c1").ClientTransport(security.RoleAgent, "n1"))
	serverBefore, before := connect(t, server, client)
	if before.err != nil {
		t.Fatal(before.err)
	}

	request.NotAfter = time.Now().Add(2 * time.Hour)
	authority.Write(t, directory, request)
	waitFor(t, "the new certificate is loaded", func() bool { return strings.Contains(log.String(), "certificates loaded") })

	serverAfter, after := connect(t, server, client)
	if after.err != nil {
		t.Fatal(after.err)
	}
	if serial(before) == serial(after) {
		t.Error("a new connection has the old certificate")
	}
	if !agent.ExpiresAt().After(time.Now().Add(time.Hour)) {
		t.Errorf("expires at %v, as the old certificate", agent.ExpiresAt())
	}
	exchange(t, serverBefore.conn, before.conn)
	exchange(t, serverAfter.conn, after.conn)
}

func serial(client handshake) string {
	return client.info.(credentials.TLSInfo).State.PeerCertificates[0].SerialNumber.String()
}

func TestReloadOfTheAuthority(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	next := securitytest.NewAuthority(t, cluster)
	files := authority.Files(t, security.RoleAgent, "n1")
	agent, log := agentWithLog(t, files)
	config := &tls.Config{
		Certificates:       []tls.Certificate{keyPair(t, next, next.RequestFor(security.RoleController, "c1"))},
		InsecureSkipVerify: true, NextProtos: []string{"h2"},
	}
	refused, _ := connect(t, serverOf(agent.ServerTransport()), plainClient(config))
	requireMessage(t, refused.err, "signed by unknown authority")

	securitytest.Replace(t, files.CAFile, append(authority.PEM(), next.PEM()...))
	waitFor(t, "the new authority is loaded", func() bool { return strings.Contains(log.String(), "certificates loaded") })
	accepted, _ := connect(t, func(raw net.Conn) handshake {
		done := serverOf(agent.ServerTransport())(raw)
		_ = raw.Close() // Ends the read of the client.
		return done
	}, plainClient(config))
	if accepted.err != nil {
		t.Errorf("a client of the new authority is refused: %v", accepted.err)
	}
}

func TestReloadRefusesBadFiles(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	directory := t.TempDir()
	request := authority.RequestFor(security.RoleAgent, "n1")
	files := authority.Write(t, directory, request)
	agent, log := agentWithLog(t, files)
	client := clientOf(t, authority.Open(t, security.RoleController, "c1").ClientTransport(security.RoleAgent, "n1"))
	works := func() {
		t.Helper()
		atServer, atClient := connect(t, serverOf(agent.ServerTransport()), client)
		if atServer.err != nil || atClient.err != nil {
			t.Fatalf("server: %v, client: %v", atServer.err, atClient.err)
		}
	}
	logged := func(text string) {
		t.Helper()
		waitFor(t, "the log has "+text, func() bool { return strings.Contains(log.String(), text) })
	}

	securitytest.Replace(t, files.CertificateFile, []byte("nonsense"))
	logged("failed to find any PEM data")
	works()
	authority.Write(t, directory, authority.RequestFor(security.RoleAgent, "n2"))
	logged("restart it to change that")
	works()
	authority.Write(t, directory, request)
	logged("certificates loaded")
	works()
}

func TestReloadOfIntermediateAuthorities(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	files := authority.Files(t, security.RoleAgent, "n1")
	_, log := agentWithLog(t, files)
	certificate, err := os.ReadFile(files.CertificateFile)
	if err != nil {
		t.Fatal(err)
	}
	securitytest.Replace(t, files.CertificateFile, append(certificate, authority.PEM()...))
	waitFor(t, "the longer chain is loaded", func() bool { return strings.Contains(log.String(), "certificates loaded") })
}

func TestReloadWithoutEvents(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	request := authority.RequestFor(security.RoleAgent, "n1")
	// The shorter the lifetime, the more often the files are read.
	request.NotBefore = time.Now()
	request.NotAfter = time.Now().Add(patience)
	target, links := t.TempDir(), t.TempDir()
	authority.Write(t, target, request)
	files := security.Files{
		CertificateFile: filepath.Join(links, "certificate.pem"),
		KeyFile:         filepath.Join(links, "key.pem"),
		CAFile:          filepath.Join(links, "ca.pem"),
	}
	for _, link := range []string{files.CertificateFile, files.KeyFile, files.CAFile} {
		if err := os.Symlink(filepath.Join(target, filepath.Base(link)), link); err != nil {
			t.Fatal(err)
		}
	}
	agent, _ := agentWithLog(t, files)
	request.NotAfter = time.Now().Add(time.Hour)
	authority.Write(t, target, request)
	waitFor(t, "the new certificate is loaded", func() bool {
		return agent.ExpiresAt().After(time.Now().Add(2 * patience))
	})
}

func TestExpiryIsLoggedAhead(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	request := authority.RequestFor(security.RoleAgent, "n1")
	_, log := agentWithLog(t, authority.Write(t, t.TempDir(), request))
	if strings.Contains(log.String(), "about to expire") {
		t.Errorf("a certificate that is good for an hour of two is said to expire: %s", log)
	}
	request.NotBefore = time.Now().Add(-20 * time.Hour)
	_, log = agentWithLog(t, authority.Write(t, t.TempDir(), request))
	if !strings.Contains(log.String(), "about to expire") {
		t.Errorf("the last hour of 21 is not logged: %s", log)
	}
}
