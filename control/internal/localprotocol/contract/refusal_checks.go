package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/store"
)

// attempt is a request that must be refused.
type attempt struct {
	method string
	params any
	// numbers are the codes of errors that will do.
	numbers []localprotocol.Number
}

func refusalChecks() []check {
	const nothing = " and change nothing."
	return []check{
		{"unknown-members", "Refuse params with members that are not in the schema with -32602" + nothing, refuses(unknownMembers)},
		{"missing-members", "Refuse params that lack a required member with -32602" + nothing, refuses(missingMembers)},
		{"wrong-types", "Refuse members of the wrong type with -32602" + nothing, refuses(wrongTypes)},
		{"out-of-range", "Refuse numbers and texts out of range with -32602" + nothing, refuses(outOfRange)},
		{"unsupported", "Refuse kinds and settings that the description does not offer with -32001" + nothing, refuses(unsupported)},
		{"unknown-scope", "Refuse a scope that the store does not have with -32004" + nothing, refuses(unknownScope)},
	}
}

// refuses makes a check of attempts: each must be refused, and the lease that is in force must be the
// same after it.
func refuses(attempts func(*subject, orders) []attempt) func(context.Context, *subject) error {
	return func(ctx context.Context, s *subject) error {
		given, err := s.alone(ctx)
		if err != nil {
			return err
		}
		for _, each := range attempts(s, given) {
			if err := s.refusesOne(ctx, given.first, each); err != nil {
				text, _ := json.Marshal(each.params)
				return fmt.Errorf("%s with %.300s: %w", each.method, text, err)
			}
		}
		return nil
	}
}

func (s *subject) refusesOne(ctx context.Context, order members, tried attempt) error {
	// With less time than the attempt asks for, so that it shows if the attempt renews the lease.
	inForce := order.with("time_to_live_seconds", min(orderSeconds, s.description.MaxTimeToLiveSeconds)/2)
	if err := s.setAndSee(ctx, inForce); err != nil {
		return err
	}
	before, err := s.leases(ctx)
	if err != nil {
		return err
	}
	if err := s.callRefused(ctx, tried.method, tried.params, tried.numbers...); err != nil {
		return err
	}
	after, err := s.leases(ctx)
	if err != nil {
		return err
	}
	if len(after) != 1 || after[0].TimeLeftSeconds > before[0].TimeLeftSeconds {
		return fmt.Errorf("it has changed the leases from %v to %v", before, after)
	}
	after[0].TimeLeftSeconds = before[0].TimeLeftSeconds
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("it has changed the leases from %v to %v", before, after)
	}
	return nil
}

func invalid(method string, params any) attempt {
	return attempt{method, params, []localprotocol.Number{localprotocol.NumberInvalid}}
}

func unknownMembers(s *subject, given orders) []attempt {
	setting, _ := given.first["setting"].(members)
	describe := describeParams(s.description.ProtocolVersion.Major, 0)
	return []attempt{
		invalid("describe", describe.with("colour", "blue")),
		invalid("snapshot", members{"colour": "blue"}),
		invalid("set", given.first.with("colour", "blue")),
		invalid("set", given.first.with("Owner", secondOwner)),
		invalid("set", given.first.with("setting", setting.with("colour", "blue"))),
		invalid("start", given.first.with("colour", "blue")),
		invalid("clear", members{"owner": firstOwner, "colour": "blue"}),
	}
}

func missingMembers(_ *subject, given orders) []attempt {
	return []attempt{
		invalid("describe", members{}),
		invalid("describe", members{"protocol_version": members{}}),
		invalid("set", members{}),
		invalid("set", given.first.without("kind")),
		invalid("set", given.first.without("setting")),
		invalid("set", given.first.with("setting", members{})),
		invalid("set", given.first.without("owner")),
		invalid("set", given.first.without("time_to_live_seconds")),
		invalid("start", members{}),
		invalid("start", given.first.without("owner")),
		invalid("start", given.first.without("time_to_live_seconds")),
		invalid("clear", members{}),
		invalid("clear", members{"kind": given.first["kind"]}),
		invalid("clear", members{"owner": firstOwner, "scope": ""}),
	}
}

func wrongTypes(_ *subject, given orders) []attempt {
	setting, _ := given.first["setting"].(members)
	return []attempt{
		invalid("describe", members{"protocol_version": "1.0"}),
		invalid("describe", members{"protocol_version": members{"major": "1", "minor": 0}}),
		invalid("snapshot", []any{}),
		invalid("snapshot", "all"),
		invalid("set", []any{given.first}),
		invalid("set", given.first.with("kind", 7)),
		invalid("set", given.first.with("scope", nil)),
		invalid("set", given.first.with("setting", setting["name"])),
		invalid("set", given.first.with("setting", setting.with("name", 7))),
		invalid("set", given.first.with("setting", setting.with("number", "7"))),
		invalid("set", given.first.with("setting", setting.with("text", 7))),
		invalid("set", given.first.with("owner", []any{firstOwner})),
		invalid("set", given.first.with("time_to_live_seconds", "5")),
		invalid("set", given.first.with("time_to_live_seconds", nil)),
		invalid("set", given.first.with("replace", "yes")),
		invalid("set", given.first.with("replace", 1)),
		invalid("clear", members{"owner": 7}),
		invalid("clear", members{"owner": firstOwner, "kind": nil}),
	}
}

func outOfRange(s *subject, given orders) []attempt {
	setting, _ := given.first["setting"].(members)
	tried := []attempt{
		invalid("set", given.first.with("time_to_live_seconds", 0)),
		invalid("set", given.first.with("time_to_live_seconds", -5)),
		invalid("set", given.first.with("time_to_live_seconds", s.description.MaxTimeToLiveSeconds+1)),
		invalid("set", given.first.with("time_to_live_seconds", 1e300)),
		invalid("set", given.first.with("owner", "")),
		invalid("set", given.first.with("owner", strings.Repeat("x", 64))),
		invalid("set", given.first.with("owner", strings.Repeat("µ", 32))),
		invalid("set", given.first.with("owner", "a\nb")),
		invalid("set", given.first.with("owner", "a\x00b")),
		invalid("set", given.first.with("scope", strings.Repeat("x", 1025))),
		invalid("set", given.first.with("scope", "a\x1bb")),
		invalid("clear", members{"owner": ""}),
		invalid("clear", members{"owner": strings.Repeat("x", 64)}),
		// Too large for a double: a parser may stumble over it before anything else does.
		{
			"set", given.first.with("time_to_live_seconds", json.RawMessage("1e400")),
			[]localprotocol.Number{localprotocol.NumberInvalid, localprotocol.NumberParse},
		},
	}
	values := []members{setting.with("number", 1), setting.with("text", "x")}
	if _, hasNumber := setting["number"]; hasNumber {
		values = []members{setting.with("number", -1), setting.without("number"), setting.with("text", "x")}
	}
	for _, value := range values {
		tried = append(tried, invalid("set", given.first.with("setting", value)))
	}
	return tried
}

func unsupported(s *subject, given orders) []attempt {
	refused := []localprotocol.Number{localprotocol.NumberUnsupported}
	tried := []attempt{
		{"set", given.first.with("kind", "no-such-kind"), refused},
		{"start", given.first.with("kind", "no-such-kind"), refused},
		{"clear", members{"owner": firstOwner, "kind": "no-such-kind"}, refused},
		{"set", given.first.with("setting", members{"name": "no_such_setting"}), refused},
	}
	for _, capability := range s.description.Capabilities {
		for _, setting := range mildest() {
			if slices.Contains(capability.Settings, setting.Name) {
				continue
			}
			order := given.first.with("kind", capability.Kind).with("setting", settingMembers(setting))
			tried = append(tried, attempt{"set", order, refused})
		}
	}
	for _, kind := range store.Kinds() {
		if !s.offersKind(kind) {
			tried = append(tried, attempt{"set", given.first.with("kind", kind), refused})
		}
	}
	return tried
}

func (s *subject) offersKind(kind store.Kind) bool {
	for _, capability := range s.description.Capabilities {
		if capability.Kind == kind {
			return true
		}
	}
	return false
}

func unknownScope(_ *subject, given orders) []attempt {
	const scope = "no such scope: sluice contract"
	missing := []localprotocol.Number{localprotocol.NumberNotFound}
	return []attempt{
		{"set", given.first.with("scope", scope), missing},
		{"clear", members{"owner": firstOwner, "kind": given.first["kind"], "scope": scope}, missing},
	}
}
