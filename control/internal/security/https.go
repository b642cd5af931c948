package security

import (
	"context"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"time"
)

const (
	httpHeaderTimeout  = 5 * time.Second
	httpIdleTimeout    = time.Minute
	maxHTTPHeaderBytes = 16 << 10
	// maxHTTPConnectionAge bounds how long an authority is trusted after it was taken out of the CA file, by
	// clients that ask again and again over one connection. What is sent without end goes on.
	maxHTTPConnectionAge = time.Hour
)

// acceptedAt is the key of the time at which a connection was accepted.
type acceptedAt struct{}

// HTTPServer is a server for metrics and pages, with the certificate that gRPC servers have; start it
// with ServeTLS and no file names. Clients that show a certificate must show one of the cluster; with
// requireClientCertificates all must. It is for the caller to bound how long an answer takes, by WriteTimeout.
func (c *Credentials) HTTPServer(handler http.Handler, requireClientCertificates bool) *http.Server {
	clients := tls.VerifyClientCertIfGiven
	if requireClientCertificates {
		clients = tls.RequireAndVerifyClientCert
	}
	return &http.Server{
		Handler:           endOldConnections(refuseExpired(handler, time.Now), time.Now),
		TLSConfig:         c.serverConfig(clients, "h2", "http/1.1"),
		ReadHeaderTimeout: httpHeaderTimeout,
		IdleTimeout:       httpIdleTimeout,
		MaxHeaderBytes:    maxHTTPHeaderBytes,
		ErrorLog:          log.New(httpErrors{c.refusals}, "", 0),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, acceptedAt{}, time.Now())
		},
	}
}

// endOldConnections lets a request be the last one of its connection if that is old.
func endOldConnections(next http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepted, isKnown := r.Context().Value(acceptedAt{}).(time.Time)
		if isKnown && now().Sub(accepted) > maxHTTPConnectionAge {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// refuseExpired makes a client whose certificate has expired since the handshake connect again.
func refuseExpired(next http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 || now().Before(r.TLS.PeerCertificates[0].NotAfter) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		http.Error(w, "The client's certificate has expired: connect again with a new one.", http.StatusForbidden)
	})
}
