package script_test

import (
	"reflect"
	"regexp"
	"testing"

	"sluice.dev/control/internal/policies/script"
	"sluice.dev/control/internal/policy"
)

// FuzzDecide runs any text as a script: it may be refused or end in stop, but it must come to an end,
// give the same decision each time, and never one that the store could not be given.
func FuzzDecide(f *testing.F) {
	f.Add("def decide(view):\n  return None\n")
	f.Add("def decide(view):\n  return {'setting': 'rate_bytes_per_second=5e6', 'memory': {'x': view.now_seconds}}\n")
	f.Add("def decide(view):\n  return struct(setting = 'hold', start = True, reason = str(view), inputs = view.memory)\n")
	f.Add("def decide(view):\n  return [t for t in view.targets][0].tasks[0].bytes_done\n")
	f.Add("def decide(view):\n  fail(view.signals)\n")
	f.Add("load('x', 'y')\ndecide = lambda view: {}\n")
	// One step may take much memory and time: that is a limit which the page of this policy names.
	heavy := regexp.MustCompile(`<<|[0-9]{5}|0[xXoObB]|[eE]\+?[0-9]{2}|\*(?s:.*)\*`)
	f.Fuzz(func(t *testing.T, source string) {
		if heavy.MatchString(source) {
			t.Skip()
		}
		built, err := script.New(map[string]any{"source": source, "maximum_steps": 2000})
		if err != nil {
			return
		}
		first, memory := built.Decide(view(), target(), map[string]float64{"x": 1})
		second, _ := built.Decide(view(), target(), map[string]float64{"x": 1})
		if !reflect.DeepEqual(first, second) {
			t.Errorf("two decisions differ: %+v and %+v", first, second)
		}
		if kept := memory.(map[string]float64); len(kept) > 64 {
			t.Errorf("the memory has %d entries", len(kept))
		}
		if first.Verdict == policy.Stop && (first.Setting != nil || first.Start) {
			t.Errorf("stop with a setting: %+v", first)
		}
		if first.Setting != nil && first.Setting.Validate() != nil {
			t.Errorf("the setting is not valid: %v", first.Setting.Validate())
		}
	})
}
