// Package etcdclient makes clients of the coordination service.
package etcdclient

import (
	"crypto/tls"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// A member whose machine is gone without a word is noticed after keepaliveTime + keepaliveTimeout. The kernel by
// itself would send for a quarter of an hour what nobody answers, and calls that are given to that member fail meanwhile.
const (
	// keepaliveTime is the least that the library takes.
	keepaliveTime    = 10 * time.Second
	keepaliveTimeout = 5 * time.Second
)

// New makes a client, and does not wait for a connection. The TLS configuration is nil for connections that are not
// encrypted.
func New(endpoints []string, tlsConfig *tls.Config) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints: endpoints, TLS: tlsConfig,
		DialKeepAliveTime: keepaliveTime, DialKeepAliveTimeout: keepaliveTimeout,
		// The client's own log would go to standard error in a format of its own.
		Logger: zap.NewNop(),
	})
}
