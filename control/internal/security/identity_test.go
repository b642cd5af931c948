package security_test

import (
	"strings"
	"testing"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
)

func TestParseIdentity(t *testing.T) {
	got, err := security.ParseIdentity("sluice://prod/agent/n1.example.net")
	want := security.Identity{Cluster: "prod", Role: security.RoleAgent, Name: "n1.example.net"}
	if err != nil || got != want {
		t.Errorf("got %v and %v, want %v", got, err, want)
	}
}

func TestParseIdentityRefuses(t *testing.T) {
	tests := map[string]struct{ uri, message string }{
		"another scheme":     {"spiffe://prod/agent/n1", "not of the form"},
		"no name":            {"sluice://prod/agent", "not of the form"},
		"too many parts":     {"sluice://prod/agent/n1/x", "not of the form"},
		"empty":              {"", "not of the form"},
		"empty cluster":      {"sluice:///agent/n1", `the cluster ""`},
		"unknown role":       {"sluice://prod/admin/n1", `the role "admin", which is not known`},
		"role in capitals":   {"sluice://prod/Agent/n1", `the role "Agent"`},
		"empty name":         {"sluice://prod/agent/", `ends in ""`},
		"escaped name":       {"sluice://prod/agent/n%31", `ends in "n%31"`},
		"query":              {"sluice://prod/agent/n1?x=1", `ends in "n1?x=1"`},
		"user":               {"sluice://me@prod/agent/n1", `the cluster "me@prod"`},
		"port":               {"sluice://prod:1/agent/n1", `the cluster "prod:1"`},
		"dots alone":         {"sluice://prod/agent/..", `ends in ".."`},
		"other letters":      {"sluice://prod/agent/n\u00e9", "which is no name"},
		"name that is a lot": {"sluice://prod/agent/" + strings.Repeat("n", 254), "which is no name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := security.ParseIdentity(test.uri)
			if err == nil || !strings.Contains(err.Error(), test.message) {
				t.Errorf("error is %v, want one with %q", err, test.message)
			}
			if store.CodeOf(err) != store.CodeForbidden {
				t.Errorf("code is %s", store.CodeOf(err))
			}
		})
	}
}

func FuzzParseIdentity(f *testing.F) {
	f.Add("sluice://prod/agent/n1")
	f.Add("sluice://prod/operator/a.b-c_d")
	f.Add("sluice://prod/agent/n%31?x#y")
	f.Fuzz(func(t *testing.T, uri string) {
		identity, err := security.ParseIdentity(uri)
		if err == nil && identity.String() != uri {
			t.Errorf("%q was read as %v", uri, identity)
		}
	})
}
