// Package promql tests the client of Prometheus against Debian's package of it.
package promql

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/promql"
	"sluice.dev/control/tests/process"
)

const configuration = `
global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: target
    static_configs:
      - targets: [%s]
`

// startPrometheus starts a server that scrapes a target each second.
func startPrometheus(t *testing.T, target, lookback string) (*process.Process, *promql.Client) {
	t.Helper()
	program := process.Require(t, "prometheus", "prometheus")
	directory := t.TempDir()
	file := filepath.Join(directory, "prometheus.yml")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, target), 0o600); err != nil {
		t.Fatal(err)
	}
	address := process.FreeAddress(t)
	server := process.Start(t, program, "--config.file="+file,
		"--storage.tsdb.path="+filepath.Join(directory, "data"), "--web.listen-address="+address,
		"--query.lookback-delta="+lookback)
	client, err := promql.New("http://"+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return server, client
}

func query(t *testing.T, client *promql.Client, text string, maxAge time.Duration) policy.Signal {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return client.Query(ctx, text, maxAge)
}

func waitForFresh(t *testing.T, client *promql.Client, text string, want float64) {
	t.Helper()
	process.Eventually(t, func() error {
		signal := query(t, client, text, 30*time.Second)
		if !signal.Fresh || signal.Value != want {
			return fmt.Errorf("%s gives %+v, want %v", text, signal, want)
		}
		return nil
	})
}

func waitForMissing(t *testing.T, client *promql.Client, text, reason string) {
	t.Helper()
	process.Eventually(t, func() error {
		signal := query(t, client, text, 30*time.Second)
		if signal.Fresh || !strings.Contains(signal.Missing, reason) {
			return fmt.Errorf("%s gives %+v, want it missing for %q", text, signal, reason)
		}
		return nil
	})
}

// startTarget serves metrics, one of them with a sample that is some minutes old at every scrape.
func startTarget(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		old := time.Now().Add(-2 * time.Minute).UnixMilli()
		fmt.Fprintf(w, "latency_seconds{class=\"read\"} 0.25\nlatency_seconds{class=\"write\"} 0.5\n")
		fmt.Fprintf(w, "late_bytes 7 %d\n", old)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestQueriesOfARealServer(t *testing.T) {
	target := startTarget(t)
	_, client := startPrometheus(t, target.Listener.Addr().String(), "30s")

	waitForFresh(t, client, `max(latency_seconds)`, 0.5)
	waitForFresh(t, client, `scalar(latency_seconds{class="read"}) * 2`, 0.5)
	waitForMissing(t, client, `latency_seconds`, "has 2 series, not one")
	waitForMissing(t, client, `latency_seconds{class="read"}[5m]`, "the result is a matrix")
	waitForMissing(t, client, `no_such_metric`, "no series has a sample that is recent enough")
	waitForMissing(t, client, `max(`, "parse error")
	waitForMissing(t, client, `max(latency_seconds) / 0`, "not a number to act on")
}

func TestOldSamplesAreNotTaken(t *testing.T) {
	target := startTarget(t)
	_, client := startPrometheus(t, target.Listener.Addr().String(), "30s")
	waitForFresh(t, client, `max(latency_seconds)`, 0.5)
	waitForMissing(t, client, `late_bytes`, "recent enough")
}

// The sample is there, and the server takes it for the present one if it is left to its default. Where it
// reads lookback_delta it is told better; else it is not asked at all.
func TestServerThatWouldTakeOldSamples(t *testing.T) {
	target := startTarget(t)
	_, client := startPrometheus(t, target.Listener.Addr().String(), "5m")
	process.Eventually(t, func() error {
		if signal := query(t, client, `late_bytes`, 5*time.Minute); !signal.Fresh || signal.Value != 7 {
			return fmt.Errorf("late_bytes gives %+v, want 7", signal)
		}
		return nil
	})
	if signal := query(t, client, `late_bytes`, 30*time.Second); signal.Fresh {
		t.Errorf("late_bytes gives %+v, though its sample is two minutes old", signal)
	}
}

func TestTargetThatIsGone(t *testing.T) {
	target := startTarget(t)
	_, client := startPrometheus(t, target.Listener.Addr().String(), "30s")
	waitForFresh(t, client, `max(latency_seconds)`, 0.5)
	target.Close()
	waitForMissing(t, client, `max(latency_seconds)`, "recent enough")
}

func TestServerThatIsPausedAndKilled(t *testing.T) {
	target := startTarget(t)
	server, client := startPrometheus(t, target.Listener.Addr().String(), "30s")
	waitForFresh(t, client, `max(latency_seconds)`, 0.5)

	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if signal := client.Query(ctx, `max(latency_seconds)`, time.Minute); signal.Fresh {
		t.Errorf("a paused server gave %+v", signal)
	}
	server.Continue()
	waitForFresh(t, client, `max(latency_seconds)`, 0.5)

	server.Kill()
	waitForMissing(t, client, `max(latency_seconds)`, "connection refused")
}
