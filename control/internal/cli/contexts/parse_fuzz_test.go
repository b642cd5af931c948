package contexts

import (
	"reflect"
	"testing"

	"sluice.dev/control/internal/store"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte("contexts: {a: {agent: 'b:1', node: c, cluster: d, certificate_file: e, key_file: f, ca_file: g}}"))
	f.Add([]byte("current_context: demo\ncontexts:\n  demo:\n    cluster: demo\n    controller: db1.example:7413\n"))
	f.Add([]byte("current_context: &a b\ncontexts: *a"))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := Parse(content)
		if err != nil {
			if store.CodeOf(err) != store.CodeInvalid {
				t.Fatalf("code %s: %v", store.CodeOf(err), err)
			}
			return
		}
		written, err := file.encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if again, err := Parse(written); err != nil || !same(again, file) {
			t.Fatalf("written and read again: %+v, %v; want %+v", again, err, file)
		}
	})
}

// same takes no contexts for an empty list of them.
func same(a, b File) bool {
	if len(a.Contexts) == 0 && len(b.Contexts) == 0 {
		return a.CurrentContext == b.CurrentContext
	}
	return reflect.DeepEqual(a, b)
}
