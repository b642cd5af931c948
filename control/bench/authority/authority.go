// Package authority makes the certificates that the programs below bench need for their processes.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"sluice.dev/control/internal/security"
)

const lifetime = 24 * time.Hour

// Authority issues the certificates of one run. It is not safe for concurrent use.
type Authority struct {
	cluster     string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

// New makes an authority of a cluster, valid for a day.
func New(cluster string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key of the authority: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a benchmark"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(encoded)
	if err != nil {
		return nil, fmt.Errorf("certificate of the authority: %w", err)
	}
	return &Authority{cluster: cluster, certificate: certificate, key: key, serial: 1}, nil
}

// Certificate is that of the authority.
func (a *Authority) Certificate() *x509.Certificate {
	return a.certificate
}

// Issue makes a certificate for a holder, whose key may be shared with others, in DER form.
func (a *Authority) Issue(role security.Role, name string, key *ecdsa.PrivateKey) ([]byte, error) {
	a.serial++
	identity := security.Identity{Cluster: a.cluster, Role: role, Name: name}
	uri, err := url.Parse(identity.String())
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w", identity, err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
		URIs: []*url.URL{uri}, DNSNames: []string{"localhost"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	return x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
}

// Write puts the identity of a holder into files of a directory, as configurations name them.
func (a *Authority) Write(directory string, role security.Role, name string) (security.Files, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return security.Files{}, fmt.Errorf("key of %s: %w", name, err)
	}
	encodedKey, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return security.Files{}, fmt.Errorf("key of %s: %w", name, err)
	}
	certificate, err := a.Issue(role, name, key)
	if err != nil {
		return security.Files{}, fmt.Errorf("certificate of %s: %w", name, err)
	}
	files := security.Files{
		CertificateFile: filepath.Join(directory, name+".crt"),
		KeyFile:         filepath.Join(directory, name+".key"),
		CAFile:          filepath.Join(directory, "ca.crt"),
	}
	for _, file := range []struct {
		path, kind string
		content    []byte
	}{
		{files.CertificateFile, "CERTIFICATE", certificate},
		{files.KeyFile, "PRIVATE KEY", encodedKey},
		{files.CAFile, "CERTIFICATE", a.certificate.Raw},
	} {
		text := pem.EncodeToMemory(&pem.Block{Type: file.kind, Bytes: file.content})
		if err := os.WriteFile(file.path, text, 0o600); err != nil {
			return security.Files{}, err
		}
	}
	return files, nil
}
