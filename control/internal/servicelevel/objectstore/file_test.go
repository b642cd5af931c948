package objectstore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

func object(name, version string) servicelevel.Object {
	return servicelevel.Object{
		Name: name, Store: "hbase", Scope: name + "/cf", MostOperationsPerSecond: 100, Weight: 1, Version: version,
		Profile: servicelevel.Profile{DataBytes: 1e9, RowBytes: 1000, Locality: servicelevel.Random, ReadShare: 1},
		Target:  servicelevel.Target{Statistic: servicelevel.Mean, Seconds: 0.03},
	}
}

func TestWhatIsKeptIsThereAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "levels.json")
	empty, err := NewFile(path).Load(t.Context())
	if err != nil || len(empty.Objects) != 0 || empty.Revision != 0 {
		t.Fatalf("there is %+v, %v", empty, err)
	}
	kept, err := NewFile(path).Swap(t.Context(), empty, []servicelevel.Object{object("b", "1"), object("a", "1")})
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewFile(path).Load(t.Context())
	want := []servicelevel.Object{object("a", "1"), object("b", "1")}
	if err != nil || !slices.Equal(again.Objects, want) || again.Revision != 1 || !slices.Equal(kept.Objects, want) {
		t.Errorf("there is %+v, %v", again, err)
	}
	if left, err := filepath.Glob(path + ".new-*"); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestOnlyWhoHasSeenTheLastSetReplacesIt(t *testing.T) {
	kept := NewFile(filepath.Join(t.TempDir(), "levels.json"))
	first, err := kept.Swap(t.Context(), Set{}, []servicelevel.Object{object("a", "1")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Swap(t.Context(), Set{}, nil); store.CodeOf(err) != store.CodeConflict {
		t.Errorf("a set that nobody had seen was replaced: %v", err)
	}
	if second, err := kept.Swap(t.Context(), first, nil); err != nil || second.Revision != 2 {
		t.Errorf("there is %+v, %v", second, err)
	}
}

// What cannot be read is neither taken for nothing nor written over.
func TestAFileThatIsBrokenIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "levels.json")
	for _, text := range []string{
		"{", `{"format": 2, "revision": 1, "service_levels": []}`, `{"format": 1, "other": 1}`,
		`{"format": 1, "revision": 1, "service_levels": [{"name": "a"}]}`,
		`{"format": 1, "revision": 1, "service_levels": []}{"format": 1, "revision": 2, "service_levels": []}`,
		`{"format": 1, "revision": 1, "service_levels": []} ]`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewFile(path).Load(t.Context()); err == nil {
			t.Errorf("%s was read", text)
		}
		if _, err := NewFile(path).Swap(t.Context(), Set{Revision: 1}, nil); err == nil {
			t.Errorf("%s was replaced", text)
		}
		if is, err := os.ReadFile(path); err != nil || string(is) != text {
			t.Errorf("%s is %s now, %v", text, is, err)
		}
	}
}

// That of no service levels has a text: an empty file is one that was lost, and is not taken for it.
func TestAnEmptyFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "levels.json")
	for _, text := range []string{"", " \n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, readErr := NewFile(path).Load(t.Context())
		_, writeErr := NewFile(path).Swap(t.Context(), Set{}, []servicelevel.Object{object("a", "1")})
		for _, err := range []error{readErr, writeErr} {
			if err == nil || store.CodeOf(err) != store.CodeUnavailable || !strings.Contains(err.Error(), "Put a copy back, or") {
				t.Errorf("of %q the error is %v", text, err)
			}
		}
		if is, err := os.ReadFile(path); err != nil || string(is) != text {
			t.Errorf("%q is %q now, %v", text, is, err)
		}
	}
}

func TestAFolderThatIsNotThereIsNamed(t *testing.T) {
	_, err := NewFile(filepath.Join(t.TempDir(), "none", "levels.json")).Swap(t.Context(), Set{}, nil)
	if store.CodeOf(err) != store.CodeUnavailable || !strings.Contains(err.Error(), "state_file") {
		t.Errorf("the error is %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	_, text, err := encode(Set{}, []servicelevel.Object{object("a", "1"), object("b", "2")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":1,"revision":18446744073709551615,"service_levels":null}`))
	f.Add(append(slices.Clone(text), '}'))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := decode(text, 1)
		if err != nil {
			return
		}
		_, again, err := encode(Set{Revision: set.Revision - 1}, set.Objects)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := decode(again, 1); err != nil || len(same.Objects) != len(set.Objects) {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
	})
}
