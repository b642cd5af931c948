package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/store"
)

// describeCheck is the check that the others build on.
const describeCheck = "describe"

func descriptionChecks() []check {
	return []check{
		{"socket", "Serve a Unix socket with mode 0660, so that nobody else can connect.", checkSocket},
		{describeCheck, "Answer describe as describe-result.schema.json says, with the version of the protocol, with words of the vocabulary, and with the store and instance that the path of the socket is made of.", checkDescribe},
		{"newer-minor-version", "Serve a client of the same major version, whatever its minor version.", checkNewerMinor},
		{"other-major-version", "Refuse a client of another major version with -32007 and a message that names both versions.", checkOtherMajor},
		{"snapshot", "Answer snapshot as snapshot-result.schema.json says, with words of the vocabulary and at most one lease for each kind, scope and aspect.", checkSnapshot},
	}
}

func checkSocket(_ context.Context, s *subject) error {
	information, err := os.Stat(s.socketPath)
	if err != nil {
		return err
	}
	mode := information.Mode()
	if mode.Type() != os.ModeSocket {
		return fmt.Errorf("%s is not a socket", s.socketPath)
	}
	if mode.Perm()&0o007 != 0 {
		return fmt.Errorf("the mode is %04o: others than owner and group have access", mode.Perm())
	}
	return nil
}

func describeParams(major, minor int) members {
	return members{"protocol_version": members{"major": major, "minor": minor}}
}

func checkDescribe(ctx context.Context, s *subject) error {
	own := localprotocol.CurrentVersion()
	if err := s.callAccepted(ctx, "describe", describeParams(int(own.Major), int(own.Minor)), &s.description); err != nil {
		return err
	}
	got := s.description
	if uint64(got.ProtocolVersion.Major) != own.Major {
		return fmt.Errorf("the plug-in speaks version %d.%d of the protocol, these checks are for version %v",
			got.ProtocolVersion.Major, got.ProtocolVersion.Minor, own)
	}
	path := filepath.Join(got.Store, got.Instance+".sock")
	if !strings.HasSuffix(s.socketPath, string(filepath.Separator)+path) {
		return fmt.Errorf("the socket is %s, but the description says that it is .../%s", s.socketPath, path)
	}
	kinds := map[store.Kind]bool{}
	for _, capability := range got.Capabilities {
		switch {
		case !slices.Contains(store.Kinds(), capability.Kind):
			return fmt.Errorf("the kind %q is not in the vocabulary", capability.Kind)
		case kinds[capability.Kind]:
			return fmt.Errorf("the kind %q is there twice", capability.Kind)
		}
		kinds[capability.Kind] = true
		if err := checkTaskOrders(capability, got.ProtocolVersion.Minor); err != nil {
			return err
		}
		for _, name := range capability.Settings {
			if !slices.Contains(store.SettingNames(), name) {
				return fmt.Errorf("the setting %q is not in the vocabulary", name)
			}
		}
	}
	return nil
}

func checkNewerMinor(ctx context.Context, s *subject) error {
	var result json.RawMessage
	return s.callAccepted(ctx, "describe", describeParams(s.description.ProtocolVersion.Major, 99), &result)
}

func checkOtherMajor(ctx context.Context, s *subject) error {
	own := s.description.ProtocolVersion
	for _, major := range []int{own.Major + 1, own.Major - 1} {
		got, err := s.call(ctx, "describe", describeParams(major, 3))
		if err != nil {
			return err
		}
		if err := refused(got, localprotocol.NumberIncompatible); err != nil {
			return fmt.Errorf("a client of version %d.3: %w", major, err)
		}
		for _, version := range []string{fmt.Sprintf("%d.3", major), fmt.Sprintf("%d.%d", own.Major, own.Minor)} {
			if !strings.Contains(got.failure.Message, version) {
				return fmt.Errorf("the message %q does not name version %s", got.failure.Message, version)
			}
		}
	}
	return nil
}

func checkSnapshot(ctx context.Context, s *subject) error {
	var snapshot struct {
		Tasks []task `json:"tasks"`
		Debts []struct {
			Kind store.Kind `json:"kind"`
		} `json:"debts"`
		Leases         []lease   `json:"leases"`
		Latencies      []latency `json:"latencies"`
		ScopeLatencies []latency `json:"scope_latencies"`
	}
	if err := s.callAccepted(ctx, "snapshot", members{}, &snapshot); err != nil {
		return err
	}
	identifiers := map[string]bool{}
	for _, task := range snapshot.Tasks {
		switch {
		case identifiers[task.ID]:
			return fmt.Errorf("two tasks have the id %q", task.ID)
		case !slices.Contains(store.Kinds(), task.Kind):
			return fmt.Errorf("the kind %q of task %q is not in the vocabulary", task.Kind, task.ID)
		case !slices.Contains(store.States(), task.State):
			return fmt.Errorf("the state %q of task %q is not in the vocabulary", task.State, task.ID)
		}
		if s.canAbort(task.Kind) && (len(task.ID) > maxTaskBytes || strings.ContainsFunc(task.ID, unicode.IsControl)) {
			return fmt.Errorf("the id %.300q of a task that can be aborted is longer than %d bytes, or not printable",
				task.ID, maxTaskBytes)
		}
		identifiers[task.ID] = true
	}
	for _, debt := range snapshot.Debts {
		if !slices.Contains(store.Kinds(), debt.Kind) {
			return fmt.Errorf("the kind %q of a debt is not in the vocabulary", debt.Kind)
		}
	}
	for _, latency := range slices.Concat(snapshot.Latencies, snapshot.ScopeLatencies) {
		if latency.Class != "read" && latency.Class != "write" {
			return fmt.Errorf("the class %q of a latency is neither read nor write", latency.Class)
		}
	}
	return checkLeases(snapshot.Leases)
}

func checkLeases(leases []lease) error {
	taken := map[string]string{}
	for _, each := range leases {
		name, _ := each.Setting["name"].(string)
		aspect := store.Setting{Name: store.SettingName(name)}.Aspect()
		if aspect == "" {
			return fmt.Errorf("the setting %q of a lease is not in the vocabulary", name)
		}
		place := fmt.Sprintf("%s of %s in %q", aspect, each.Kind, each.Scope)
		if other, double := taken[place]; double {
			return fmt.Errorf("%q and %q both have a lease on the %s", other, each.Owner, place)
		}
		taken[place] = each.Owner
	}
	return nil
}
