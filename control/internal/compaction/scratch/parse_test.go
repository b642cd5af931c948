package scratch

import (
	"strings"
	"testing"

	"sluice.dev/control/internal/compaction"
)

func TestStartedTicks(t *testing.T) {
	const state = "17 (a) b (c)) S 1 17 17 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 100 5"
	if ticks, err := parseStartedTicks([]byte(state)); err != nil || ticks != 4711 {
		t.Errorf("%d, %v", ticks, err)
	}
	for _, text := range []string{"", "17 (a) S 1", strings.Replace(state, "4711", "x", 1)} {
		if ticks, err := parseStartedTicks([]byte(text)); err == nil {
			t.Errorf("%q has %d", text, ticks)
		}
	}
}

func FuzzStartedTicks(f *testing.F) {
	f.Add([]byte("17 (a) S 1 17 17 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 100 5"))
	f.Add([]byte(")"))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = parseStartedTicks(text) })
}

// FuzzEntry reads bytes as an entry of the journal. What is accepted can only be a directory of a job.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"output_path":"/srv/.sluice-compaction-a","worker":{"pid":1,"started_ticks":2,"boot":"b"}}`))
	f.Add([]byte(`{"output_path":"/","worker":{"pid":-1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		entry, err := parseEntry(text)
		if err != nil {
			return
		}
		if compaction.ValidatePath(entry.OutputPath) != nil || !strings.Contains(entry.OutputPath, "/"+compaction.OutputPrefix) ||
			entry.Worker.PID < 0 {
			t.Errorf("%+v is accepted", entry)
		}
	})
}
