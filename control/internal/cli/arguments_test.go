package cli

import (
	"testing"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func TestParseTarget(t *testing.T) {
	got, err := parseTarget("db1/postgres/main")
	if want := (policy.Ref{Node: "db1", Store: "postgres", Instance: "main"}); err != nil || got != want {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"", "db1", "db1/postgres", "db1/postgres/", "/postgres/main", "a/b/c/d", "//"} {
		if _, err := parseTarget(text); store.CodeOf(err) != store.CodeInvalid {
			t.Errorf("%q gives %v", text, err)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, text := range []string{"db1/postgres/main", "a/b", "//", "a/b/c/d", "\x00/b/c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := parseTarget(text)
		if err == nil && ref.String() != text {
			t.Fatalf("%q is read as %q", text, ref)
		}
	})
}
