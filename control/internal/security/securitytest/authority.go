// Package securitytest makes certificate authorities and certificates for tests of whatever speaks TLS.
package securitytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io/fs"
	"log/slog"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice.dev/control/internal/security"
)

// Authority signs certificates for one cluster.
type Authority struct {
	cluster     string
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// NewAuthority makes an authority that is valid for a day.
func NewAuthority(t testing.TB, cluster string) *Authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber:          newSerial(t),
		Subject:               pkix.Name{CommonName: "authority of " + cluster},
		NotBefore:             time.Now().Add(-24 * time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require(t, err)
	certificate, err := x509.ParseCertificate(der)
	require(t, err)
	return &Authority{cluster: cluster, key: key, certificate: certificate}
}

// PEM is the authority's own certificate.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Request is what a certificate shall say. The zero value asks for one that is good but for its missing
// URI.
type Request struct {
	URIs     []string
	DNSNames []string
	// NotBefore and NotAfter are an hour ago and in an hour if they are zero.
	NotBefore, NotAfter time.Time
	// Usages are both client and server if there are none.
	Usages []x509.ExtKeyUsage
}

// RequestFor asks for a certificate of the holder.
func (a *Authority) RequestFor(role security.Role, name string) Request {
	identity := security.Identity{Cluster: a.cluster, Role: role, Name: name}
	return Request{URIs: []string{identity.String()}}
}

// Issue gives a certificate and its private key, as PEM.
func (a *Authority) Issue(t testing.TB, request Request) (certificatePEM, keyPEM []byte) {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: newSerial(t),
		Subject:      pkix.Name{CommonName: "test"},
		NotBefore:    orElse(request.NotBefore, time.Now().Add(-time.Hour)),
		NotAfter:     orElse(request.NotAfter, time.Now().Add(time.Hour)),
		DNSNames:     request.DNSNames,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  request.Usages,
	}
	if len(request.Usages) == 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	}
	for _, text := range request.URIs {
		uri, err := url.Parse(text)
		require(t, err)
		template.URIs = append(template.URIs, uri)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	require(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

// Write issues a certificate into the directory, with the authority beside it. What is there already is
// replaced, each file at once.
func (a *Authority) Write(t testing.TB, directory string, request Request) security.Files {
	t.Helper()
	files := security.Files{
		CertificateFile: filepath.Join(directory, "certificate.pem"),
		KeyFile:         filepath.Join(directory, "key.pem"),
		CAFile:          filepath.Join(directory, "ca.pem"),
	}
	certificatePEM, keyPEM := a.Issue(t, request)
	Replace(t, files.CertificateFile, certificatePEM)
	Replace(t, files.KeyFile, keyPEM)
	Replace(t, files.CAFile, a.PEM())
	return files
}

// Files issues a certificate of the holder into a directory of the test.
func (a *Authority) Files(t testing.TB, role security.Role, name string) security.Files {
	t.Helper()
	return a.Write(t, t.TempDir(), a.RequestFor(role, name))
}

// Open gives credentials of the holder, until the test ends.
func (a *Authority) Open(t testing.TB, role security.Role, name string) *security.Credentials {
	t.Helper()
	credentials, err := security.Open(a.Files(t, role, name), a.cluster, slog.New(slog.DiscardHandler))
	require(t, err)
	t.Cleanup(credentials.Close)
	return credentials
}

// Replace writes a file beside the old one and moves it there.
func Replace(t testing.TB, file string, content []byte) {
	t.Helper()
	const onlyOwner fs.FileMode = 0o600
	require(t, os.WriteFile(file+".new", content, onlyOwner))
	require(t, os.Rename(file+".new", file))
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require(t, err)
	return key
}

func newSerial(t testing.TB) *big.Int {
	t.Helper()
	const bits = 120
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), bits))
	require(t, err)
	return serial
}

func orElse(moment, otherwise time.Time) time.Time {
	if moment.IsZero() {
		return otherwise
	}
	return moment
}

func require(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
