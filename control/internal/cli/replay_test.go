package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReplayRedirect(t *testing.T) {
	w := newWorld(t)
	call := []string{
		"replay", "redirect", "--trace", traceFile(t, shortTrace), "--fast", t.TempDir(), "--slow", t.TempDir(),
		"--log-bytes", "4194304",
	}
	done := w.run(t, append(call, "--size-bytes", "8kB", "-o", "json")...)
	var found replayed
	if done.code != 0 || json.Unmarshal([]byte(done.stdout), &found) != nil {
		t.Fatalf("code %d, %s%s", done.code, done.stdout, done.stderr)
	}
	if found.Slow.WrittenBytes != 1<<20 || found.Fast.Writes != 2 || found.Reads != 1 || found.Settings.SizeBytes != 8e3 {
		t.Errorf("found %+v", found)
	}
	byQuantile := w.run(t, append(call, "--size-quantile", "0.5")...)
	if !strings.Contains(byQuantile.stdout, "L=8 S_max=4.1kB p=0.5") || !strings.HasPrefix(byQuantile.stdout, "DEVICE ") {
		t.Errorf("code %d, %s%s", byQuantile.code, byQuantile.stdout, byQuantile.stderr)
	}
	without := w.run(t, append(call, "--without")...)
	if !strings.Contains(without.stdout, "redirected: 0% of the writes, 0% of their bytes\n") {
		t.Errorf("code %d, %s%s", without.code, without.stdout, without.stderr)
	}
}

// A size as people write it is seldom one of whole blocks.
func TestReplayRedirectTakesRoundSizesOfLogs(t *testing.T) {
	w, trace := newWorld(t), traceFile(t, shortTrace)
	for _, bytes := range []string{"5MB", "4194305", "4200000.5"} {
		done := w.run(t, "replay", "redirect", "--trace", trace, "--fast", t.TempDir(), "--slow", t.TempDir(), "--log-bytes", bytes)
		if done.code != 0 {
			t.Errorf("%s: code %d, %s", bytes, done.code, done.stderr)
		}
	}
}

func TestReplayRedirectTellsItsDefaults(t *testing.T) {
	help := newWorld(t).run(t, "replay", "redirect", "--help").stdout
	for _, want := range []string{"above which the threshold falls (default 8)\n", "above which writes are redirected\n", "(default 268MB)\n"} {
		if !strings.Contains(help, want) {
			t.Errorf("%q is not in\n%s", want, help)
		}
	}
}

func TestReplayRedirectSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	trace := traceFile(t, shortTrace)
	for name, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"nothing given": {nil, "--trace, --fast and --slow must be given"},
		"no trace":      {[]string{"--trace", "/missing", "--fast", "/", "--slow", "/"}, "reading the trace"},
		"a wrong trace": {[]string{"--trace", traceFile(t, "x\n"), "--fast", "/", "--slow", "/"}, "does not begin with the line"},
		"no device":     {[]string{"--trace", trace, "--fast", "/missing", "--slow", "/"}, "Name a folder on the device"},
		"a small log":   {[]string{"--trace", trace, "--fast", t.TempDir(), "--slow", "/", "--log-bytes", "4096"}, "Let logs be as large"},
		"a large step":  {[]string{"--step-ratio", "2"}, "a share from 0 to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			done := w.run(t, append([]string{"replay", "redirect"}, test.arguments...)...)
			if done.code == 0 || !strings.Contains(done.stderr, test.want) {
				t.Errorf("code %d, %s", done.code, done.stderr)
			}
		})
	}
}
