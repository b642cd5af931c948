package security

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"
)

const (
	httpHeaderTimeout  = 5 * time.Second
	httpIdleTimeout    = time.Minute
	maxHTTPHeaderBytes = 16 << 10
)

// HTTPServer is a server for metrics and pages, with the certificate that gRPC servers have; start it
// with ServeTLS and no file names. Clients that show a certificate must show one of the cluster; with
// requireClientCertificates all must. There is no limit on how long an answer takes, since pages are
// sent events.
func (c *Credentials) HTTPServer(handler http.Handler, requireClientCertificates bool) *http.Server {
	clients := tls.VerifyClientCertIfGiven
	if requireClientCertificates {
		clients = tls.RequireAndVerifyClientCert
	}
	return &http.Server{
		Handler:           refuseExpired(handler, time.Now),
		TLSConfig:         c.serverConfig(clients, "h2", "http/1.1"),
		ReadHeaderTimeout: httpHeaderTimeout,
		IdleTimeout:       httpIdleTimeout,
		MaxHeaderBytes:    maxHTTPHeaderBytes,
		ErrorLog:          slog.NewLogLogger(c.logger.Handler(), slog.LevelWarn),
	}
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
