package security

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"time"
)

// Files names the PEM files of a process: its certificate and those of intermediate authorities, its
// private key, and the authorities that it trusts.
type Files struct {
	CertificateFile string `yaml:"certificate_file"`
	KeyFile         string `yaml:"key_file"`
	CAFile          string `yaml:"ca_file"`
}

// material is what the files hold, checked. It is never changed, only replaced.
type material struct {
	certificate tls.Certificate
	authorities *x509.CertPool
	identity    Identity
	// expiresAt is when the certificate is no longer trusted, for itself or its authority has expired.
	expiresAt time.Time
}

// load reads the files and checks whatever a peer would refuse, so that the reason is told here.
func load(files Files, cluster string, now time.Time) (*material, error) {
	certificate, err := loadKeyPair(files)
	if err != nil {
		return nil, err
	}
	authorities, err := loadAuthorities(files.CAFile)
	if err != nil {
		return nil, err
	}
	identity, err := identityOf(certificate.Leaf, cluster)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files.CertificateFile, err)
	}
	loaded := &material{certificate: certificate, authorities: authorities, identity: identity}
	if loaded.expiresAt, err = loaded.verify(now); err != nil {
		return nil, fmt.Errorf("%s is not trusted by %s: %w", files.CertificateFile, files.CAFile, err)
	}
	return loaded, nil
}

func loadKeyPair(files Files) (tls.Certificate, error) {
	certificatePEM, err := os.ReadFile(files.CertificateFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(files.KeyFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("private key: %w", err)
	}
	pair, err := tls.X509KeyPair(certificatePEM, keyPEM)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate %s with private key %s: %w",
			files.CertificateFile, files.KeyFile, err)
	}
	return pair, nil
}

func loadAuthorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("certificate authority: %s holds no certificate in PEM form", file)
	}
	return authorities, nil
}

// verify checks the certificate for each use that its role makes of it, and says until when it holds.
func (m *material) verify(now time.Time) (time.Time, error) {
	usages := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if m.identity.Role.serves() {
		usages = append(usages, x509.ExtKeyUsageServerAuth)
	}
	intermediates, err := parseIntermediates(m.certificate.Certificate[1:])
	if err != nil {
		return time.Time{}, err
	}
	var expiresAt time.Time
	for _, usage := range usages {
		chains, err := m.certificate.Leaf.Verify(x509.VerifyOptions{
			Roots: m.authorities, Intermediates: intermediates, CurrentTime: now,
			KeyUsages: []x509.ExtKeyUsage{usage},
		})
		if err != nil {
			return time.Time{}, err
		}
		expiresAt = lastExpiry(chains)
	}
	return expiresAt, nil
}

func parseIntermediates(encoded [][]byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for _, der := range encoded {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("intermediate authority: %w", err)
		}
		pool.AddCert(certificate)
	}
	return pool, nil
}

// lastExpiry is when the last of the chains ends, each with the first certificate in it that expires.
func lastExpiry(chains [][]*x509.Certificate) time.Time {
	var last time.Time
	for _, chain := range chains {
		first := chain[0].NotAfter
		for _, certificate := range chain[1:] {
			if certificate.NotAfter.Before(first) {
				first = certificate.NotAfter
			}
		}
		if first.After(last) {
			last = first
		}
	}
	return last
}

// lifetime is how long the certificate holds in all.
func (m *material) lifetime() time.Duration {
	return m.expiresAt.Sub(m.certificate.Leaf.NotBefore)
}

func (m *material) equal(other *material) bool {
	return slices.EqualFunc(m.certificate.Certificate, other.certificate.Certificate, bytes.Equal) &&
		m.authorities.Equal(other.authorities)
}
