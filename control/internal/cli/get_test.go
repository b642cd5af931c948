package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestGetWritesWhatItDidBefore(t *testing.T) {
	w := newWorld(t)
	for name, command := range map[string]string{
		"everything.txt":         "get",
		"everything.json":        "get -o json",
		"nodes.txt":              "get nodes",
		"nodes-wide.txt":         "get nodes -o wide",
		"nodes.json":             "get nodes --node db2 -o json",
		"stores.txt":             "get stores",
		"stores-wide.txt":        "get stores -o wide",
		"stores.yaml":            "get stores --store rocksdb -o yaml",
		"tasks.txt":              "get tasks",
		"tasks-wide.txt":         "get tasks -o wide --kind compaction",
		"tasks.json":             "get tasks --kind checkpoint -o json",
		"no-tasks.txt":           "get tasks --node db3",
		"no-tasks.json":          "get tasks --node db3 -o json",
		"leases.txt":             "get leases",
		"leases-of-a-policy.txt": "get leases --policy nightly",
		"leases.json":            "get leases --kind log-placement -o json",
		"debts.txt":              "get debts",
		"debts.json":             "get debts --store postgres -o json",
		"latencies.txt":          "get latencies",
		"latencies-wide.txt":     "get latencies -o wide",
		"latencies.json":         "get latencies --node db1 -o json",
		"decisions.txt":          "get decisions",
		"decisions-wide.txt":     "get decisions -o wide",
		"decisions.json":         "get decisions --policy nightly --limit 1 -o json",
		"decisions-of-kind.txt":  "get decisions --kind checkpoint --limit 1",
		"changes.txt":            "get decisions --changes-only",
		"agent.txt":              "get --context db1",
		"policies.txt":           "policy list",
		"policies-wide.txt":      "policy list -o wide",
		"policies.json":          "policy list -o json",
		"policy.txt":             "policy show nightly",
		"policy.yaml":            "policy show idle -o yaml",
		"kinds.txt":              "policy kinds",
		"top.txt":                "top --once",
		"top-of-a-node.txt":      "top --once --node db3",
	} {
		t.Run(name, func(t *testing.T) {
			got := w.run(t, strings.Fields(command)...)
			if got.code != exitOK || got.stderr != "" {
				t.Fatalf("%s: exit code %d, error %q", command, got.code, got.stderr)
			}
			if strings.HasSuffix(name, ".json") && !json.Valid([]byte(got.stdout)) {
				t.Errorf("%s is not JSON", got.stdout)
			}
			compare(t, name, got.stdout)
		})
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		name       string
		isTerminal bool
		variables  map[string]string
		want       bool
	}{
		{"terminal", true, nil, true},
		{"file", false, nil, false},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false},
		{"dumb terminal", true, map[string]string{"TERM": "dumb"}, false},
	} {
		w.environment.IsTerminal = test.isTerminal
		w.environment.Getenv = func(name string) string { return w.variables[name] + test.variables[name] }
		got := w.run(t, "get", "nodes")
		if strings.Contains(got.stdout, "\x1b[") != test.want {
			t.Errorf("%s: got %q", test.name, got.stdout)
		}
	}
}

func TestContextIsThatOfTheFlagThenTheVariableThenTheFile(t *testing.T) {
	w := newWorld(t)
	nodes := func(arguments ...string) int {
		got := w.run(t, append([]string{"get", "nodes"}, arguments...)...)
		return strings.Count(got.stdout, "\n") - 1
	}
	if got := nodes(); got != 3 {
		t.Errorf("the current context, of the controller, shows %d nodes", got)
	}
	w.variables["SLUICE_CONTEXT"] = "db1"
	if got := nodes(); got != 1 {
		t.Errorf("SLUICE_CONTEXT, of the agent, shows %d nodes", got)
	}
	if got := nodes("--context", "demo"); got != 3 {
		t.Errorf("--context, of the controller, shows %d nodes", got)
	}
}
