package script_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/policies/script"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func target() policy.Target {
	return policy.Target{
		Ref: policy.Ref{Node: "node1", Store: "postgres", Instance: "main"}, Kind: store.Checkpoint,
		Fresh: true, Age: 250 * time.Millisecond,
		Description: store.Description{Capabilities: []store.Capability{{
			Kind: store.Checkpoint, CanStart: true,
			Settings: []store.SettingName{store.RateBytesPerSecond, store.Hold},
		}}},
		Snapshot: store.Snapshot{
			Tasks: []store.Task{{
				ID: "1", Kind: store.Checkpoint, State: store.Running, Phase: "write",
				BytesDone: 1 << 60, BytesTotal: 1 << 61, RateBytesPerSecond: 2.5, Throttled: time.Second, Age: time.Minute,
			}},
			Debts:     []store.Debt{{Kind: store.Checkpoint, Bytes: 5, TriggerBytes: 6, LimitBytes: 7, Files: 8, EstimatedRecovery: -1}},
			Leases:    []store.Lease{{Kind: store.Checkpoint, Setting: store.Setting{Name: store.Hold}, Owner: "o", TimeLeft: time.Second}},
			Latencies: []store.Latency{{Class: "write", Age: time.Second, Interval: time.Second, Count: 100, P99: 20 * time.Millisecond}},
			Figures:   map[string]float64{"b_bytes": 2, "a_bytes": 1},
		},
		NodeSignalsAge: 750 * time.Millisecond,
		NodeSignals:    policy.NodeSignals{CPUUsed: 0.5, IOPressure: 0.25, Devices: []policy.DeviceSignals{{Name: "sda", InFlight: 3}}},
	}
}

func view() policy.View {
	other := target()
	other.Node = "node2"
	return policy.View{
		Now: 90 * time.Second, WallClock: time.Unix(1700000000, 500000000), Period: time.Second,
		Targets: []policy.Target{target(), other},
		Signals: map[string]policy.Signal{"p99": {Value: 0.5, Age: time.Second, Fresh: true}},
	}
}

func made(t *testing.T, source string, more ...any) policy.Policy {
	t.Helper()
	given := map[string]any{"source": source}
	for i := 0; i < len(more); i += 2 {
		given[more[i].(string)] = more[i+1]
	}
	built, err := script.New(given)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func TestScriptSeesTheWholeView(t *testing.T) {
	for expression, want := range map[string]string{
		"view.now_seconds == 90.0":                                                      "True",
		"view.wall_clock_unix_seconds":                                                  "1.7000000005e+09",
		"view.period_seconds":                                                           "1.0",
		"view.target.node + view.target.store + view.target.instance":                   "node1postgresmain",
		"(view.target.kind, view.target.scope, view.target.is_fresh)":                   `("checkpoint", "", True)`,
		"view.target.age_seconds":                                                       "0.25",
		"view.target.capabilities[0].settings":                                          `["rate_bytes_per_second", "hold"]`,
		"view.target.capabilities[0].can_start":                                         "True",
		"view.target.tasks[0].bytes_total - view.target.tasks[0].bytes_done == 1 << 60": "True",
		"view.target.tasks[0].state + view.target.tasks[0].phase":                       "runningwrite",
		"view.target.tasks[0].throttled_seconds + view.target.tasks[0].age_seconds":     "61.0",
		"view.target.debts[0].bytes * 100 // view.target.debts[0].limit_bytes":          "71",
		"view.target.debts[0].estimated_recovery_seconds < 0":                           "True",
		"view.target.leases[0].setting + view.target.leases[0].owner":                   "holdo",
		"view.target.latencies[0].p99_seconds * view.target.latencies[0].count":         "2.0",
		"view.target.figures.keys()":                                                    `["a_bytes", "b_bytes"]`,
		"view.target.node_signals.devices[0].in_flight":                                 "3.0",
		"view.target.node_signals.age_seconds":                                          "0.75",
		"view.target.node_signals.io_pressure":                                          "0.25",
		"view.target.lease":                                                             "None",
		"[t.node for t in view.targets]":                                                `["node1", "node2"]`,
		"(len(view.targets), view.targets[1].node, bool(view.targets))":                 `(2, "node2", True)`,
		"view.signals['p99'].value + view.signals['p99'].age_seconds":                   "1.5",
		"view.memory['seen_count']":                                                     "4.0",
		"(view.constants.x, view.constants.y, view.constants.z)":                        `(4.0, "text", True)`,
	} {
		source := "def decide(view):\n  return {'setting': 'hold', 'reason': str(" + expression + ")}\n"
		constants := map[string]any{"x": 4, "y": "text", "z": true}
		decision, _ := made(t, source, "constants", constants).Decide(view(), target(), map[string]float64{"seen_count": 4})
		if decision.Reason != want {
			t.Errorf("%s is %q, want %q", expression, decision.Reason, want)
		}
	}
}

func TestResults(t *testing.T) {
	rate := &store.Setting{Name: store.RateBytesPerSecond, Number: 5e6}
	leased := target()
	leased.Lease = &store.Lease{Setting: *rate}
	for name, test := range map[string]struct {
		returned string
		target   policy.Target
		want     policy.Decision
		memory   map[string]float64
	}{
		"dict": {
			`{"setting": "rate_bytes_per_second=%d" % int(5e6), "start": True, "reason": "r", "inputs": {"a_bytes": 1}, "memory": {"n_count": 2.5}}`,
			target(), policy.Decision{Verdict: policy.Change, Setting: rate, Start: true, Reason: "r", Inputs: map[string]float64{"a_bytes": 1}},
			map[string]float64{"n_count": 2.5},
		},
		"a start with the setting that is there": {
			`{"setting": "rate_bytes_per_second=5e6", "start": True, "reason": "r"}`, leased,
			policy.Decision{Verdict: policy.Change, Setting: rate, Start: true, Reason: "r"}, map[string]float64{},
		},
		"struct": {
			`struct(setting = "rate_bytes_per_second=5e6", reason = "r")`, leased,
			policy.Decision{Verdict: policy.Keep, Setting: rate, Reason: "r"}, map[string]float64{},
		},
		"None": {`None`, leased, policy.Decision{Verdict: policy.Stop, Reason: "the script wants no lease"}, map[string]float64{}},
		"None without a lease": {
			`None`, target(), policy.Decision{Verdict: policy.Keep, Reason: "the script wants no lease"}, map[string]float64{},
		},
		"no setting, but a memory": {
			`{"setting": None, "reason": "quiet", "memory": {"x": 1}}`, target(),
			policy.Decision{Verdict: policy.Keep, Reason: "quiet"}, map[string]float64{"x": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			decision, memory := made(t, "def decide(view):\n  return "+test.returned+"\n").Decide(view(), test.target, nil)
			test.want.Target, test.want.Kind = test.target.Ref, store.Checkpoint
			if !reflect.DeepEqual(decision, test.want) {
				t.Errorf("got %+v, want %+v", decision, test.want)
			}
			if !reflect.DeepEqual(memory, test.memory) {
				t.Errorf("memory is %v, want %v", memory, test.memory)
			}
		})
	}
}

func TestErrorsEndInStop(t *testing.T) {
	for body, want := range map[string]string{
		"return 1":                                          "decide returned a int: return a dict, a struct or None",
		"return {1: 2}":                                     "a key of type int",
		"return {'seting': 'hold'}":                         "seting: it is not known",
		"return {'setting': 5e6}":                           "setting: it is a float: give a text such as",
		"return {'setting': 'fast'}":                        `the setting "fast" is not known`,
		"return {'setting': 'concurrency=2'}":               "concurrency is no pace",
		"return {'setting': 'full'}":                        "the store cannot set full of checkpoint",
		"return {'setting': 'hold', 'start': 1}":            "start: it is a int",
		"return {'start': True}":                            "start needs a setting",
		"return {'reason': 1}":                              "reason: it is a int",
		"return {'inputs': [1]}":                            "inputs: it is a list",
		"return {'inputs': {'a': 'b'}}":                     `"a" is no finite number`,
		"return {'memory': {'a': float('nan')}}":            `"a" is no finite number`,
		"return {'memory': {1: 1}}":                         "a key that is no plain name",
		"return {'memory': {str(i): i for i in range(65)}}": "65 entries: at most 64",
		"return view.nothing":                               "source:2:16: in decide Error: struct has no .nothing attribute",
		"return 1 // 0":                                     "floored division by zero",
		"view.memory['a'] = 1":                              "cannot insert into frozen hash table",
		"view.target.tasks.append(1)":                       "cannot append to frozen list",
		"for i in range(1000000000): pass":                  "too many steps",
		"return decide(view)":                               "called recursively",
		"fail('the reason')":                                "fail: the reason",
	} {
		memory := map[string]float64{"kept_count": 1}
		decision, after := made(t, "def decide(view):\n    "+body+"\n").Decide(view(), target(), memory)
		if decision.Verdict != policy.Stop || decision.Setting != nil || decision.Start || !strings.Contains(decision.Reason, want) {
			t.Errorf("%s: got %s: %s", body, decision.Verdict, decision.Reason)
		}
		if !reflect.DeepEqual(after, memory) {
			t.Errorf("%s: memory is %v", body, after)
		}
	}
}

func TestStartIsRefusedWhereTheStoreCannot(t *testing.T) {
	unable := target()
	unable.Description.Capabilities[0].CanStart = false
	decision, _ := made(t, "def decide(view):\n  return {'setting': 'hold', 'start': True}\n").Decide(view(), unable, nil)
	if decision.Verdict != policy.Stop || !strings.Contains(decision.Reason, "cannot start a checkpoint") {
		t.Errorf("got %s: %s", decision.Verdict, decision.Reason)
	}
}

func TestStaleTargetIsNotShownToTheScript(t *testing.T) {
	stale := target()
	stale.Fresh, stale.Missing = false, "no answer"
	decision, _ := made(t, "def decide(view):\n  return {'setting': 'hold'}\n").Decide(view(), stale, nil)
	if decision.Verdict != policy.Stop || decision.Reason != "no answer" {
		t.Errorf("got %s: %s", decision.Verdict, decision.Reason)
	}
}

func TestSameViewSameDecision(t *testing.T) {
	built := made(t, `
def decide(view):
    names = [name for name in view.target.figures] + [name for name in view.memory]
    return {"setting": "hold", "reason": " ".join(names)}
`)
	memory := map[string]float64{"q": 1, "p": 2, "s": 3, "r": 4}
	for range 50 {
		if decision, _ := built.Decide(view(), target(), memory); decision.Reason != "a_bytes b_bytes p q r s" {
			t.Fatalf("names come as %q", decision.Reason)
		}
	}
}

func TestReasonsAreOneLine(t *testing.T) {
	decision, _ := made(t, "def decide(view):\n  return {'setting': 'hold', 'reason': 'a\\n\\033[31mb'}\n").Decide(view(), target(), nil)
	if decision.Reason != "a [31mb" {
		t.Errorf("the reason is %q", decision.Reason)
	}
}

func TestLongReasonsAreCut(t *testing.T) {
	decision, _ := made(t, "def decide(view):\n  return {'setting': 'hold', 'reason': 'é' * 5000}\n").Decide(view(), target(), nil)
	if len(decision.Reason) > 1010 || !strings.HasSuffix(decision.Reason, "é...") {
		t.Errorf("the reason has %d bytes and ends in %q", len(decision.Reason), decision.Reason[len(decision.Reason)-8:])
	}
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	for source, want := range map[string]string{
		"def decide(view)\n  return None":                 "source:2:1: got newline",
		"def decide(view):\n  return x":                   "source:2:10: undefined: x",
		"x = 1 // 0":                                      "source:1:7: in <toplevel>",
		"load('a.star', 'b')":                             "source:1:1: load is not available",
		"x = 1":                                           "source has no function decide",
		"decide = 1":                                      "source has no function decide",
		"def decide():\n  return None":                    "source:1:1: decide must take one parameter",
		"def decide(view, more):\n  return None":          "decide must take one parameter",
		"x = [i for i in range(1000000)]":                 "too many steps",
		"def decide(view):\n  while True:\n    pass":      "does not support while loops",
		strings.Repeat("# comment\n", 7000):               "70000 bytes, at most 65536 are allowed",
		"def decide(view):\n  return open('/etc/passwd')": "undefined: open",
	} {
		_, err := script.New(map[string]any{"source": source})
		if err == nil || !strings.Contains(err.Error(), want) || store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%.40q: got %v, want %q", source, err, want)
		}
	}
}

func TestScriptComesFromAFileOrFromTheConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.star")
	if err := os.WriteFile(path, []byte("def decide(view):\n  return None\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := script.New(map[string]any{"file": path}); err != nil {
		t.Error(err)
	}
	for want, given := range map[string]map[string]any{
		"cannot be read":        {"file": path + ".none"},
		"either file or source": {"file": path, "source": "x = 1"},
		"Give file: PATH":       {},
		"out of range":          {"source": "x = 1", "maximum_steps": 1},
	} {
		if _, err := script.New(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", given, err, want)
		}
	}
}
