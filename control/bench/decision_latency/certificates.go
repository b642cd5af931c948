package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"fmt"

	"sluice.dev/control/bench/authority"
	"sluice.dev/control/internal/security"
)

const clusterName = "bench"

// agentCertificates are those of all agents; they share a key, which changes nothing for the controller.
func agentCertificates(issuer *authority.Authority, count int) ([]tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key of the agents: %w", err)
	}
	certificates := make([]tls.Certificate, count)
	for i := range certificates {
		encoded, err := issuer.Issue(security.RoleAgent, nodeName(i), key)
		if err != nil {
			return nil, fmt.Errorf("certificate of %s: %w", nodeName(i), err)
		}
		certificates[i] = tls.Certificate{Certificate: [][]byte{encoded}, PrivateKey: key}
	}
	return certificates, nil
}
