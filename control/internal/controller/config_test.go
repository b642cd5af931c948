package controller

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const least = `cluster: test
name: c1
tls: {certificate_file: /c.crt, key_file: /c.key, ca_file: /ca.crt}
agents:
- {node: n1, address: "n1:7411"}
- {node: n2, address: "n2:7411"}
`

func TestCompleteConfiguration(t *testing.T) {
	config, err := Load("testdata/complete.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := func(name string) TLS {
		return TLS{"/etc/sluice/" + name + ".crt", "/etc/sluice/" + name + ".key", "/etc/sluice/" + name + "-ca.crt"}
	}
	etcdTLS, prometheusTLS := files("etcd"), files("prometheus")
	want := Config{
		Path: "testdata/complete.yaml", Cluster: "production", Name: "control-1", Listen: ":7413",
		Page:     Page{Listen: "127.0.0.1:7414", RequireClientCertificate: true},
		TLS:      TLS{"/etc/sluice/controller.crt", "/etc/sluice/controller.key", "/etc/sluice/ca.crt"},
		LogLevel: "debug", PeriodSeconds: 1, LeaseTimeToLiveSeconds: 5, RequestTimeoutSeconds: 0.5, StaleSeconds: 3,
		DryRun: true,
		Agents: []Agent{{"db1", "db1.example.org:7411"}, {"db2", "[2001:db8::2]:7411"}},
		Coordination: &Coordination{Etcd{
			Endpoints: []string{"https://etcd1:2379", "https://etcd2:2379", "https://etcd3:2379"},
			TLS:       &etcdTLS, KeyPrefix: "/sluice", SessionTimeToLiveSeconds: 2,
		}},
		Prometheus: &Prometheus{URL: "https://prometheus:9090", TLS: &prometheusTLS},
	}
	policies := config.Policies
	config.Policies, config.text = nil, nil
	if !reflect.DeepEqual(config, want) {
		t.Errorf("the configuration is\n%+v, want\n%+v", config, want)
	}
	if len(policies) != 2 || policies[0].Signals["p99_seconds"].Stale() != 10*time.Second || !policies[0].Replace {
		t.Errorf("the policies are %+v", policies)
	}
}

func TestExampleOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/controller.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/controller.md has no example")
	}
	if _, problems := parse([]byte(example)); len(problems) > 0 {
		t.Error(problems)
	}
}

func TestDefaults(t *testing.T) {
	config, err := Load("testdata/least.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Path: "testdata/least.yaml", Cluster: "test", Name: "c1", Listen: ":7413", Page: Page{Listen: "127.0.0.1:7414"},
		TLS: TLS{"/c.crt", "/c.key", "/ca.crt"}, LogLevel: "info", PeriodSeconds: 1, LeaseTimeToLiveSeconds: 5,
		RequestTimeoutSeconds: 0.5, StaleSeconds: 3, Agents: []Agent{},
	}
	config.text = nil
	if !reflect.DeepEqual(config, want) {
		t.Errorf("the configuration is\n%+v, want\n%+v", config, want)
	}
}

const anyTLS = "tls: {certificate_file: /c, key_file: /k, ca_file: /a}"

// script is a policy that needs nothing, as a line to complete.
func script(name, targets string) string {
	return "- {name: " + name + ", type: script, targets: {" + targets +
		"}, parameters: {source: \"def decide(view):\\n    return {'setting': 'full', 'reason': 'test'}\\n\"}}\n"
}

func levels(name, targets string) string {
	return "- name: " + name + "\n  type: service-level\n  targets: {" + targets + "}\n  parameters: {read_seconds: 0.005}\n"
}

func limits(name, targets string) string {
	return "- name: " + name + "\n  type: request-limit\n  targets: {" + targets + "}\n  parameters: {tolerance_share: 0}\n"
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name string
		text string
		want []string
	}{
		{"empty", "", []string{"the file has 0 YAML documents"}},
		{"two documents", least + "---\n" + least, []string{"the file has 2 YAML documents"}},
		{"not YAML", "cluster: [", []string{"line 1: this is no valid YAML"}},
		{"twice the same key", least + "name: c2\n", []string{`line 7: this is no valid YAML: mapping key "name" already defined`}},
		{"anchors", least + "listen: &a \":1\"\n", []string{"line 7: anchors, aliases, merges and tags are not taken. Write the value out."}},
		{"not a mapping", "- a\n", []string{"line 1: this is a array, not a object"}},
		{"nothing that is needed", "listen: \":7413\"\n", []string{
			"line 1: cluster is missing. Name of the cluster, as the certificates have it.",
			"line 1: name is missing. Name of this controller, as its certificate has it.",
			"line 1: tls is missing. Files of the identity of this controller, and of the authority of the cluster.",
			"line 1: agents is missing. The agents, one for each node.",
		}},
		{"several at once", least + "perod_seconds: 2\nstale_seconds: x\nlease_time_to_live_seconds: 999\n", []string{
			"line 7: perod_seconds: this key is not known. Known keys: agents, cluster, coordination,",
			"line 8: stale_seconds: this is a string, not a number. Older snapshots are not acted on, 0.2 to 300 s.",
			"line 9: lease_time_to_live_seconds: 999 is too high, the most is 300. After what time",
		}},
		{"null", least + "page:\n", []string{"line 7: page: this is a null, not a object."}},
		{"not a finite number", least + "period_seconds: .nan\n", []string{"period_seconds"}},
		{"invariant of the lease", least + "lease_time_to_live_seconds: 2.5\n", []string{
			"line 7: lease_time_to_live_seconds: leases of 2.5s would run out when one renewal is lost: " +
				"2 * (period 1s + request timeout 500ms) = 3s is the least. Set it to 3 or more, or shorten the period.",
		}},
		{"invariant of the failover", least +
			"coordination: {etcd: {endpoints: [\"http://127.0.0.1:2379\"], session_time_to_live_seconds: 4}}\n", []string{
			"line 7: coordination.etcd.session_time_to_live_seconds: a standby would take over after leases have run out: " +
				"session 4s + period 1s + 2 * request timeout 500ms = 6s is more than the leases' 5s. " +
				"Shorten it, or set lease_time_to_live_seconds to 6 or more.",
		}},
		{"stale at once", least + "stale_seconds: 1.9\n", []string{"line 7: stale_seconds: 1.9s is less than two periods of 1s"}},
		{"ports", least + "listen: \":70000\"\npage: {listen: \"127.0.0.1:0\"}\n", []string{
			"line 7: listen: 70000 is no port. Ports are 1 to 65535.", "line 8: page.listen: 0 is no port."}},
		{"the same port", least + "listen: \":7000\"\npage: {listen: \":7000\"}\n", []string{
			"line 8: page.listen: the page and the network contract cannot both be at :7000. Give the page another port."}},
		{"agents", least + "- {node: n1, address: \":7411\"}\n- {node: n3, address: \"n1:7411\"}\n", []string{
			"line 7: agents[2].address: the address has no host. Write HOST:PORT.",
			"line 7: agents[2].node: the node n1 is there already, as agents[0]. Each node has one agent.",
			"line 8: agents[3].address: the address n1:7411 is that of agents[0] already.",
		}},
		{"connections that are not encrypted", least + "prometheus: {url: \"http://prometheus:9090\"}\n" +
			"coordination: {etcd: {endpoints: [\"http://[::1]:2379\", \"http://etcd:2379\", \"https://etcd:2379\"]}}\n", []string{
			"line 7: prometheus.url: this connection would not be encrypted. Use https and set tls",
			"line 8: coordination.etcd.endpoints[1]: this connection would not be encrypted",
			"line 8: coordination.etcd.endpoints[2]: a URL with https needs tls beside it",
		}},
		{"an endpoint without a port", least + "coordination: {etcd: {endpoints: [\"https://etcd\"], " + anyTLS + "}}\n", []string{
			"line 7: coordination.etcd.endpoints[0]: the URL has no port. Write https://HOST:PORT; etcd's own port is 2379."}},
		{"endpoints of which some are encrypted", least +
			"coordination: {etcd: {endpoints: [\"http://[::1]:2379\", \"https://etcd:2379\", \"http://localhost:2379\"], " + anyTLS + "}}\n", []string{
			"line 7: coordination.etcd.endpoints[1]: this endpoint would be reached by the scheme of the first one. Use https for all of them, or http for all."}},
		{"password", least + "prometheus: {url: \"https://ann:secret@prometheus:9090\", " + anyTLS + "}\n", []string{
			"line 7: prometheus.url: the URL holds a password"}},
		{"type of policy", least + "policies:\n- {name: p, type: slow, targets: {store: postgres, kind: checkpoint}}\n", []string{
			"line 8: policies[0].type: \"slow\" is no type of policy. Known types: fixed, opportunistic, redirect, request-limit, script, service-level, slo"}},
		{"parameters", least + "policies:\n- {name: p, type: slo, targets: {store: postgres, kind: checkpoint}, parameters: {target: 1}}\n",
			[]string{"line 8: policies[0].parameters: "}},
		{"kind of task", least + "policies:\n- {name: p, type: slo, targets: {store: postgres, kind: vacuum}}\n", []string{
			"line 8: policies[0].targets.kind: \"vacuum\" is none of the values that are allowed. Kind of work: compaction,"}},
		{"names", least + "policies:\n" + script("P_1", "store: s, kind: flush"), []string{
			"line 8: policies[0].name: \"P_1\" does not have the right form. Name of the policy: 1 to 56 small letters"}},
		{"nodes", least + "policies:\n" + script("p", "store: s, kind: flush, nodes: [n1, n9]"), []string{
			"line 8: policies[0].targets.nodes[1]: the node n9 is not among the agents. Add it to agents, or take it out here."}},
		{"signals without Prometheus", least + "policies:\n- name: p\n  type: script\n" +
			"  targets: {store: s, kind: flush}\n  signals: {a: {query: x}}\n" +
			"  parameters: {source: \"def decide(view):\\n    return {'setting': 'full', 'reason': 'test'}\\n\"}\n", []string{
			"line 11: policies[0].signals: signals need a Prometheus to take them from. Set prometheus.url."}},
		{"name of a signal", least + "policies:\n- name: p\n  type: script\n  targets: {store: s, kind: flush}\n" +
			"  signals:\n    P99: {query: x}\n", []string{
			"line 12: policies[0].signals.P99: this key is not known. PromQL queries by name; a name has small letters"}},
		{"the same name", least + "policies:\n" + script("p", "store: s, kind: flush") + script("p", "store: s, kind: cache"), []string{
			"line 9: policies[1].name: the name p is that of policies[0] already"}},
		{"conflict", least + "policies:\n" + script("a", "store: s, kind: flush, nodes: [n1]") +
			script("b", "store: s, kind: flush, instances: [main]"), []string{
			"line 9: policies[1].targets: b and a (policies[0]) would both decide about s flush. " +
				"Set nodes, instances or scope so that one policy decides about each task."}},
		{"service levels of a kind", least + "policies:\n" + levels("a", "store: s, kind: flush"), []string{
			"line 10: policies[0].targets: a policy of type service-level has the kind cache, and no scope"}},
		{"service levels beside another", least + "policies:\n" + levels("a", "store: s, kind: cache") +
			script("b", "store: s, kind: cache, scope: x"), []string{
			"policies[1].targets: b and a (policies[0]) would both decide about the cache of s."}},
		{"limits of requests of a kind", least + "policies:\n" + limits("a", "store: s, kind: requests, scope: x"), []string{
			"line 10: policies[0].targets: a policy of type request-limit has the kind requests, and no scope"}},
		{"limits of requests beside another", least + "policies:\n" + limits("a", "store: s, kind: requests") +
			script("b", "store: s, kind: requests, scope: x"), []string{
			"policies[1].targets: b and a (policies[0]) would both decide about the requests of s."}},
		{"a state file", least + "service_levels: {state_file: levels.json}\n", []string{
			"line 7: service_levels.state_file: \"levels.json\" does not have the right form. Absolute path of a file"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Check(writeConfig(t, test.text))
			if len(got) != len(test.want) {
				t.Fatalf("%d problems, want %d:\n%v", len(got), len(test.want), Problems(got))
			}
			for i, want := range test.want {
				if !strings.Contains(got[i].String(), want) {
					t.Errorf("problem %d is\n%s\nwant\n%s", i, got[i], want)
				}
			}
		})
	}
}

func TestPoliciesThatDoNotConflict(t *testing.T) {
	base := Targets{Store: "s", Kind: "flush", Scope: "t", Nodes: []string{"n1"}, Instances: []string{"a"}}
	changes := map[string]func(*Targets){
		"store": func(o *Targets) { o.Store = "z" }, "kind": func(o *Targets) { o.Kind = "cache" },
		"scope": func(o *Targets) { o.Scope = "" }, "nodes": func(o *Targets) { o.Nodes = []string{"n2"} },
		"instances": func(o *Targets) { o.Instances = []string{"b"} },
	}
	if !base.overlap(base) {
		t.Error("targets do not overlap with themselves")
	}
	for name, change := range changes {
		other := base
		change(&other)
		if base.overlap(other) || other.overlap(base) {
			t.Errorf("targets with another %s overlap", name)
		}
	}
}

func TestFileThatCannotBeRead(t *testing.T) {
	problems := Check(filepath.Join(t.TempDir(), "none.yaml"))
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "no such file") {
		t.Errorf("the problems are %v", problems)
	}
	text := least + strings.Repeat("#", maxConfigBytes)
	if problems := Check(writeConfig(t, text)); len(problems) != 1 || !strings.Contains(problems[0].Message, "more than") {
		t.Errorf("the problems of a file that is too large are %v", problems)
	}
}

func writeConfig(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "controller.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every key of the configuration is in the schema, and every key of the schema in the configuration.
func TestSchemaIsThatOfTheConfiguration(t *testing.T) {
	tests := []struct {
		value any
		path  []string
	}{
		{Config{}, nil}, {Page{}, []string{"page"}}, {TLS{}, []string{"tls"}}, {Agent{}, []string{"agents", "0"}},
		{Coordination{}, []string{"coordination"}}, {Etcd{}, []string{"coordination", "etcd"}},
		{Prometheus{}, []string{"prometheus"}}, {ServiceLevels{}, []string{"service_levels"}}, {Policy{}, []string{"policies", "0"}},
		{Targets{}, []string{"policies", "0", "targets"}}, {Signal{}, []string{"policies", "0", "signals", "x"}},
	}
	for _, test := range tests {
		inSchema, err := configSchema.Keys(test.path)
		if err != nil {
			t.Fatal(err)
		}
		var inType []string
		for field := range reflect.TypeOf(test.value).Fields() {
			if name := field.Tag.Get("yaml"); name != "-" {
				inType = append(inType, name)
			}
		}
		slices.Sort(inType)
		if !slices.Equal(inType, inSchema) {
			t.Errorf("%T has the keys %v, the schema %v", test.value, inType, inSchema)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"testdata/complete.yaml", "testdata/least.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(least + "policies:\n" + script("p", "store: s, kind: flush, nodes: [n1]")))
	f.Add([]byte("cluster: .nan\nagents: 1e400\n"))
	f.Add([]byte("a: *a\nb: &b [*b]\n"))
	f.Add([]byte("? [a]\n: b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		config, problems := parse(text)
		for _, problem := range problems {
			if problem.Message == "" {
				t.Fatalf("a problem without a message: %+v", problem)
			}
		}
		if len(problems) > 0 {
			return
		}
		if found := config.check(); len(found) > 0 {
			t.Fatalf("a configuration was taken that has problems: %v", found)
		}
		if config.LeaseTimeToLive() < 2*(config.Period()+config.RequestTimeout()) || config.Period() <= 0 {
			t.Fatalf("a configuration was taken that breaks the invariant: %+v", config)
		}
	})
}
