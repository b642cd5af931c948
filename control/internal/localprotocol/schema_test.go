package localprotocol

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice.dev/control/internal/store"
)

// proto/local is where the schemas are maintained; go generate copies them.
func TestSchemasAreThoseOfProtoLocal(t *testing.T) {
	canonical := readSchemas(t, "../../../proto/local")
	embedded := readSchemas(t, "schema")
	if len(canonical) == 0 {
		t.Fatal("proto/local has no schemas")
	}
	for name, text := range canonical {
		if !bytes.Equal(text, embedded[name]) {
			t.Errorf("schema/%s differs from proto/local/%s: run go generate", name, name)
		}
	}
	for name := range embedded {
		if _, wanted := canonical[name]; !wanted {
			t.Errorf("schema/%s is not in proto/local: remove it", name)
		}
	}
}

func readSchemas(t *testing.T, directory string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		if files[entry.Name()], err = os.ReadFile(filepath.Join(directory, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Every property of every message is described, itself or by the definition that it refers to.
func TestEveryFieldIsDescribed(t *testing.T) {
	for name, text := range readSchemas(t, "schema") {
		var schema map[string]any
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, undescribed := range undescribed("", schema) {
			t.Errorf("%s: %s has no description", name, undescribed)
		}
	}
}

// undescribed does not look into conditions, which repeat properties that are described elsewhere.
func undescribed(path string, schema map[string]any) []string {
	var found []string
	for _, group := range []string{"properties", "$defs"} {
		properties, _ := schema[group].(map[string]any)
		for name, value := range properties {
			property, _ := value.(map[string]any)
			_, described := property["description"]
			_, refers := property["$ref"]
			if !described && !refers {
				found = append(found, path+"/"+name)
			}
			found = append(found, undescribed(path+"/"+name, property)...)
		}
	}
	return found
}

// The conditions of the schema on settings are those of the vocabulary.
func TestSettingsAreThoseOfTheVocabulary(t *testing.T) {
	some, tier := 7.0, "ssd"
	for _, name := range store.SettingNames() {
		for _, given := range []setting{{Name: name}, {Name: name, Number: &some}, {Name: name, Text: &tier}} {
			valid := Validate("set-params", orderWith(t, given)) == nil
			wanted := (given.Number != nil) == name.HasNumber() && (given.Text != nil) == name.HasText()
			if valid != wanted {
				t.Errorf("%s with number %v, text %v: valid is %v", name, given.Number != nil, given.Text != nil, valid)
			}
		}
		for _, number := range []float64{-1, 0, 0.5, 1} {
			inSchema := Validate("set-params", orderWith(t, setting{Name: name, Number: &number})) == nil
			inVocabulary := store.Setting{Name: name, Number: number}.Validate() == nil
			if name.HasNumber() && inSchema != inVocabulary {
				t.Errorf("%s=%v: valid is %v in the schema, %v in the vocabulary", name, number, inSchema, inVocabulary)
			}
		}
	}
}

func orderWith(t *testing.T, given setting) []byte {
	t.Helper()
	text, err := json.Marshal(orderParams{
		Kind: store.Compaction, Setting: &given, Owner: "test", TimeToLiveSeconds: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestComplaintsSayWhereAndWhat(t *testing.T) {
	tests := []struct {
		schema, text string
		parts        []string
	}{
		{"set-params", `{"kind":"flush","owner":"o","time_to_live_seconds":0,"setting":{"name":"hold"}}`,
			[]string{"time_to_live_seconds", "0.001"}},
		{"set-params", `{"kind":"flush","owner":"o","time_to_live_seconds":5,"setting":{"name":"hold","number":3}}`,
			[]string{"setting/number: must be left out"}},
		{"set-params", `{"kind":"flush","owner":"o","time_to_live_seconds":5,"setting":{"name":"hold"},"colour":"blue"}`,
			[]string{"colour"}},
		{"clear-params", `{"scope":"orders","owner":"o"}`, []string{"kind"}},
		{"clear-params", `{}`, []string{"owner"}},
		{"clear-params", `{"owner":1e400}`, []string{"1e400"}},
	}
	for _, test := range tests {
		err := Validate(test.schema, []byte(test.text))
		if err == nil {
			t.Errorf("%s: %s is valid", test.schema, test.text)
			continue
		}
		for _, part := range test.parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %s: %q does not say %q", test.schema, test.text, err, part)
			}
		}
	}
	if err := Validate("nothing", []byte("{}")); err == nil {
		t.Error("a schema that is not there has no complaint")
	}
}

// The lines that docs/local-protocol.md shows are lines of this protocol.
func TestExamplesOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/local-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	methods := []string{methodDescribe, methodSnapshot, methodSet, methodClear, methodStart}
	shown := map[string]bool{}
	for _, block := range blocks {
		method := ""
		for line := range bytes.Lines(block[1]) {
			method = checkExample(t, method, bytes.TrimSpace(line))
			shown[method] = true
		}
	}
	for _, method := range methods {
		if !shown[method] {
			t.Errorf("the page shows no example of %s", method)
		}
	}
}

// checkExample checks a request, or the response to the request of a method, and returns the method.
func checkExample(t *testing.T, method string, line []byte) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	schema, part := "response", "result"
	if _, asks := members["method"]; asks {
		method, _ = textOf(members["method"])
		schema, part = "request", "params"
	}
	if err := Validate(schema, line); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	content, given := members[part]
	if !given {
		return method
	}
	if err := Validate(method+"-"+part, content); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	return method
}

func TestSchemasAreCompleteByMethod(t *testing.T) {
	compiled, err := ownSchemas.compiled()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range compiled {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{
		"abort-params", "abort-result", "clear-params", "clear-result", "definitions", "describe-params", "describe-result", "request",
		"response", "set-params", "set-result", "snapshot-params", "snapshot-result", "start-params", "start-result",
	}
	if !slices.Equal(names, want) {
		t.Errorf("the schemas are %v, not %v", names, want)
	}
}
