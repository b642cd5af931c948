package controller

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// clientTLS is for servers that are no part of Sluice, etcd and Prometheus, whose certificates name hosts.
// The certificate is read at each handshake, the authority once.
func clientTLS(files *TLS) (*tls.Config, error) {
	if files == nil {
		return nil, nil
	}
	text, err := os.ReadFile(files.CAFile)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("certificate authority: %s holds no certificate in PEM form", files.CAFile)
	}
	if _, err := tls.LoadX509KeyPair(files.CertificateFile, files.KeyFile); err != nil {
		return nil, fmt.Errorf("client certificate: %w", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		RootCAs:    authorities,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			certificate, err := tls.LoadX509KeyPair(files.CertificateFile, files.KeyFile)
			return &certificate, err
		},
	}, nil
}
