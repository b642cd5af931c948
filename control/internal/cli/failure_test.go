package cli

import (
	"errors"
	"strings"
	"testing"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/tests/process"
)

const anOrder = "set db1/postgres/main checkpoint hold --for 10s"

func TestExitCodesAndWhatToDoNext(t *testing.T) {
	w := newWorld(t)
	viewer := w.authority.Files(t, security.RoleViewer, "eve")
	stranger := securitytest.NewAuthority(t, "demo").Files(t, security.RoleOperator, "mallory")
	for _, test := range []struct {
		command string
		flags   []string
		refusal error
		code    int
		want    []string
	}{
		{"get nodes", nil, nil, exitOK, nil},
		{"gte", nil, nil, exitUsage, []string{`"gte" is no command`, "hint: Is it get", "next: sluice --help"}},
		{"policy", nil, nil, exitOK, nil},
		{"policy paus", nil, nil, exitUsage, []string{"Is it pause?", "next: sluice policy --help"}},
		{"policy show", nil, nil, exitUsage, []string{"NAME is missing", "next: sluice policy show --help"}},
		{"get taks", nil, nil, exitUsage, []string{"there are nodes, stores, tasks"}},
		{"get nodes tasks", nil, nil, exitUsage, []string{`"tasks" is one argument too many`}},
		{"get nodes --kind checkpoint", nil, nil, exitUsage, []string{"--kind selects nothing among nodes"}},
		{"get tasks --kind checkpoints", nil, nil, exitUsage, []string{"Kinds are compaction, flush"}},
		{"get -o xml", nil, nil, exitUsage, []string{"table, wide, json, yaml"}},
		{"get --timeout 0s", nil, nil, exitUsage, []string{"a time above 0"}},
		{"get --colour", nil, nil, exitUsage, []string{"unknown flag: --colour", "next: sluice get --help"}},
		{"get --context other", nil, nil, exitFailure, []string{"there is no context", "db1, demo"}},
		{"get decisions --context db1", nil, nil, exitFailure, []string{"an agent knows nothing", "--controller HOST:PORT"}},
		{"policy show other", nil, nil, exitFailure, []string{"There are: nightly, idle."}},
		{"policy explain other", nil, nil, exitUsage, []string{"Known types: fixed"}},
		{"set db1/postgres checkpoint hold --for 10s", nil, nil, exitUsage, []string{"is not NODE/STORE/INSTANCE"}},
		{"set db1/postgres/main checkpont hold --for 10s", nil, nil, exitUsage, []string{"no kind of task"}},
		{"set db1/postgres/main checkpoint hold=1 --for 10s", nil, nil, exitUsage, []string{"takes no value"}},
		{"set db1/postgres/main checkpoint rate_bytes_per_second=6M --for 10s", nil, nil, exitUsage, []string{"as in 6MB"}},
		{"set db1/postgres/main checkpoint hold", nil, nil, exitUsage, []string{"--for is missing", "--for 30s"}},
		{anOrder + " --clear-at-end", nil, nil, exitUsage, []string{"without --keep"}},
		{anOrder + " --node db1", nil, nil, exitUsage, []string{"--node means nothing here without --agent"}},
		{"clear db1/postgres/main --scope a", nil, nil, exitUsage, []string{"--scope needs a KIND"}},
		{"set db2/postgres/main checkpoint hold --for 10s --context db1", nil, nil, exitFailure,
			[]string{`is for node "db2", but the agent is that of "db1"`}},
		{anOrder, nil, store.Errorf(store.CodeConflict, "operator/bob has it").WithHint("Ask bob."), exitRefused,
			[]string{"sluice: operator/bob has it\n  hint: Ask bob.\n  next: sluice get leases"}},
		{anOrder, nil, store.Errorf(store.CodeRefused, "the debt is at its limit"), exitRefused, []string{"at its limit"}},
		{anOrder, nil, store.Errorf(store.CodeNotFound, "no such instance"), exitFailure, []string{"next: sluice get stores"}},
		{anOrder, nil, store.Errorf(store.CodeUnsupported, "no hold"), exitFailure, []string{"next: sluice get stores -o wide"}},
		{anOrder, nil, store.Errorf(store.CodeUnavailable, "the agent is gone"), exitUnreachable, []string{"sluice: the agent is gone\n"}},
		{anOrder, nil, errors.New("broken\x1b[2J"), exitUnreachable, []string{"broken [2J"}},
		{anOrder, flagsOf(viewer), nil, exitRefused, []string{"sluice://demo/viewer/eve may not call", "role operator"}},
		{"get", flagsOf(viewer), nil, exitOK, nil},
		{"get", flagsOf(stranger), nil, exitUnreachable, []string{"cannot be reached", "certificate"}},
		{"get --key-file missing.key", nil, nil, exitFailure, []string{"the certificates cannot be used", "--key-file"}},
		{"get --cluster other", nil, nil, exitFailure, []string{`of the cluster "demo", not of "other"`}},
		{"get --controller " + process.FreeAddress(t), nil, nil, exitUnreachable, []string{"cannot be reached", "sluice config view"}},
		{"get --controller nowhere", nil, nil, exitFailure, []string{"is not HOST:PORT"}},
		{"get --agent 127.0.0.1:1", nil, nil, exitFailure, []string{"the node of agent 127.0.0.1:1 is missing"}},
		{"top", nil, nil, exitFailure, []string{"the output is not a terminal", "--once"}},
		{"completion powershell", nil, nil, exitUsage, []string{"bash, zsh and fish"}},
		{"config use other", nil, nil, exitFailure, []string{"there is no context"}},
		{"config set-context other --cluster c", nil, nil, exitUsage, []string{"would not be complete"}},
		{"config set-context a/b", nil, nil, exitUsage, []string{"Names are letters"}},
		{"agent", nil, nil, exitUsage, []string{"--config is missing"}},
		{"agent chekc", nil, nil, exitUsage, []string{"Is it check?"}},
		{"agent --config missing.yml", nil, nil, exitFailure, []string{"missing.yml", "docs/agent.md"}},
		{"controller --config missing.yml", nil, nil, exitFailure, []string{"missing.yml", "docs/controller.md"}},
		{"local snapshot missing.sock", nil, nil, exitUnreachable, []string{"missing.sock"}},
	} {
		t.Run(test.command, func(t *testing.T) {
			w.controller.Refuse(test.refusal)
			got := w.run(t, append(strings.Fields(test.command), test.flags...)...)
			if got.code != test.code {
				t.Errorf("exit code %d, want %d", got.code, test.code)
			}
			if (got.stderr == "") != (test.code == exitOK) {
				t.Errorf("error %q with exit code %d", got.stderr, got.code)
			}
			for _, want := range test.want {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("error %q, want %q in it", got.stderr, want)
				}
			}
			if strings.Contains(got.stderr, "Usage:") || strings.Contains(got.stderr, "\x1b") {
				t.Errorf("error %q has the usage, or an escape", got.stderr)
			}
		})
	}
}

func flagsOf(files security.Files) []string {
	return []string{
		"--certificate-file", files.CertificateFile, "--key-file", files.KeyFile, "--ca-file", files.CAFile,
	}
}

func TestBrokenContextFileNamesTheLine(t *testing.T) {
	w := newWorld(t)
	w.variables["SLUICE_CONFIG"] = w.folder + "/broken.yaml"
	securitytest.Replace(t, w.variables["SLUICE_CONFIG"], []byte("contexts:\n  demo:\n    contoller: a:1\n"))
	got := w.run(t, "get")
	if got.code != exitFailure || !strings.Contains(got.stderr, "broken.yaml: line 3:") {
		t.Errorf("exit code %d, error %q", got.code, got.stderr)
	}
}
