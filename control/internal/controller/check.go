package controller

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sluice.dev/control/internal/document"
	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/policy"
)

const maxPort = 65535

// check says what is wrong with a configuration that a schema cannot see.
func (c Config) check() []document.Finding {
	return slices.Concat(
		c.checkTimes(),
		c.checkAddresses(),
		c.checkAgents(),
		c.checkServices(),
		c.checkPolicies(),
	)
}

func found(message, hint string, path ...string) document.Finding {
	return document.Finding{Path: path, Message: message, Hint: hint}
}

// checkTimes checks the invariants between the times; docs/controller.md derives them.
func (c Config) checkTimes() []document.Finding {
	var findings []document.Finding
	period, timeout, lease := c.Period(), c.RequestTimeout(), c.LeaseTimeToLive()
	if least := 2 * (period + timeout); lease < least {
		findings = append(findings, found(
			fmt.Sprintf("leases of %v would run out when one renewal is lost: "+
				"2 * (period %v + request timeout %v) = %v is the least", lease, period, timeout, least),
			fmt.Sprintf("Set it to %v or more, or shorten the period.", least.Seconds()),
			"lease_time_to_live_seconds"))
	}
	if stale := c.Stale(); stale < 2*period {
		findings = append(findings, found(
			fmt.Sprintf("%v is less than two periods of %v: snapshots come once a period, and would be stale before the next one",
				stale, period),
			"Set it to three periods or so.", "stale_seconds"))
	}
	if c.Coordination == nil {
		return findings
	}
	session := c.Coordination.Etcd.SessionTimeToLive()
	if least := session + period + 2*timeout; lease < least {
		findings = append(findings, found(
			fmt.Sprintf("a standby would take over after leases have run out: session %v + period %v + "+
				"2 * request timeout %v = %v is more than the leases' %v", session, period, timeout, least, lease),
			fmt.Sprintf("Shorten it, or set lease_time_to_live_seconds to %v or more.", least.Seconds()),
			"coordination", "etcd", "session_time_to_live_seconds"))
	}
	return findings
}

func (c Config) checkAddresses() []document.Finding {
	findings := slices.Concat(
		checkPort(c.Listen, "listen"),
		checkPort(c.Page.Listen, "page", "listen"),
	)
	if c.Listen == c.Page.Listen {
		findings = append(findings, found(fmt.Sprintf("the page and the network contract cannot both be at %s", c.Listen),
			"Give the page another port.", "page", "listen"))
	}
	return findings
}

func checkPort(address string, path ...string) []document.Finding {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return []document.Finding{found(err.Error(), "Write HOST:PORT.", path...)}
	}
	if number, err := strconv.Atoi(port); err != nil || number < 1 || number > maxPort {
		return []document.Finding{found(fmt.Sprintf("%s is no port", port), fmt.Sprintf("Ports are 1 to %d.", maxPort), path...)}
	}
	return nil
}

func (c Config) checkAgents() []document.Finding {
	var findings []document.Finding
	nodes, addresses := make(map[string]int), make(map[string]int)
	for i, agent := range c.Agents {
		index := strconv.Itoa(i)
		findings = append(findings, checkPort(agent.Address, "agents", index, "address")...)
		if host, _, _ := strings.Cut(agent.Address, ":"); host == "" {
			findings = append(findings, found("the address has no host", "Write HOST:PORT.", "agents", index, "address"))
		}
		if first, twice := nodes[agent.Node]; twice {
			findings = append(findings, found(fmt.Sprintf("the node %s is there already, as agents[%d]", agent.Node, first),
				"Each node has one agent.", "agents", index, "node"))
		}
		if first, twice := addresses[agent.Address]; twice {
			findings = append(findings, found(fmt.Sprintf("the address %s is that of agents[%d] already", agent.Address, first),
				"Each agent has an address of its own.", "agents", index, "address"))
		}
		nodes[agent.Node], addresses[agent.Address] = i, i
	}
	return findings
}

// checkServices checks how other servers are reached.
func (c Config) checkServices() []document.Finding {
	var findings []document.Finding
	if c.Prometheus != nil {
		findings = append(findings, checkURL(c.Prometheus.URL, c.Prometheus.TLS, "prometheus", "url")...)
	}
	if c.Coordination == nil {
		return findings
	}
	for i := range c.Coordination.Etcd.Endpoints {
		findings = append(findings, c.Coordination.Etcd.checkEndpoint(i)...)
	}
	return findings
}

// checkEndpoint refuses what the client of etcd would not reach: it knows no usual port, and takes the scheme of the
// first endpoint for all.
func (e Etcd) checkEndpoint(index int) []document.Finding {
	const encrypted = "https:"
	path := []string{"coordination", "etcd", "endpoints", strconv.Itoa(index)}
	endpoint, first := e.Endpoints[index], e.Endpoints[0]
	if findings := checkURL(endpoint, e.TLS, path...); len(findings) > 0 {
		return findings
	}
	if address, err := url.Parse(endpoint); err != nil || address.Port() == "" {
		return []document.Finding{found("the URL has no port", "Write https://HOST:PORT; etcd's own port is 2379.", path...)}
	}
	if strings.HasPrefix(endpoint, encrypted) != strings.HasPrefix(first, encrypted) {
		return []document.Finding{found("this endpoint would be reached by the scheme of the first one", "Use https for all of them, or http for all.", path...)}
	}
	return nil
}

// checkURL takes connections that are not encrypted on the machine itself alone.
func checkURL(text string, tls *TLS, path ...string) []document.Finding {
	address, err := url.Parse(text)
	switch {
	case err != nil || address.Hostname() == "":
		return []document.Finding{found(fmt.Sprintf("%q is no URL of a server", text), "Write https://HOST:PORT.", path...)}
	case address.User != nil:
		return []document.Finding{found("the URL holds a password", "Use a certificate: set tls.", path...)}
	case address.Scheme == "http" && !isLoopback(address.Hostname()):
		return []document.Finding{found("this connection would not be encrypted",
			"Use https and set tls; http is for servers on the same machine.", path...)}
	case address.Scheme == "https" && tls == nil:
		return []document.Finding{found("a URL with https needs tls beside it",
			"Set tls.certificate_file, tls.key_file and tls.ca_file.", path...)}
	}
	return nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

func (c Config) checkPolicies() []document.Finding {
	nodes := make(map[string]bool, len(c.Agents))
	for _, agent := range c.Agents {
		nodes[agent.Node] = true
	}
	var findings []document.Finding
	for i, policy := range c.Policies {
		at := []string{"policies", strconv.Itoa(i)}
		findings = append(findings, policy.check(at)...)
		findings = append(findings, c.checkUse(policy, nodes, at)...)
		for j, earlier := range c.Policies[:i] {
			findings = append(findings, conflict(policy, earlier, j, at)...)
		}
	}
	return findings
}

// check says what is wrong with a policy in itself.
func (p Policy) check(at []string) []document.Finding {
	if kinds := policies.Kinds(); !slices.Contains(kinds, p.Type) {
		return []document.Finding{found(fmt.Sprintf("%q is no type of policy", p.Type),
			"Known types: "+strings.Join(kinds, ", "), append(at, "type")...)}
	}
	made, err := policies.New(p.Type, p.Parameters)
	if err != nil {
		return []document.Finding{found(err.Error(), "See docs/policies.", append(at, "parameters")...)}
	}
	if joint, isJoint := made.(policy.Joint); isJoint && (p.Targets.Kind != string(joint.Kind()) || p.Targets.Scope != "") {
		return []document.Finding{found(fmt.Sprintf("a policy of type %s has the kind %s, and no scope", p.Type, joint.Kind()),
			"The scopes are those of the service levels.", append(at, "targets")...)}
	}
	return nil
}

// checkUse says what a policy refers to and the configuration does not have.
func (c Config) checkUse(policy Policy, nodes map[string]bool, at []string) []document.Finding {
	var findings []document.Finding
	if len(policy.Signals) > 0 && c.Prometheus == nil {
		findings = append(findings, found("signals need a Prometheus to take them from", "Set prometheus.url.",
			append(at, "signals")...))
	}
	for i, node := range policy.Targets.Nodes {
		if !nodes[node] {
			findings = append(findings, found(fmt.Sprintf("the node %s is not among the agents", node),
				"Add it to agents, or take it out here.", append(at, "targets", "nodes", strconv.Itoa(i))...))
		}
	}
	return findings
}

// conflict says where two policies would decide about the same task.
func conflict(policy, earlier Policy, earlierIndex int, at []string) []document.Finding {
	if policy.Name == earlier.Name {
		return []document.Finding{found(fmt.Sprintf("the name %s is that of policies[%d] already", policy.Name, earlierIndex),
			"The name is the owner of the policy's leases: give each one of its own.", append(at, "name")...)}
	}
	if isForAll := decidesForAll(policy) || decidesForAll(earlier); isForAll && policy.Targets.sameKind(earlier.Targets) {
		return []document.Finding{found(fmt.Sprintf("%s and %s (policies[%d]) would both decide about the %s of %s",
			policy.Name, earlier.Name, earlierIndex, policy.Targets.Kind, policy.Targets.Store),
			"A policy for service levels decides about all of it: leave the other one out.", append(at, "targets")...)}
	}
	if !policy.Targets.overlap(earlier.Targets) {
		return nil
	}
	return []document.Finding{found(fmt.Sprintf("%s and %s (policies[%d]) would both decide about %s %s",
		policy.Name, earlier.Name, earlierIndex, policy.Targets.Store, policy.Targets.describe()),
		"Set nodes, instances or scope so that one policy decides about each task.", append(at, "targets")...)}
}

// levelsType is the type of the policy that decides about service levels.
const levelsType = "service-level"

// requestLimitType is the type of the policy that holds applications to the load that they were promised for.
const requestLimitType = "request-limit"

func isForLevels(policy Policy) bool { return policy.Type == levelsType }

// decidesForAll says whether a policy decides about a kind of a store for all service levels at once.
func decidesForAll(policy Policy) bool { return isForLevels(policy) || policy.Type == requestLimitType }

func (t Targets) sameKind(other Targets) bool {
	return t.Store == other.Store && t.Kind == other.Kind
}

// overlap says whether some task is selected by both.
func (t Targets) overlap(other Targets) bool {
	return t.Store == other.Store && t.Kind == other.Kind && t.Scope == other.Scope &&
		shareName(t.Nodes, other.Nodes) && shareName(t.Instances, other.Instances)
}

func (t Targets) describe() string {
	if t.Scope == "" {
		return t.Kind
	}
	return fmt.Sprintf("%s of scope %q", t.Kind, t.Scope)
}

// shareName takes an empty list for all names.
func shareName(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 ||
		slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}
