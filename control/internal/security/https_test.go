package security_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
)

// serveHTTPS serves "ok" and gives the URL.
func serveHTTPS(t *testing.T, credentials *security.Credentials, requireClientCertificates bool) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := credentials.HTTPServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok")
	}), requireClientCertificates)
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; err != http.ErrServerClosed {
			t.Errorf("the server ended with %v", err)
		}
	})
	return "https://" + listener.Addr().String()
}

func get(t *testing.T, url string, config *tls.Config) (*http.Response, error) {
	t.Helper()
	client := &http.Client{
		Timeout:   patience,
		Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true},
	}
	t.Cleanup(client.CloseIdleConnections)
	response, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response, err
}

func TestHTTPS(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	controller := authority.Open(t, security.RoleController, "c1")
	url := serveHTTPS(t, controller, true)
	viewer := authority.Open(t, security.RoleViewer, "v1")
	response, err := get(t, url, viewer.ClientConfig(security.RoleController, "c1"))
	if err != nil || response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
		t.Errorf("got %v and %v", response, err)
	}
	_, err = get(t, url, viewer.ClientConfig(security.RoleController, "c2"))
	requireMessage(t, err, `not controller "c2"`)
	response, err = get(t, "http"+strings.TrimPrefix(url, "https"), nil)
	if err != nil || response.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS a client gets %v and %v", response, err)
	}
}

func TestHTTPSRefusesClients(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	controller := authority.Open(t, security.RoleController, "c1")
	required, optional := serveHTTPS(t, controller, true), serveHTTPS(t, controller, false)
	config := func(pairs ...tls.Certificate) *tls.Config {
		return &tls.Config{Certificates: pairs, InsecureSkipVerify: true}
	}
	// Why it is refused a client learns only if it reads before it writes: see the server's log.
	if response, err := get(t, required, config()); err == nil {
		t.Errorf("a client without certificate is served: %s", response.Status)
	}
	if response, err := get(t, optional, config()); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("a client without certificate gets %v and %v where it is optional", response, err)
	}
	for name, test := range badRequests() {
		t.Run(name, func(t *testing.T) {
			for _, url := range []string{required, optional} {
				if response, err := get(t, url, config(keyPair(t, authority, test.request))); err == nil {
					t.Errorf("the client is served: %s", response.Status)
				}
			}
		})
	}
	refused := uint64(1 + 2*len(badRequests()))
	waitFor(t, "the refusals to be counted", func() bool { return controller.RefusedHandshakes() >= refused })
}

func TestHTTPSRefusesCertificatesThatExpireLater(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	url := serveHTTPS(t, authority.Open(t, security.RoleController, "c1"), true)
	request := authority.RequestFor(security.RoleViewer, "v1")
	request.NotAfter = time.Now().Add(10 * time.Second)
	client := &http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: &tls.Config{
		Certificates: []tls.Certificate{keyPair(t, authority, request)}, InsecureSkipVerify: true,
	}}}
	defer client.CloseIdleConnections()
	waitFor(t, "a request is refused", func() bool {
		response, err := client.Get(url)
		if err != nil {
			t.Fatalf("the connection was not kept: %v", err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		return response.StatusCode == http.StatusForbidden
	})
	if time.Now().Before(request.NotAfter.Truncate(time.Second)) {
		t.Error("a request was refused before the certificate expired")
	}
	if response, err := client.Get(url); err == nil {
		t.Errorf("a new connection with the expired certificate is served: %s", response.Status)
	}
}
