package policies_test

import (
	"slices"
	"strings"
	"testing"

	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/store"
)

func TestKindsAreSorted(t *testing.T) {
	want := []string{"fixed", "opportunistic", "redirect", "request-limit", "script", "service-level", "slo"}
	if got := policies.Kinds(); !slices.Equal(got, want) {
		t.Errorf("kinds are %v, want %v", got, want)
	}
}

func TestUnknownKind(t *testing.T) {
	_, err := policies.New("pid", nil)
	if err == nil || store.CodeOf(err) != store.CodeInvalid ||
		!strings.Contains(err.Error(), `"pid" is not known (Known types: fixed, opportunistic, redirect, request-limit, script, service-level, slo.)`) {
		t.Errorf("got %v", err)
	}
	if _, err := policies.Describe("pid"); err == nil {
		t.Error("an unknown kind is described")
	}
}

func TestErrorsNameThePolicyAndTheParameter(t *testing.T) {
	_, err := policies.New("slo", map[string]any{"target_seconds": -1, "ceiling_bytes_per_second": 1e6})
	want := "policy slo: target_seconds is out of range: -1 (Give a number from 1e-05 to 600.)"
	if err == nil || err.Error() != want || store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestParametersAreDeclaredWell(t *testing.T) {
	for _, kind := range policies.Kinds() {
		declared, err := policies.Describe(kind)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for _, parameter := range declared {
			switch {
			case seen[parameter.Name]:
				t.Errorf("%s: %s is declared twice", kind, parameter.Name)
			case !strings.HasSuffix(parameter.Meaning, "."):
				t.Errorf("%s: the meaning of %s is no sentence: %q", kind, parameter.Name, parameter.Meaning)
			case parameter.Required && parameter.Default != nil:
				t.Errorf("%s: %s is required and has a default", kind, parameter.Name)
			}
			if number, isNumber := parameter.Default.(float64); isNumber && (number < parameter.Least || number > parameter.Most) {
				t.Errorf("%s: the default of %s is out of its range", kind, parameter.Name)
			}
			seen[parameter.Name] = true
		}
	}
}
