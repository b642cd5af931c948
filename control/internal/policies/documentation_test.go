package policies_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "policies", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks are the blocks of a language on a page.
func blocks(text, language string) []string {
	var found []string
	for _, match := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	return found
}

func TestPagesListTheParameters(t *testing.T) {
	for _, kind := range policies.Kinds() {
		declared, err := policies.Describe(kind)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, parameter := range declared {
			unit := parameter.Unit()
			if unit == "" {
				unit = string(parameter.Type)
			}
			want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s | %s |",
				parameter.Name, unit, parameter.DefaultText(), parameter.Range(), parameter.Meaning))
		}
		_, table, _ := strings.Cut(page(t, kind), "| parameter | unit or type | default | allowed | meaning |\n|---|---|---|---|---|\n")
		table, _, _ = strings.Cut(table, "\n\n")
		if wanted := strings.Join(want, "\n"); table != wanted {
			t.Errorf("the table of parameters in %s.md is\n%s\nwant\n%s", kind, table, wanted)
		}
	}
}

func TestExamplesOfPagesLoad(t *testing.T) {
	for _, name := range append(policies.Kinds(), "README") {
		examples := blocks(page(t, name), "yaml")
		if len(examples) == 0 {
			t.Errorf("%s.md has no example", name)
		}
		for _, example := range examples {
			var file struct {
				Policies []struct {
					Name       string
					Type       string
					Targets    map[string]any
					Signals    map[string]any
					Parameters map[string]any
				}
			}
			if err := yaml.UnmarshalWithOptions([]byte(example), &file, yaml.Strict()); err != nil {
				t.Fatalf("%s.md: %v", name, err)
			}
			if len(file.Policies) == 0 {
				t.Errorf("%s.md: an example without a policy", name)
			}
			for _, entry := range file.Policies {
				if _, err := policies.New(entry.Type, entry.Parameters); err != nil {
					t.Errorf("%s.md: %v", name, err)
				}
			}
		}
	}
}

// Whoever copies the example inventory must not be stopped by what its controller refuses.
func TestPoliciesOfTheExampleInventoryLoad(t *testing.T) {
	path := filepath.Join("..", "..", "..", "ansible", "inventories", "example", "group_vars", "controllers.yml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var variables struct {
		Policies []struct {
			Type       string         `yaml:"type"`
			Parameters map[string]any `yaml:"parameters"`
		} `yaml:"controller_policies"`
	}
	if err := yaml.Unmarshal(text, &variables); err != nil {
		t.Fatal(err)
	}
	if len(variables.Policies) == 0 {
		t.Error("it has no policy")
	}
	for _, entry := range variables.Policies {
		if _, err := policies.New(entry.Type, entry.Parameters); err != nil {
			t.Error(err)
		}
	}
}

func TestScriptsOfPagesDecide(t *testing.T) {
	target := policy.Target{
		Kind: store.Checkpoint, Fresh: true,
		Description: store.Description{Capabilities: []store.Capability{{
			Kind: store.Checkpoint, CanStart: true, Settings: []store.SettingName{store.RateBytesPerSecond, store.Hold},
		}}},
		Snapshot: store.Snapshot{
			Debts:     []store.Debt{{Kind: store.Checkpoint, Bytes: 50, LimitBytes: 100}},
			Latencies: []store.Latency{{Class: "write", Interval: time.Second, Count: 100, P99: time.Millisecond}},
		},
	}
	scripts := blocks(page(t, "script"), "python")
	if len(scripts) == 0 {
		t.Error("script.md has no script")
	}
	for _, source := range scripts {
		built, err := policies.New("script", map[string]any{"source": source})
		if err != nil {
			t.Fatal(err)
		}
		for _, load := range []uint64{100, 10000} {
			target.Snapshot.Latencies[0].Count = load
			view := policy.View{Now: time.Minute, Period: time.Second, Targets: []policy.Target{target}}
			if decision, _ := built.Decide(view, target, nil); decision.Verdict == policy.Stop || decision.Setting == nil {
				t.Errorf("%s: %s", decision.Verdict, decision.Reason)
			}
		}
	}
}
