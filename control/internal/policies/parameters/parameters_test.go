package parameters_test

import (
	"math"
	"strings"
	"testing"

	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/store"
)

func declared() []parameters.Parameter {
	return []parameters.Parameter{
		{Name: "rate_bytes_per_second", Type: parameters.Number, Required: true, Least: 1, Most: 10, Meaning: "How fast."},
		{Name: "count", Type: parameters.Whole, Default: 3.0, Least: 1, Most: 5},
		{Name: "is_on", Type: parameters.Boolean, Default: true},
		{Name: "class", Type: parameters.Text, Default: "read", Choices: []string{"read", "write"}},
		{Name: "names", Type: parameters.TextList, Default: []string{"a"}, Choices: []string{"a", "b"}},
		{Name: "windows", Type: parameters.Objects},
		{Name: "constants", Type: parameters.Constants},
	}
}

func TestDecodeTakesWhatDecodersGive(t *testing.T) {
	values, err := parameters.Decode(declared(), map[string]any{
		"rate_bytes_per_second": uint64(7), "count": int64(2), "is_on": false, "class": "write",
		"names": []any{"b"}, "windows": []any{map[string]any{"from": "1"}},
		"constants": map[string]any{"x": uint64(4), "y": "text", "z": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if values.Number("rate_bytes_per_second") != 7 || values.Number("count") != 2 || values.Boolean("is_on") ||
		values.Text("class") != "write" || values.TextList("names")[0] != "b" ||
		values.Objects("windows")[0]["from"] != "1" || values.Constants("constants")["x"] != 4.0 {
		t.Errorf("decoded %v", values)
	}
}

func TestDecodeTakesDefaults(t *testing.T) {
	values, err := parameters.Decode(declared(), map[string]any{"rate_bytes_per_second": 1.5})
	if err != nil {
		t.Fatal(err)
	}
	if values.Number("count") != 3 || !values.Boolean("is_on") || values.Text("class") != "read" ||
		len(values.TextList("names")) != 1 || values.Objects("windows") != nil || values.Constants("constants") != nil {
		t.Errorf("decoded %v", values)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		key   string
		value any
		wants []string
	}{
		"unknown":                {"rat", 1, []string{`"rat" is not known`, "known parameters: rate_bytes_per_second"}},
		"text for a number":      {"rate_bytes_per_second", "fast", []string{"is no number: fast", "1 to 10"}},
		"too much":               {"rate_bytes_per_second", 11, []string{"out of range: 11", "from 1 to 10"}},
		"too little":             {"rate_bytes_per_second", 0.5, []string{"out of range"}},
		"not a number":           {"rate_bytes_per_second", math.NaN(), []string{"out of range"}},
		"infinite":               {"rate_bytes_per_second", math.Inf(1), []string{"out of range"}},
		"nothing":                {"rate_bytes_per_second", nil, []string{"is no number"}},
		"a part of a number":     {"count", 2.5, []string{"is no whole number"}},
		"number for a boolean":   {"is_on", 1, []string{"is no boolean", "true, false"}},
		"text outside of choice": {"class", "both", []string{`cannot be "both"`, "read, write"}},
		"number for a text":      {"class", 1, []string{"is no text"}},
		"text for a list":        {"names", "a", []string{"is no list of texts"}},
		"number in a list":       {"names", []any{1}, []string{"is no list of texts"}},
		"no windows":             {"windows", []any{}, []string{"windows is empty", "at least one mapping"}},
		"text in windows":        {"windows", []any{"x"}, []string{"is no list of mappings"}},
		"text for windows":       {"windows", "x", []string{"is no list of mappings"}},
		"list in constants":      {"constants", map[string]any{"x": []any{}}, []string{"constants.x", "plain value"}},
		"text for constants":     {"constants", "x", []string{"is no mapping"}},
	} {
		t.Run(name, func(t *testing.T) {
			given := map[string]any{"rate_bytes_per_second": 5}
			given[test.key] = test.value
			_, err := parameters.Decode(declared(), given)
			if err == nil || store.CodeOf(err) != store.CodeInvalid {
				t.Fatalf("got %v, want an error of code invalid", err)
			}
			for _, part := range test.wants {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not contain %q", err, part)
				}
			}
		})
	}
}

func TestDecodeNamesWhatIsMissing(t *testing.T) {
	_, err := parameters.Decode(declared(), nil)
	if err == nil || !strings.Contains(err.Error(), "rate_bytes_per_second is missing") ||
		!strings.Contains(err.Error(), "How fast. Allowed: 1 to 10.") {
		t.Errorf("got %v", err)
	}
}

func TestUnitComesFromTheName(t *testing.T) {
	for name, unit := range map[string]string{
		"rate_bytes_per_second": "bytes per second", "age_seconds": "seconds", "debt_share": "share of 1",
		"decrease_factor": "factor", "count": "",
	} {
		if got := (parameters.Parameter{Name: name}).Unit(); got != unit {
			t.Errorf("the unit of %s is %q, want %q", name, got, unit)
		}
	}
}
