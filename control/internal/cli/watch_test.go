package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice.dev/control/tests/process"
)

func TestWatchDecisions(t *testing.T) {
	w := newWorld(t)
	for name, command := range map[string]string{
		"watched-decisions.txt":   "watch decisions",
		"watched-decisions.jsonl": "watch decisions -o json",
	} {
		watching := w.start(t, strings.Fields(command)...)
		await(t, "not every decision has come", func() bool { return strings.Count(watching.stdout.String(), "\n") == 3 })
		got := watching.interrupt(t)
		if got.code != exitOK {
			t.Errorf("%s: exit code %d, error %q", command, got.code, got.stderr)
		}
		compare(t, name, got.stdout)
		told := strings.Contains(got.stderr, "5 decisions were left out")
		if isText := name == "watched-decisions.txt"; told != isText {
			t.Errorf("%s: error %q", command, got.stderr)
		}
	}
}

func TestWatchDecisionsGoesOnAfterARestart(t *testing.T) {
	w := newWorld(t)
	w.controller.BrokenStreams.Store(1)
	watching := w.start(t, "watch", "decisions", "-o", "json")
	await(t, "the decisions have not come twice", func() bool { return strings.Count(watching.stdout.String(), "\n") == 6 })
	got := watching.interrupt(t)
	if got.code != exitOK || !strings.Contains(got.stderr, "opening it again: the controller restarts") {
		t.Errorf("exit code %d, error %q", got.code, got.stderr)
	}
}

func TestWatchDecisionsOfAnAgentFails(t *testing.T) {
	w := newWorld(t)
	if got := w.run(t, "watch", "decisions", "--context", "db1"); got.code != exitFailure {
		t.Errorf("exit code %d, error %q", got.code, got.stderr)
	}
}

func TestWatchFailsAtOnceWhereNobodyAnswers(t *testing.T) {
	w := newWorld(t)
	for _, what := range []string{"decisions", "tasks"} {
		if got := w.run(t, "watch", what, "--controller", process.FreeAddress(t)); got.code != exitUnreachable {
			t.Errorf("%s: exit code %d, error %q", what, got.code, got.stderr)
		}
	}
}

func TestWatchTasks(t *testing.T) {
	w := newWorld(t)
	for name, command := range map[string]string{
		"watched-tasks.txt":   "watch tasks --interval 10ms",
		"watched-tasks.jsonl": "watch tasks --interval 10ms --kind compaction -o json",
	} {
		watching := w.start(t, strings.Fields(command)...)
		await(t, "no task has come", func() bool { return strings.Contains(watching.stdout.String(), "c-5") })
		got := watching.interrupt(t)
		if got.code != exitOK || got.stderr != "" {
			t.Errorf("%s: exit code %d, error %q", command, got.code, got.stderr)
		}
		compare(t, name, got.stdout)
	}
}

func TestEachWatchedLineIsAnObject(t *testing.T) {
	w := newWorld(t)
	watching := w.start(t, "watch", "tasks", "-o", "json")
	await(t, "no task has come", func() bool { return strings.Count(watching.stdout.String(), "\n") == 6 })
	for line := range strings.Lines(watching.interrupt(t).stdout) {
		var event struct{ Event, Node, Store, Instance string }
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Event != "new" || event.Node != "db1" {
			t.Errorf("%q is %+v, %v", line, event, err)
		}
	}
}
