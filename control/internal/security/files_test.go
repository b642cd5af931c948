package security_test

import (
	"crypto/x509"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
)

const cluster = "prod"

func TestOpen(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	request := authority.RequestFor(security.RoleAgent, "n1")
	request.NotAfter = time.Now().Add(30 * time.Minute).Truncate(time.Second)
	credentials, err := security.Open(authority.Write(t, t.TempDir(), request), cluster, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer credentials.Close()
	want := security.Identity{Cluster: cluster, Role: security.RoleAgent, Name: "n1"}
	if credentials.Identity() != want {
		t.Errorf("identity is %v, want %v", credentials.Identity(), want)
	}
	if !credentials.ExpiresAt().Equal(request.NotAfter) {
		t.Errorf("expires at %v, want %v", credentials.ExpiresAt(), request.NotAfter)
	}
}

func TestExpiryIsThatOfTheAuthorityIfItIsEarlier(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	request := authority.RequestFor(security.RoleAgent, "n1")
	request.NotAfter = time.Now().Add(365 * 24 * time.Hour)
	credentials, err := security.Open(authority.Write(t, t.TempDir(), request), cluster, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer credentials.Close()
	if limit := time.Now().Add(25 * time.Hour); credentials.ExpiresAt().After(limit) {
		t.Errorf("expires at %v, though the authority does within a day", credentials.ExpiresAt())
	}
}

func TestOpenRefusesCertificates(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	for name, test := range badRequests() {
		t.Run(name, func(t *testing.T) {
			files := authority.Write(t, t.TempDir(), test.request)
			refuseOpen(t, files, test.message)
		})
	}
	t.Run("agent without server use", func(t *testing.T) {
		request := authority.RequestFor(security.RoleAgent, "n1")
		request.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		refuseOpen(t, authority.Write(t, t.TempDir(), request), "incompatible key usage")
	})
	t.Run("other authority", func(t *testing.T) {
		files := authority.Files(t, security.RoleAgent, "n1")
		securitytest.Replace(t, files.CAFile, securitytest.NewAuthority(t, cluster).PEM())
		refuseOpen(t, files, "signed by unknown authority")
	})
}

func TestOpenRefusesFiles(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	_, otherKey := authority.Issue(t, authority.RequestFor(security.RoleAgent, "n1"))
	tests := map[string]struct {
		damage  func(files security.Files) error
		message string
	}{
		"no certificate": {func(files security.Files) error { return os.Remove(files.CertificateFile) }, "certificate.pem"},
		"no key":         {func(files security.Files) error { return os.Remove(files.KeyFile) }, "key.pem"},
		"no authority":   {func(files security.Files) error { return os.Remove(files.CAFile) }, "ca.pem"},
		"empty authority": {
			func(files security.Files) error { return os.Truncate(files.CAFile, 0) }, "holds no certificate in PEM form",
		},
		"half a certificate": {
			func(files security.Files) error { return os.Truncate(files.CertificateFile, 100) }, "certificate.pem",
		},
		"another key": {
			func(files security.Files) error { return os.WriteFile(files.KeyFile, otherKey, 0o600) },
			"private key does not match",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := authority.Files(t, security.RoleAgent, "n1")
			if err := test.damage(files); err != nil {
				t.Fatal(err)
			}
			refuseOpen(t, files, test.message)
		})
	}
}

type badRequest struct {
	request securitytest.Request
	message string
}

// badRequests are certificates that the right authority has signed and that are refused everywhere.
func badRequests() map[string]badRequest {
	uri := func(uris ...string) securitytest.Request { return securitytest.Request{URIs: uris} }
	const good = "sluice://prod/agent/n1"
	expired := uri(good)
	expired.NotAfter = time.Now().Add(-time.Minute)
	future := uri(good)
	future.NotBefore = time.Now().Add(time.Minute)
	named := uri()
	named.DNSNames = []string{"n1"}
	return map[string]badRequest{
		"no URI":          {uri(), "has 0 URIs"},
		"DNS name alone":  {named, "has 0 URIs"},
		"several URIs":    {uri(good, "sluice://prod/agent/n2"), "has 2 URIs"},
		"another URI":     {uri(good, "https://example.net/"), "has 2 URIs"},
		"another cluster": {uri("sluice://test/agent/n1"), `is of the cluster "test", not of "prod"`},
		"unknown role":    {uri("sluice://prod/admin/n1"), `the role "admin", which is not known`},
		"another scheme":  {uri("spiffe://prod/agent/n1"), "not of the form sluice://CLUSTER/ROLE/NAME"},
		"expired":         {expired, "certificate has expired or is not yet valid"},
		"not yet valid":   {future, "certificate has expired or is not yet valid"},
	}
}

func refuseOpen(t *testing.T, files security.Files, message string) {
	t.Helper()
	credentials, err := security.Open(files, cluster, slog.New(slog.DiscardHandler))
	if err == nil {
		credentials.Close()
	}
	requireMessage(t, err, message)
}

func requireMessage(t *testing.T, err error, message string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), message) {
		t.Errorf("error is %v, want one with %q", err, message)
	}
}
