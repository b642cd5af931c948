package page

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

const (
	// maxQueryBytes has room for the longest scope, escaped, and for names.
	maxQueryBytes     = 8192
	maxNameBytes      = 255
	maxScopeBytes     = 1024
	maxOffset         = 1_000_000
	maxNodes          = 100
	defaultNodes      = 20
	maxListed         = 500
	defaultListed     = 100
	maxEventIDBytes   = 64
	eventIDSeparator  = ":"
	showAll           = "all"
	showProblems      = "problems"
	showLeases        = "leases"
	parameterFilter   = "filter"
	parameterShow     = "show"
	parameterOffset   = "offset"
	parameterLimit    = "limit"
	parameterNode     = "node"
	parameterStore    = "store"
	parameterInstance = "instance"
	parameterKind     = "kind"
	parameterScope    = "scope"
	parameterPolicy   = "policy"
	parameterAfter    = "after"
)

var (
	clusterParameters  = []string{parameterFilter, parameterShow, parameterOffset, parameterLimit}
	targetParameters   = []string{parameterNode, parameterStore, parameterInstance, parameterKind, parameterScope}
	decisionParameters = []string{parameterNode, parameterPolicy, parameterLimit}
	streamParameters   = slices.Concat(clusterParameters, targetParameters, []string{parameterAfter})
)

// clusterQuery asks for some of the nodes.
type clusterQuery struct {
	filter        string // in lower case
	show          string
	offset, limit int
}

func (q clusterQuery) matches(node *Node) bool {
	switch {
	case q.show == showProblems && !node.hasProblem():
		return false
	case q.show == showLeases && !node.hasLease():
		return false
	}
	return q.filter == "" || node.isNamed(q.filter)
}

// decisionQuery asks for some of the decisions.
type decisionQuery struct {
	node, policy string
	limit        int
}

func (q decisionQuery) matches(m made) bool {
	return (q.node == "" || q.node == m.decision.GetNode()) &&
		(q.policy == "" || q.policy == m.decision.GetPolicy())
}

// streamQuery says what a stream is to show. The target is nil if no timeline is open.
type streamQuery struct {
	nodes  clusterQuery
	target *target
	after  string
}

// parameters reads a query string: each parameter once, none that is not known.
type parameters struct {
	values url.Values
}

func parseParameters(raw string, known []string) (parameters, error) {
	if len(raw) > maxQueryBytes {
		return parameters{}, fmt.Errorf("the query is %d bytes long, at most %d are allowed", len(raw), maxQueryBytes)
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return parameters{}, fmt.Errorf("the query cannot be read: %w", err)
	}
	for name, given := range values {
		if !slices.Contains(known, name) {
			return parameters{}, fmt.Errorf("the parameter %q is not known; known are %s", name, strings.Join(known, ", "))
		}
		if len(given) > 1 {
			return parameters{}, fmt.Errorf("the parameter %q is given %d times; give it once", name, len(given))
		}
	}
	return parameters{values}, nil
}

func (p parameters) text(name string, maxBytes int) (string, error) {
	text := p.values.Get(name)
	switch {
	case len(text) > maxBytes:
		return "", fmt.Errorf("%s is %d bytes long, at most %d are allowed", name, len(text), maxBytes)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return "", fmt.Errorf("%s is not printable text", name)
	}
	return text, nil
}

func (p parameters) number(name string, least, most, otherwise int) (int, error) {
	if !p.values.Has(name) {
		return otherwise, nil
	}
	number, err := strconv.Atoi(p.values.Get(name))
	if err != nil || number < least || number > most {
		return 0, fmt.Errorf("%s must be a number from %d to %d", name, least, most)
	}
	return number, nil
}

func parseClusterQuery(raw string) (clusterQuery, error) {
	given, err := parseParameters(raw, clusterParameters)
	if err != nil {
		return clusterQuery{}, err
	}
	return given.cluster()
}

func (p parameters) cluster() (query clusterQuery, err error) {
	if query.filter, err = p.text(parameterFilter, maxNameBytes); err != nil {
		return clusterQuery{}, err
	}
	query.filter = strings.ToLower(query.filter)
	if query.show, err = p.show(); err != nil {
		return clusterQuery{}, err
	}
	if query.offset, err = p.number(parameterOffset, 0, maxOffset, 0); err != nil {
		return clusterQuery{}, err
	}
	if query.limit, err = p.number(parameterLimit, 1, maxNodes, defaultNodes); err != nil {
		return clusterQuery{}, err
	}
	return query, nil
}

func (p parameters) show() (string, error) {
	switch show := p.values.Get(parameterShow); show {
	case "":
		return showAll, nil
	case showAll, showProblems, showLeases:
		return show, nil
	}
	return "", fmt.Errorf("%s must be %s, %s or %s", parameterShow, showAll, showProblems, showLeases)
}

func parseDecisionQuery(raw string) (query decisionQuery, err error) {
	given, err := parseParameters(raw, decisionParameters)
	if err != nil {
		return decisionQuery{}, err
	}
	if query.node, err = given.text(parameterNode, maxNameBytes); err != nil {
		return decisionQuery{}, err
	}
	if query.policy, err = given.text(parameterPolicy, maxNameBytes); err != nil {
		return decisionQuery{}, err
	}
	if query.limit, err = given.number(parameterLimit, 1, maxListed, defaultListed); err != nil {
		return decisionQuery{}, err
	}
	return query, nil
}

func parseTarget(raw string) (target, error) {
	given, err := parseParameters(raw, targetParameters)
	if err != nil {
		return target{}, err
	}
	return given.target()
}

// target reads the name of a timeline. All but the scope is needed.
func (p parameters) target() (found target, err error) {
	for name, field := range map[string]*string{
		parameterNode: &found.node, parameterStore: &found.store, parameterInstance: &found.instance,
	} {
		if *field, err = p.text(name, maxNameBytes); err != nil {
			return target{}, err
		}
		if *field == "" {
			return target{}, fmt.Errorf("the parameter %s is missing", name)
		}
	}
	kind := p.values.Get(parameterKind)
	found.kind = sluicev1.Kind(sluicev1.Kind_value[kind])
	if found.kind == sluicev1.Kind_KIND_UNSPECIFIED {
		return target{}, fmt.Errorf("the kind %q is not known; one that is known is %s", kind, sluicev1.Kind_KIND_COMPACTION)
	}
	if found.scope, err = p.text(parameterScope, maxScopeBytes); err != nil {
		return target{}, err
	}
	return found, nil
}

func parseStreamQuery(raw string) (query streamQuery, err error) {
	given, err := parseParameters(raw, streamParameters)
	if err != nil {
		return streamQuery{}, err
	}
	if query.nodes, err = given.cluster(); err != nil {
		return streamQuery{}, err
	}
	if query.after, err = given.text(parameterAfter, maxEventIDBytes); err != nil {
		return streamQuery{}, err
	}
	if !given.values.Has(parameterNode) {
		return query, nil
	}
	opened, err := given.target()
	if err != nil {
		return streamQuery{}, err
	}
	query.target = &opened
	return query, nil
}

// eventID names the last decision that a stream has sent, by its ordinal.
func (p *Page) eventID(ordinal uint64) string {
	return p.instance + eventIDSeparator + strconv.FormatUint(ordinal, 10)
}

// parseEventID returns the ordinal in an event ID of this process, and false for any other text.
func (p *Page) parseEventID(id string) (uint64, bool) {
	instance, ordinal, found := strings.Cut(id, eventIDSeparator)
	if !found || instance != p.instance {
		return 0, false
	}
	number, err := strconv.ParseUint(ordinal, 10, 64)
	return number, err == nil
}
