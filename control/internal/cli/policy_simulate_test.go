package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice.dev/control/internal/cli/simulation"
)

const simulatedConfig = "testdata/controller.yaml"

// simulated runs a policy and reads the report that programs get.
func simulated(t *testing.T, arguments ...string) simulation.Report {
	t.Helper()
	command := append([]string{"policy", "simulate", simulatedConfig, "-o", "json"}, arguments...)
	got := newWorld(t).run(t, command...)
	if got.code != exitOK {
		t.Fatalf("%v: exit code %d, error %q", arguments, got.code, got.stderr)
	}
	var report simulation.Report
	decoder := json.NewDecoder(strings.NewReader(got.stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&report); err != nil {
		t.Fatal(err)
	}
	return report
}

func TestSimulationInATable(t *testing.T) {
	w := newWorld(t)
	got := w.run(t, "policy", "simulate", simulatedConfig, "hold-p99", "--duration", "2m", "--changes-only")
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("exit code %d, error %q", got.code, got.stderr)
	}
	compare(t, "simulation.txt", got.stdout)
}

func TestSimulationForPrograms(t *testing.T) {
	report := simulated(t, "hold-p99", "--duration", "100s")
	if report.Policy != "hold-p99" || report.Type != "slo" || report.Kind != "checkpoint" || report.Seed != 1 || report.Faults != "none" {
		t.Errorf("the run is %+v", report)
	}
	// The first snapshot comes within the first second.
	if len(report.Steps) < 98 || len(report.Steps) > 100 {
		t.Errorf("%d decisions in 100 periods of a second", len(report.Steps))
	}
	summary := report.Summary
	if summary.TargetSeconds == nil || *summary.TargetSeconds != 0.03 || summary.IsTargetReached == nil ||
		*summary.IsTargetReached != (summary.P99Seconds <= 0.03) || summary.IsBoundKept != (summary.LimitReached == 0) {
		t.Errorf("the summary is %+v", summary)
	}
	last := report.Steps[len(report.Steps)-1]
	if last.P99Seconds <= 0 || last.RequestsPerSecond <= 0 || last.DebtBytes <= 0 || last.DebtShare >= 1 || last.Reason == "" {
		t.Errorf("the last step is %+v", last)
	}
}

func TestSimulationDependsOnItsSeedAlone(t *testing.T) {
	run := func(seed string) string {
		return newWorld(t).run(t, "policy", "simulate", simulatedConfig, "hold-p99", "--duration", "80s", "--seed", seed).stdout
	}
	first, again, other := run("7"), run("7"), run("8")
	if first != again {
		t.Error("two runs of the same seed differ")
	}
	if first == other {
		t.Error("two runs of different seeds are the same")
	}
}

func TestSimulatedFaults(t *testing.T) {
	verdicts := func(report simulation.Report, from, to float64) []string {
		var found []string
		for _, step := range report.Steps {
			if step.AtSeconds >= from && step.AtSeconds < to {
				found = append(found, step.Verdict)
			}
		}
		return slices.Compact(found)
	}
	stops := []string{"stop"}
	cut := simulated(t, "hold-p99", "--duration", "2m", "--load", "steady", "--cut", "70s-90s", "--cut", "100s-101s")
	if got := verdicts(cut, 75, 90); !slices.Equal(got, stops) || cut.Summary.LeasesExpired != 1 {
		t.Errorf("with a cut network the verdicts are %v, %d leases ran out", got, cut.Summary.LeasesExpired)
	}
	if want := "network cut 1m10s to 1m30s, network cut 1m40s to 1m41s"; cut.Faults != want {
		t.Errorf("the faults are %q, want %q", cut.Faults, want)
	}
	late := simulated(t, "hold-p99", "--duration", "80s", "--late", "4s")
	if got := verdicts(late, 0, 80); !slices.Equal(got, stops) || late.Summary.Orders != 0 {
		t.Errorf("with snapshots that are stale when they come the verdicts are %v", got)
	}
	down := simulated(t, "hold-p99", "--duration", "80s", "--controller-down", "10s-70s")
	if got := verdicts(down, 10, 70); got != nil {
		t.Errorf("without a controller the verdicts are %v", got)
	}
	bad := simulated(t, "hold-p99", "--duration", "80s", "--lost", "0.3", "--duplicated", "0.2", "--reordered", "2s")
	if !slices.ContainsFunc(bad.Steps, func(s simulation.Step) bool { return !s.IsNews }) {
		t.Error("with messages lost, doubled and reordered every period has news")
	}
	if want := "0.3 of messages lost, 0.2 twice, reordered by up to 2s"; bad.Faults != want {
		t.Errorf("the faults are %q, want %q", bad.Faults, want)
	}
}

func TestSimulationOfOtherPolicies(t *testing.T) {
	idle := simulated(t, "idle", "--duration", "80s", "--load", "random-bursts")
	if idle.Kind != "compaction" || idle.Summary.HighestBytesPerSecond == nil || idle.Summary.TargetSeconds != nil {
		t.Errorf("opportunistic: %+v", idle.Summary)
	}
	nightly := simulated(t, "nightly", "--duration", "80s", "--warm-up", "0s", "--begins-at", "2026-01-31T21:59:30Z", "--target", "1s")
	if s := nightly.Summary; s.Changes != 1 || s.LowestBytesPerSecond == nil || *s.LowestBytesPerSecond != 3e6 || *s.TargetSeconds != 1 {
		t.Errorf("fixed: %+v", s)
	}
	for _, step := range nightly.Steps {
		if isOrdered := step.Setting != nil; isOrdered != (step.AtSeconds >= 30) {
			t.Fatalf("fixed, at %v s: %s", step.AtSeconds, step.Verdict)
		}
	}
	query := simulated(t, "by-query", "--duration", "80s", "--signal", "p99=0.001", "--load", "ramp")
	if query.Summary.HighestBytesPerSecond == nil {
		t.Errorf("by a query: %+v", query.Summary)
	}
}

func TestSimulationSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	empty := filepath.Join(t.TempDir(), "empty.yaml")
	if err := os.WriteFile(empty, []byte("cluster: demo\nname: c1\nagents: []\n"+
		"tls: {certificate_file: /c.crt, key_file: /c.key, ca_file: /ca.crt}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		arguments string
		code      int
		want      []string
	}{
		{"", exitUsage, []string{"FILE is missing"}},
		{"nowhere.yaml", exitFailure, []string{"nowhere.yaml", "hint: sluice controller check"}},
		{"testdata/kinds.txt", exitFailure, []string{"line 1", "hint: sluice controller check"}},
		{empty, exitUsage, []string{"has no policy", "docs/policies"}},
		{simulatedConfig, exitUsage, []string{"has 5 policies", "hold-p99, idle, nightly, by-query, flushes", "next: sluice policy simulate --help"}},
		{simulatedConfig + " other", exitUsage, []string{`no policy "other"`, "There are: hold-p99, idle"}},
		{simulatedConfig + " flushes", exitUsage, []string{"no model of flush", "checkpoint and compaction"}},
		{simulatedConfig + " by-query", exitUsage, []string{`signal "p99" from Prometheus`, "--signal p99=NUMBER"}},
		{simulatedConfig + " idle --signal p99=1", exitUsage, []string{`no signal "p99"`, "are: none"}},
		{simulatedConfig + " idle --signal p99", exitUsage, []string{"as in p99=0.02"}},
		{simulatedConfig + " idle --burst-length 40s", exitUsage, []string{"leave no time between them", "--burst-every"}},
		{simulatedConfig + " idle --warm-up 5m", exitUsage, []string{"leaves nothing", "--duration"}},
		{simulatedConfig + " idle --warm-up=-1s", exitUsage, []string{"as in 0s, 500ms"}},
		{simulatedConfig + " idle --duration 7h", exitUsage, []string{"too long", "6h0m0s at most"}},
		{simulatedConfig + " idle --requests 0", exitUsage, []string{"above 0"}},
		{simulatedConfig + " idle --requests NaN", exitUsage, []string{"above 0"}},
		{simulatedConfig + " idle --device-rate 13MiB", exitUsage, []string{"is not a number of bytes"}},
		{simulatedConfig + " idle --lost 20", exitUsage, []string{"a share from 0 to 1"}},
		{simulatedConfig + " idle --lost NaN", exitUsage, []string{"a share from 0 to 1"}},
		{simulatedConfig + " idle --cut 20s", exitUsage, []string{"as in 100s-2m"}},
		{simulatedConfig + " idle --cut 20s-10s", exitUsage, []string{"an end after it"}},
		{simulatedConfig + " idle --begins-at 22:00", exitUsage, []string{"as in 2026-01-31T22:30:00Z"}},
		{simulatedConfig + " idle --load wild", exitUsage, []string{"one of bursts, steady"}},
	} {
		got := w.run(t, append([]string{"policy", "simulate"}, strings.Fields(test.arguments)...)...)
		if got.code != test.code || got.stdout != "" {
			t.Errorf("%q: exit code %d, want %d; output %q, error %q", test.arguments, got.code, test.code, got.stdout, got.stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(got.stderr, want) {
				t.Errorf("%q: error %q does not hold %q", test.arguments, got.stderr, want)
			}
		}
	}
}
