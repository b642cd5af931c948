package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice.dev/control/internal/cli/contexts"
	"sluice.dev/control/internal/security"
)

func TestContextsAreMadeUsedAndShown(t *testing.T) {
	w := newWorld(t)
	w.variables["SLUICE_CONFIG"] = filepath.Join(t.TempDir(), "new", "config.yaml")
	steps := []struct{ command, want string }{
		{"config view", "CURRENT  CONTEXT  CLUSTER  REACHED-THROUGH  CERTIFICATE  FILE\n"},
		{
			"config set-context one --cluster c --controller a:1 --certificate-file /c.crt --key-file /c.key --ca-file /ca.crt",
			"context one is set\n",
		},
		{
			"config set-context two --cluster c --agent b:1 --node n --certificate-file /c.crt --key-file /c.key --ca-file /ca.crt",
			"context two is set\n",
		},
		{"config view", "*        one      c        controller a:1"},
		{"config use two", "current context is two\n"},
		{"config view", "*        two      c        agent b:1 of n"},
		{"config set-context one --controller other:2 --use", "context one is set\n"},
		{"config view -o yaml", "name: one\n  current: true\n"},
		{"config view -o json", `"controller": "other:2"`},
	}
	for _, step := range steps {
		got := w.run(t, strings.Fields(step.command)...)
		if got.code != exitOK || !strings.Contains(got.stdout, step.want) {
			t.Fatalf("%s: exit code %d, error %q, output\n%swant\n%s", step.command, got.code, got.stderr, got.stdout, step.want)
		}
	}
}

func TestRelativePathsOfFlagsStartHere(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	t.Chdir(folder)
	got := w.run(t, strings.Fields(
		"config set-context one --cluster c --controller a:1 --certificate-file c.crt --key-file c.key --ca-file ca.crt")...)
	if got.code != exitOK {
		t.Fatalf("error %q", got.stderr)
	}
	file, err := contexts.Load(w.userPath())
	if err != nil || file.Contexts["one"].KeyFile != filepath.Join(folder, "c.key") {
		t.Errorf("got %+v, %v", file.Contexts["one"], err)
	}
}

func TestContextOfTheHostServesWhoHasNone(t *testing.T) {
	w := newWorld(t)
	if err := os.Rename(w.userPath(), w.environment.SystemConfigPath); err != nil {
		t.Fatal(err)
	}
	if got := w.run(t, "get", "nodes"); got.code != exitOK {
		t.Fatalf("exit code %d, error %q", got.code, got.stderr)
	}
	if got := w.run(t, "config", "use", "db1"); got.code != exitOK {
		t.Fatalf("exit code %d, error %q", got.code, got.stderr)
	}
	if got := w.run(t, "get", "nodes"); strings.Contains(got.stdout, "db2") {
		t.Errorf("the agent's context is not used:\n%s", got.stdout)
	}
}

// The host's current context stays the one of who makes his first, as the help says.
func TestTheFirstContextOfAUserLeavesThatOfTheHost(t *testing.T) {
	w := newWorld(t)
	if err := os.Rename(w.userPath(), w.environment.SystemConfigPath); err != nil {
		t.Fatal(err)
	}
	call := "config set-context own --cluster c --controller a:1 --certificate-file /c.crt --key-file /c.key --ca-file /ca.crt"
	if got := w.run(t, strings.Fields(call)...); got.code != exitOK {
		t.Fatalf("exit code %d, error %q", got.code, got.stderr)
	}
	if got := w.run(t, "config", "view"); !strings.Contains(got.stdout, "*        demo") {
		t.Errorf("the contexts are\n%s", got.stdout)
	}
	help := w.run(t, "config", "set-context", "--help").stdout
	if want := "and where neither your file nor that of the host\nnames one."; !strings.Contains(help, want) {
		t.Errorf("%q is not in\n%s", want, help)
	}
}

func TestFlagsAloneAreEnough(t *testing.T) {
	w := newWorld(t)
	file, err := contexts.Load(w.userPath())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.userPath()); err != nil {
		t.Fatal(err)
	}
	flags := flagsOf(w.authority.Files(t, security.RoleViewer, "eve"))
	arguments := append([]string{"get", "--cluster", "demo", "--controller", file.Contexts["demo"].Controller}, flags...)
	if got := w.run(t, arguments...); got.code != exitOK {
		t.Errorf("exit code %d, error %q", got.code, got.stderr)
	}
}
