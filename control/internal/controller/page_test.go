package controller

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/security"
)

const (
	// pageStreams is how many streams the page sends at once, sharedConnections how many connections it shares
	// with the metrics.
	pageStreams       = 64
	sharedConnections = 256
)

// ask asks for a path of the page over a connection of its own, which is kept for as long as the controller keeps
// it, and its answer open.
func (r *running) ask(t *testing.T, path string) *http.Response {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	request, err := http.NewRequestWithContext(inTime(t), http.MethodGet, "https://"+r.config.Page.Listen+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		response.Body.Close()
		client.CloseIdleConnections()
	})
	return response
}

// Whoever opens the page in many windows must not hide the controller from Prometheus.
func TestStreamsDoNotStarveTheMetrics(t *testing.T) {
	r := run(t, "")
	viewer := sluicev1.NewControllerServiceClient(r.dial(t, security.RoleViewer, "v"))
	if _, err := viewer.GetCluster(inTime(t), &sluicev1.GetClusterRequest{}); err != nil {
		t.Fatal(err)
	}
	for range pageStreams {
		if stream := r.ask(t, "/api/events"); stream.StatusCode != http.StatusOK {
			t.Fatalf("a stream is answered with %s", stream.Status)
		}
	}
	for range sharedConnections {
		refused := r.ask(t, "/api/events")
		if refused.StatusCode != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") == "" {
			t.Fatalf("one more stream is answered with %s, %v", refused.Status, refused.Header)
		}
		// A connection is kept only if its answer was read.
		if _, err := io.Copy(io.Discard, refused.Body); err != nil {
			t.Fatal(err)
		}
	}
	if metrics := r.ask(t, "/metrics"); metrics.StatusCode != http.StatusOK {
		t.Errorf("the metrics are answered with %s", metrics.Status)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}

// A client that asks again and again and takes no answer does not keep its connection.
func TestClientThatTakesNoAnswersIsCutOff(t *testing.T) {
	r := run(t, "")
	viewer := sluicev1.NewControllerServiceClient(r.dial(t, security.RoleViewer, "v"))
	if _, err := viewer.GetCluster(inTime(t), &sluicev1.GetClusterRequest{}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/static/main.js", "/metrics"} {
		t.Run(path, func(t *testing.T) {
			connection, err := new(net.Dialer).DialContext(inTime(t), "tcp", r.config.Page.Listen)
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
			if err := connection.(*net.TCPConn).SetReadBuffer(4096); err != nil {
				t.Fatal(err)
			}
			client := tls.Client(connection, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
			if err := client.SetWriteDeadline(time.Now().Add(testDeadline)); err != nil {
				t.Fatal(err)
			}
			requests := []byte(strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: page\r\n\r\n", 100))
			for err == nil {
				_, err = client.Write(requests)
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the connection is kept")
			}
		})
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}
