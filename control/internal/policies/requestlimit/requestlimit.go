// Package requestlimit holds applications to the load that their service levels were promised for: each server of a
// table turns away what is beyond its part, so that one application that asks for more does not take it from the others.
package requestlimit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// Policy is the policy with its parameters. It implements policy.Joint.
type Policy struct {
	tolerance     float64
	leastPart     float64
	decisionEvery time.Duration
}

// Parameters declares the parameters.
func Parameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "tolerance_share", Type: parameters.Number, Default: 0.1, Least: 0, Most: 10,
			Meaning: "How much more than the promised load is let through.",
		},
		{
			Name: "least_part_share", Type: parameters.Number, Default: 0.2, Least: 0.01, Most: 1,
			Meaning: "Share of an equal part that a server has at least, however little is asked of it.",
		},
		{
			Name: "decision_seconds", Type: parameters.Number, Default: 5.0, Least: 1, Most: 3600,
			Meaning: "Time between two looks at how much is asked of each server.",
		},
	}
}

// New makes the policy from the parameters of a configuration file.
func New(given map[string]any) (policy.Policy, error) {
	values, err := parameters.Decode(Parameters(), given)
	if err != nil {
		return nil, err
	}
	return &Policy{
		tolerance: values.Number("tolerance_share"), leastPart: values.Number("least_part_share"),
		decisionEvery: values.Seconds("decision_seconds"),
	}, nil
}

// Kind implements policy.Joint.
func (p *Policy) Kind() store.Kind { return store.Requests }

// Scopes implements policy.Joint: requests are for rows of a table, in several families or not.
func (p *Policy) Scopes(objects []servicelevel.Object) []string {
	var tables []string
	for _, object := range objects {
		tables = append(tables, tableOf(object))
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}

func tableOf(object servicelevel.Object) string {
	table, _, _ := strings.Cut(object.Scope, "/")
	return table
}

// Decide implements policy.Policy: what DecideAll decides of one of the view's targets.
func (p *Policy) Decide(view policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	return policy.DecideOne(p, view, target, memory)
}

// DecideAll implements policy.Joint. How the objects fare is for the policy that decides about their cache to say.
func (p *Policy) DecideAll(view policy.View, memory policy.Memory) ([]policy.Decision, []servicelevel.Status, policy.Memory) {
	next := copied(memory)
	isDue := !next.hasBegun || view.Now-next.lastDecision >= p.decisionEvery
	if isDue {
		next.hasBegun, next.lastDecision = true, view.Now
	}
	limits := limitsOf(view.ServiceLevels)
	next.keepOnly(limits)
	for name, servers := range serversByTable(view, limits) {
		next.table(name).follow(view.Now, servers, isDue, p.leastPart)
	}
	decisions := make([]policy.Decision, len(view.Targets))
	for i, target := range view.Targets {
		decisions[i] = p.decisionFor(target, limits[target.Scope], next.tables[target.Scope])
	}
	return decisions, nil, next
}

// limit is what a table may be asked for.
type limit struct {
	operationsPerSecond float64
	// names are those of the objects that have been promised it together.
	names []string
}

func limitsOf(objects []servicelevel.Object) map[string]*limit {
	limits := map[string]*limit{}
	for _, object := range objects {
		table := tableOf(object)
		if limits[table] == nil {
			limits[table] = &limit{}
		}
		limits[table].operationsPerSecond += object.MostOperationsPerSecond
		limits[table].names = append(limits[table].names, object.Name)
	}
	return limits
}

// serversByTable are the instances that can be ordered to keep to a limit, by table.
func serversByTable(view policy.View, limits map[string]*limit) map[string][]policy.Target {
	servers := map[string][]policy.Target{}
	for _, target := range view.Targets {
		if limits[target.Scope] != nil && unable(target) == "" {
			servers[target.Scope] = append(servers[target.Scope], target)
		}
	}
	return servers
}

// unable is why nothing can be ordered of a target.
func unable(target policy.Target) string {
	if !target.Fresh {
		return target.Missing
	}
	if target.Offers(store.RateOperationsPerSecond) {
		return ""
	}
	return fmt.Sprintf("the store has no setting %s of %s: its requests must come through the plug-in",
		store.RateOperationsPerSecond, target.Kind)
}

// sameShare is the part of a setting by which a new one may differ and is not worth an order.
const sameShare = 0.02

func (p *Policy) decisionFor(target policy.Target, limit *limit, table *table) policy.Decision {
	if limit == nil {
		return policy.StopFor(target, "no service level is about "+target.Scope)
	}
	if reason := unable(target); reason != "" {
		return policy.StopFor(target, reason)
	}
	most := limit.operationsPerSecond * (1 + p.tolerance)
	part := table.parts[target.Ref]
	// A server takes no less than one a second.
	number := max(1, most*part)
	if target.Lease != nil && math.Abs(target.Lease.Setting.Number-number) <= sameShare*number {
		number = target.Lease.Setting.Number
	}
	reason := fmt.Sprintf("%s: at most %.4g operations/s, of which %.3g%% are for this server",
		strings.Join(limit.names, ", "), most, 100*part)
	inputs := map[string]float64{"most_operations_per_second": most, "part_share": part}
	if asked, isKnown := table.asked[target.Ref]; isKnown && asked.hasRate {
		inputs["asked_operations_per_second"] = asked.perSecond
	}
	return policy.SettingFor(target, store.Setting{Name: store.RateOperationsPerSecond, Number: number}, reason, inputs)
}
