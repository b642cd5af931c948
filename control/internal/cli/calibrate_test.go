package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice.dev/control/internal/redirection/devices"
)

const shortTrace = "seconds,operation,bytes\n0,write,4096\n0.001,write,1048576\n0.002,read,4096\n0.003,write,4096\n"

func traceFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCalibrateRedirect(t *testing.T) {
	w := newWorld(t)
	trace, fast, slow := traceFile(t, shortTrace), t.TempDir(), t.TempDir()
	call := []string{"calibrate", "redirect", "--trace", trace, "--fast", fast, "--slow", slow}
	done := w.run(t, append(call, "-o", "json")...)
	var found calibration
	if done.code != 0 || json.Unmarshal([]byte(done.stdout), &found) != nil || len(found.Candidates) != 30 {
		t.Fatalf("code %d, %s%s", done.code, done.stdout, done.stderr)
	}
	if best := found.Candidates[0]; best.SizeBytes != 1<<20 || found.Devices.Fast.BytesPerSecond <= 0 {
		t.Errorf("found %+v of %+v", best, found.Devices)
	}
	table := w.run(t, call...)
	if !strings.Contains(table.stdout, "best: redirect_queue_requests=") || !strings.HasPrefix(table.stdout, "L ") {
		t.Errorf("wrote %s", table.stdout)
	}
}

func TestCalibrateRedirectSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	for name, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"nothing given": {nil, "--trace, --fast and --slow must be given"},
		"no trace":      {[]string{"--trace", "/missing", "--fast", "/", "--slow", "/"}, "reading the trace"},
		"a wrong trace": {[]string{"--trace", traceFile(t, "x\n"), "--fast", "/", "--slow", "/"}, "does not begin with the line"},
		"no device":     {[]string{"--trace", traceFile(t, shortTrace), "--fast", "/missing", "--slow", "/"}, "Name a folder on it"},
	} {
		t.Run(name, func(t *testing.T) {
			done := w.run(t, append([]string{"calibrate", "redirect"}, test.arguments...)...)
			if done.code == 0 || !strings.Contains(done.stderr, test.want) {
				t.Errorf("code %d, %s", done.code, done.stderr)
			}
		})
	}
}

func TestCalibrateReads(t *testing.T) {
	w := newWorld(t)
	call := []string{"calibrate", "reads", "--folder", t.TempDir(), "--file-bytes", "4MB", "--read-bytes", "8kB"}
	done := w.run(t, append(call, "-o", "json")...)
	var found devices.Reads
	if done.code != 0 || json.Unmarshal([]byte(done.stdout), &found) != nil || found.ReadSeconds <= 0 || found.Bytes != 8192 {
		t.Errorf("code %d, %s%s", done.code, done.stdout, done.stderr)
	}
	if table := w.run(t, call...); !strings.Contains(table.stdout, "\nread_seconds: ") || !strings.Contains(table.stdout, "\nparallel_reads: ") {
		t.Errorf("wrote %s%s", table.stdout, table.stderr)
	}
	if done := w.run(t, "calibrate", "reads"); done.code != exitUsage || !strings.Contains(done.stderr, "--folder must be given") {
		t.Errorf("code %d, %s", done.code, done.stderr)
	}
}
