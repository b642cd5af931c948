package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"sluice.dev/control/internal/cli/clitest"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

const levelsFile = `service_levels:
  - name: orders
    store: hbase
    scope: orders/cf
    profile: {data_bytes: 10000000000, locality: zipfian, row_bytes: 1000}
    target: {statistic: mean, seconds: 0.03}
    most_operations_per_second: 1000
`

func (w *world) write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(w.folder, "levels.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestServiceLevelsAreShown(t *testing.T) {
	w := newWorld(t)
	for name, command := range map[string]string{
		"levels.txt": "slo get", "levels-wide.txt": "slo get -o wide", "levels.json": "slo get -o json",
		"level.txt": "slo explain orders", "level.yaml": "slo explain orders -o yaml",
	} {
		got := w.run(t, strings.Fields(command)...)
		if got.code != exitOK || got.stderr != "" {
			t.Errorf("%s: exit code %d, error %q", command, got.code, got.stderr)
		}
		compare(t, name, got.stdout)
	}
}

func TestServiceLevelsAreApplied(t *testing.T) {
	w := newWorld(t)
	got := w.run(t, "slo", "apply", "--file", w.write(t, levelsFile))
	if got.code != exitOK || !strings.Contains(got.stdout, "1 + 1 = 2") || !strings.Contains(got.stdout, "1 service levels: kept") {
		t.Errorf("exit code %d, output %q, error %q", got.code, got.stdout, got.stderr)
	}
	want := &sluicev1.ApplyServiceLevelsRequest{ServiceLevels: []*sluicev1.ServiceLevel{{
		Name: "orders", Store: "hbase", Scope: "orders/cf", MostOperationsPerSecond: 1000, Weight: 1,
		Profile: &sluicev1.ServiceLevelProfile{DataBytes: 1e10, Locality: "zipfian", RowBytes: 1000, ReadShare: 1},
		Target:  &sluicev1.ServiceLevelTarget{Statistic: "mean", Seconds: 0.03},
	}}}
	if taken := w.controller.Taken(); len(taken) != 1 || !proto.Equal(taken[0], want) {
		t.Errorf("the orders are %v, want %v", taken, want)
	}
	w.environment.Stdin = strings.NewReader(levelsFile)
	got = w.run(t, "slo", "apply", "-f", "-", "--dry-run", "-o", "json")
	if got.code != exitOK || !strings.Contains(got.stdout, `"is_stored": false`) {
		t.Errorf("exit code %d, output %q, error %q", got.code, got.stdout, got.stderr)
	}
}

// What is written is what apply takes, with the versions.
func TestWhatIsExportedCanBeApplied(t *testing.T) {
	for _, form := range []string{"yaml", "json"} {
		w := newWorld(t)
		exported := w.run(t, "slo", "export", "-o", form)
		if exported.code != exitOK || exported.stderr != "" {
			t.Fatalf("%s: exit code %d, error %q", form, exported.code, exported.stderr)
		}
		compare(t, "levels-exported."+form, exported.stdout)
		w.environment.Stdin = strings.NewReader(exported.stdout)
		if got := w.run(t, "slo", "apply", "-f", "-"); got.code != exitOK {
			t.Fatalf("%s: exit code %d, error %q", form, got.code, got.stderr)
		}
		want := &sluicev1.ApplyServiceLevelsRequest{}
		for _, state := range clitest.ServiceLevels() {
			want.ServiceLevels = append(want.ServiceLevels, state.GetServiceLevel())
		}
		if taken := w.controller.Taken(); len(taken) != 1 || !proto.Equal(taken[0], want) {
			t.Errorf("%s: the orders are %v, want %v", form, taken, want)
		}
	}
}

func TestWhatIsRefusedHasItsReasonAndTheNearest(t *testing.T) {
	w := newWorld(t)
	got := w.run(t, "slo", "apply", "--file", w.write(t, strings.Replace(levelsFile, "name: orders", "name: huge", 1)))
	for _, want := range []string{"huge is refused, and nothing has changed: it takes 3GB", "hint: possible are: this with 5 nodes"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("the error has no %q: %q", want, got.stderr)
		}
	}
	if got.code != exitRefused || !strings.Contains(got.stdout, "1 + 1 = 2") {
		t.Errorf("exit code %d, output %q", got.code, got.stdout)
	}
}

func TestAFileThatIsWrongIsNotSent(t *testing.T) {
	w := newWorld(t)
	got := w.run(t, "slo", "apply", "--file", w.write(t, strings.Replace(levelsFile, "mean", "p95", 1)))
	if got.code != exitFailure || !strings.Contains(got.stderr, "line 6: service_levels[0].target.statistic") {
		t.Errorf("exit code %d, error %q", got.code, got.stderr)
	}
	if got := w.run(t, "slo", "apply"); got.code != exitUsage || !strings.Contains(got.stderr, "--file must be given") {
		t.Errorf("without a file: exit code %d, error %q", got.code, got.stderr)
	}
	if taken := w.controller.Taken(); len(taken) > 0 {
		t.Errorf("the orders are %v", taken)
	}
}

func TestAServiceLevelThatClientsMeasureIsApplied(t *testing.T) {
	w := newWorld(t)
	w.run(t, "slo", "apply", "--file", w.write(t, strings.Replace(levelsFile, "0.03}", "0.03, measured_at: client}", 1)))
	taken := w.controller.Taken()
	if len(taken) != 1 || taken[0].(*sluicev1.ApplyServiceLevelsRequest).GetServiceLevels()[0].GetTarget().GetMeasuredAt() != "client" {
		t.Errorf("the orders are %v", taken)
	}
}

func TestServiceLevelsAreDeleted(t *testing.T) {
	w := newWorld(t)
	got := w.run(t, "slo", "delete", "orders", "--version", "7")
	want := &sluicev1.DeleteServiceLevelRequest{Name: "orders", Version: "7"}
	if taken := w.controller.Taken(); got.code != exitOK || len(taken) != 1 || !proto.Equal(taken[0], want) {
		t.Errorf("exit code %d, error %q, orders %v", got.code, got.stderr, taken)
	}
}
