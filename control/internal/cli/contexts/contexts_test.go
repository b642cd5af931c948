package contexts_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sluice.dev/control/internal/cli/contexts"
	"sluice.dev/control/internal/store"
)

func complete() contexts.Context {
	return contexts.Context{
		Cluster: "demo", Controller: "db1.example:7413",
		CertificateFile: "me.crt", KeyFile: "me.key", CAFile: "/etc/sluice/tls/ca.crt",
	}
}

const completeText = `
current_context: demo
contexts:
  demo:
    cluster: demo
    controller: db1.example:7413
    certificate_file: me.crt
    key_file: me.key
    ca_file: /etc/sluice/tls/ca.crt
`

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestParse(t *testing.T) {
	got, err := contexts.Parse([]byte(completeText))
	want := contexts.File{CurrentContext: "demo", Contexts: map[string]contexts.Context{"demo": complete()}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("Parse gives %+v, %v; want %+v", got, err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ name, content, wantMessage, wantHint string }{
		{"unknown key", "contexts:\n  demo:\n    clutser: demo\n", "line 3: ", "cluster, controller"},
		{"unknown key at the top", "context: demo\n", "line 1: ", "current_context"},
		{"duplicate key", "current_context: a\ncurrent_context: b\n", "line 2: ", "Keys of a file"},
		{"list", "contexts: [1]\n", "line 1: ", "Keys of a file"},
		{"syntax", "contexts: {\n", "", ""},
		{"bad name", strings.Replace(completeText, "  demo:", "  'a b':", 1), `"a b" is not allowed`, "Names are"},
		{"no address", strings.Replace(completeText, "controller: db1.example:7413", "", 1),
			`context "demo": neither controller nor agent`, "HOST:PORT"},
		{"two addresses", strings.Replace(completeText, "    key_file", "    agent: a:1\n    key_file", 1),
			"both given", "Leave one"},
		{"no node", strings.Replace(completeText, "controller:", "agent:", 1), "node of agent", "certificate"},
		{"no port", strings.Replace(completeText, ":7413", "", 1), "not HOST:PORT", "db1.example:7413"},
		{"port 0", strings.Replace(completeText, ":7413", ":0", 1), "not HOST:PORT", "db1.example:7413"},
		{"no cluster", strings.Replace(completeText, "    cluster: demo\n", "", 1), "cluster is missing", "name"},
		{"no key", strings.Replace(completeText, "    key_file: me.key\n", "", 1), "key_file is missing", "PEM"},
		{"long", strings.Repeat("#", 1<<20+1), "longer than", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := contexts.Parse([]byte(test.content))
			var failure *store.Error
			if !errors.As(err, &failure) {
				t.Fatalf("Parse gives %v, want a *store.Error", err)
			}
			if !strings.Contains(failure.Message, test.wantMessage) || !strings.Contains(failure.Hint, test.wantHint) {
				t.Errorf("got %q with hint %q, want %q with hint %q",
					failure.Message, failure.Hint, test.wantMessage, test.wantHint)
			}
		})
	}
}

func TestOver(t *testing.T) {
	agent := contexts.Context{Agent: "db1:7411", Node: "db1"}
	for _, test := range []struct {
		name               string
		above, below, want contexts.Context
	}{
		{"nothing above", contexts.Context{}, complete(), complete()},
		{"another controller", contexts.Context{Controller: "b:1"}, contexts.Context{Controller: "a:1", Cluster: "demo"},
			contexts.Context{Controller: "b:1", Cluster: "demo"}},
		{"an agent replaces a controller", agent, contexts.Context{Controller: "a:1"}, agent},
		{"a controller replaces an agent and its node", contexts.Context{Controller: "a:1"}, agent,
			contexts.Context{Controller: "a:1"}},
		{"another agent needs another node", contexts.Context{Agent: "b:1"}, agent, contexts.Context{Agent: "b:1"}},
		{"an agent below keeps its node", contexts.Context{Cluster: "demo"}, agent,
			contexts.Context{Cluster: "demo", Agent: "db1:7411", Node: "db1"}},
	} {
		if got := test.above.Over(test.below); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestSetPrefersTheUser(t *testing.T) {
	folder := t.TempDir()
	user, system := filepath.Join(folder, "user.yaml"), filepath.Join(folder, "system.yaml")
	write(t, system, strings.ReplaceAll(completeText, "demo:", "demo:")+
		"  other:\n    {cluster: c, controller: 'c:1', certificate_file: /a, key_file: /b, ca_file: /c}\n")
	write(t, user, strings.ReplaceAll(completeText, "db1.example", "db2.example"))

	set, err := contexts.LoadSet(user, system)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Names(); !reflect.DeepEqual(got, []string{"demo", "other"}) {
		t.Errorf("names are %v", got)
	}
	if set.Current() != "demo" {
		t.Errorf("current is %q", set.Current())
	}
	got, path, err := set.Find("demo")
	if err != nil || path != user || got.Controller != "db2.example:7413" {
		t.Errorf("Find gives %+v from %s, %v", got, path, err)
	}
	if want := filepath.Join(folder, "me.key"); got.KeyFile != want {
		t.Errorf("key_file is %s, want %s", got.KeyFile, want)
	}
	if _, path, err := set.Find("other"); err != nil || path != system {
		t.Errorf("other is from %s, %v", path, err)
	}
	if _, _, err := set.Find("none"); store.CodeOf(err) != store.CodeNotFound || !strings.Contains(err.Error(), "demo, other") {
		t.Errorf("a context that is not there gives %v", err)
	}
}

func TestFindWithoutFilesSaysHowToMakeOne(t *testing.T) {
	folder := t.TempDir()
	set, err := contexts.LoadSet(filepath.Join(folder, "a"), filepath.Join(folder, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := set.Find("demo"); err == nil || !strings.Contains(err.Error(), "sluice config set-context demo") {
		t.Errorf("got %v", err)
	}
}

func TestSaveIsReadBackAndPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice", "config.yaml")
	file := contexts.File{CurrentContext: "demo", Contexts: map[string]contexts.Context{"demo": complete()}}
	if err := file.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := contexts.Load(path)
	if err != nil || !reflect.DeepEqual(got, file) {
		t.Errorf("Load gives %+v, %v", got, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

func TestSaveRefusesWhatParseRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	file := contexts.File{Contexts: map[string]contexts.Context{"demo": {}}}
	if err := file.Save(path); store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a file was written: %v", err)
	}
}

func TestUserPath(t *testing.T) {
	for _, test := range []struct {
		environment map[string]string
		want        string
	}{
		{map[string]string{"HOME": "/home/a"}, "/home/a/.config/sluice/config.yaml"},
		{map[string]string{"HOME": "/home/a", "XDG_CONFIG_HOME": "/x"}, "/x/sluice/config.yaml"},
		{map[string]string{"HOME": "/home/a", "SLUICE_CONFIG": "/c.yaml"}, "/c.yaml"},
	} {
		getenv := func(name string) string { return test.environment[name] }
		if got := contexts.UserPath(getenv); got != test.want {
			t.Errorf("%v: got %s, want %s", test.environment, got, test.want)
		}
	}
}
