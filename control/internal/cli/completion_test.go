package cli

import (
	"strings"
	"testing"

	"sluice.dev/control/tests/process"
)

func TestCompletion(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		typed string
		want  string
	}{
		{"get |", "nodes stores tasks leases debts latencies decisions"},
		{"get --node |", "db1 db2 db3"},
		{"get --store |", "hbase postgres rocksdb"},
		{"get --kind |", "compaction flush checkpoint log-placement cache balancing normalization streaming requests"},
		{"get --policy |", "idle nightly"},
		{"get --output |", "table wide json yaml"},
		{"get --context |", "db1 demo"},
		{"get --node | --context db1", "db1"},
		{"set |", "db1/hbase/regionserver db1/postgres/main db1/rocksdb/orders db2/postgres/main"},
		{"set db1/rocksdb/orders |", "compaction log-placement"},
		{"set db1/rocksdb/orders compaction |", "concurrency= hold rate_bytes_per_second="},
		{"set db1/rocksdb/orders log-placement |", "tier="},
		{"set db1/rocksdb/orders compaction hold |", ""},
		{"start db1/postgres/main |", "checkpoint"},
		{"start db1/hbase/regionserver compaction --variant |", "major minor"},
		{"start db1/hbase/regionserver flush --variant |", ""},
		{"start --variant |", ""},
		{"abort db1/hbase/regionserver |", "cache compaction flush"},
		{"abort db1/hbase/regionserver compaction |", "compaction-17 compaction-18"},
		{"abort db1/hbase/regionserver compaction compaction-17 |", ""},
		{"clear db1/postgres/main checkpoint |", ""},
		{"policy show |", "idle nightly"},
		{"policy pause nightly |", ""},
		{"policy explain |", "fixed opportunistic redirect request-limit script service-level slo"},
		{"policy simulate testdata/controller.yaml |", "hold-p99 idle nightly by-query flushes"},
		{"policy simulate testdata/controller.yaml idle |", ""},
		{"policy simulate testdata/controller.yaml idle --load |", "bursts steady random-bursts ramp"},
		{"config use |", "db1 demo"},
		{"completion |", "bash zsh fish"},
		{"watch |", "decisions tasks"},
		{"get --node | --controller " + process.FreeAddress(t), ""},
	} {
		before, after, _ := strings.Cut(test.typed, "|")
		arguments := append(strings.Fields("__complete "+after), strings.Fields(before)...)
		got := w.run(t, append(arguments, "")...)
		var words []string
		for line := range strings.Lines(got.stdout) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if word != "" && !strings.HasPrefix(word, ":") {
				words = append(words, word)
			}
		}
		if strings.Join(words, " ") != test.want {
			t.Errorf("%s: got %v, want %s", test.typed, words, test.want)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	w := newWorld(t)
	for shell, want := range map[string]string{
		"bash": "__start_sluice", "zsh": "#compdef sluice", "fish": "complete -c sluice",
	} {
		if got := w.run(t, "completion", shell); got.code != exitOK || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: exit code %d, error %q", shell, got.code, got.stderr)
		}
	}
}
