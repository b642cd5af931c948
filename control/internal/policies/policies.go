// Package policies makes policies from what a configuration file says.
package policies

import (
	"fmt"
	"strings"

	"sluice.dev/control/internal/policies/fixed"
	"sluice.dev/control/internal/policies/opportunistic"
	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policies/redirect"
	"sluice.dev/control/internal/policies/requestlimit"
	"sluice.dev/control/internal/policies/script"
	"sluice.dev/control/internal/policies/servicelevel"
	"sluice.dev/control/internal/policies/slo"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

type kind struct {
	name     string
	make     func(map[string]any) (policy.Policy, error)
	declared func() []parameters.Parameter
}

func kinds() []kind {
	return []kind{
		{"fixed", fixed.New, fixed.Parameters},
		{"opportunistic", opportunistic.New, opportunistic.Parameters},
		{"redirect", redirect.New, redirect.Parameters},
		{"request-limit", requestlimit.New, requestlimit.Parameters},
		{"script", script.New, script.Parameters},
		{"service-level", servicelevel.New, servicelevel.Parameters},
		{"slo", slo.New, slo.Parameters},
	}
}

// Kinds lists the built-in kinds of policies, sorted.
func Kinds() []string {
	var names []string
	for _, known := range kinds() {
		names = append(names, known.name)
	}
	return names
}

// New makes a policy of a kind. Errors are of code store.CodeInvalid and say what to correct.
func New(name string, given map[string]any) (policy.Policy, error) {
	known, err := find(name)
	if err != nil {
		return nil, err
	}
	made, err := known.make(given)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	return made, nil
}

// Describe lists the parameters of a kind of policy.
func Describe(name string) ([]parameters.Parameter, error) {
	known, err := find(name)
	if err != nil {
		return nil, err
	}
	return known.declared(), nil
}

func find(name string) (kind, error) {
	for _, known := range kinds() {
		if known.name == name {
			return known, nil
		}
	}
	return kind{}, store.Invalidf("the type of policy %q is not known", name).
		WithHint("Known types: %s.", strings.Join(Kinds(), ", "))
}
