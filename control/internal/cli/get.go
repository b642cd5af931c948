package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

const getLong = `Show a cluster, or one thing of it:

  nodes       CPU and pressure of each node, and whether its agent answers
  stores      instances of stores, their versions, what can be ordered of them (-o wide)
  tasks       background tasks: state, progress, rate, time throttled by orders
  leases      orders in force, whose they are, and for how long they still hold
  debts       work that was put off, against the limit at which the store ends every order
  latencies   of requests, over the last interval of each class (every interval with -o wide)
  decisions   what policies decided and why, the newest last

Without an argument, everything but decisions.

--node, --store, --kind and --policy select what is shown; --policy selects decisions, and the
leases of that policy.

Tables are for people: "-" stands for what is not there or not known, more columns may come. For
scripts there are -o json and -o yaml: messages of proto/sluice/v1 with the names that they have
there, each with the node and instance that it is from. As protobuf prescribes it, 64-bit whole
numbers are strings in JSON, and durations are texts such as "1.500s".

` + connectionHelp

// getCommand is one call of `sluice get`.
type getCommand struct {
	session     session
	output      *output
	filter      listing.Filter
	limit       uint32
	changesOnly bool
	environment Environment
}

func newGet(environment Environment) *cobra.Command {
	get := &getCommand{session: session{environment: environment, showsNodes: true}, environment: environment}
	command := &cobra.Command{
		Use:   "get [RESOURCE]",
		Short: "Show nodes, stores, tasks, leases, debts, latencies or decisions",
		Long:  getLong,
		Example: `  sluice get
  sluice get tasks --kind checkpoint
  sluice get stores -o wide
  sluice get decisions --policy nightly --changes-only --limit 20
  sluice get debts -o json
  sluice get leases --agent db1.example:7411 --node db1`,
		Args:              positional("[RESOURCE]"),
		ValidArgsFunction: cobra.FixedCompletions(resourceNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	get.session.register(command)
	get.output = registerOutput(command, environment, formTable, formWide, formJSON, formYAML)
	flags := command.Flags()
	flags.StringVar(&get.filter.Store, "store", "", "instances of this `STORE` alone, such as postgres")
	flags.StringVar(&get.filter.Kind, "kind", "", "tasks of this `KIND` alone: "+joinKinds(", "))
	flags.StringVar(&get.filter.Policy, "policy", "", "decisions and leases of this policy alone")
	flags.Uint32Var(&get.limit, "limit", 0, "so many decisions at most, the newest; 0 for all that are kept")
	flags.BoolVar(&get.changesOnly, "changes-only", false, "leave out decisions with the verdict keep")
	command.RegisterFlagCompletionFunc("store", get.session.completeStores)
	command.RegisterFlagCompletionFunc("kind", completeKinds)
	command.RegisterFlagCompletionFunc("policy", get.session.completePolicies)
	command.RunE = get.run
	return command
}

func (g *getCommand) run(command *cobra.Command, arguments []string) error {
	g.filter.Node = g.session.flags.Node
	if g.filter.Kind != "" {
		if _, err := parseKind(g.filter.Kind); err != nil {
			return usage(command, err)
		}
	}
	chosen, err := findResource(command, arguments)
	if err != nil {
		return err
	}
	if err := chosen.refuseFlags(command); err != nil {
		return err
	}
	return g.session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
		return chosen.show(ctx, g, cluster)
	})(command, arguments)
}

// view is a resource as it was loaded: a table for people, a document for programs.
type view struct {
	table    func(wide bool) listing.Table
	document any
}

func (g *getCommand) write(shown view) error {
	if g.output.isDocument() {
		return g.output.document(shown.document)
	}
	return g.output.table(shown.table(g.output.isWide()))
}

// resource is something that `sluice get` shows.
type resource struct {
	name string
	// flags are those that select among it, besides --node.
	flags []string
	show  func(context.Context, *getCommand, *remote.Connection) error
}

// selectingFlags are the flags of `sluice get` that only some resources have.
var selectingFlags = []string{"store", "kind", "policy", "limit", "changes-only"}

// refuseFlags refuses a flag that would be ignored.
func (r resource) refuseFlags(command *cobra.Command) error {
	for _, flag := range selectingFlags {
		if command.Flags().Changed(flag) && !slices.Contains(r.flags, flag) {
			return usagef(command, "--%s selects nothing among %s", flag, r.name)
		}
	}
	return nil
}

// stateResource is a resource that is part of a cluster's state.
type stateResource struct {
	name  string
	flags []string
	view  func(*getCommand, *sluicev1.GetClusterResponse) view
}

func resources() []resource {
	var all []resource
	for _, each := range stateResources {
		all = append(all, resource{each.name, each.flags, each.show})
	}
	return append(all, resource{
		"decisions", []string{"policy", "limit", "changes-only", "store", "kind"}, showDecisions,
	})
}

func (r stateResource) show(ctx context.Context, get *getCommand, cluster *remote.Connection) error {
	state, err := cluster.State(ctx)
	if err != nil {
		return err
	}
	return get.write(r.view(get, state))
}

// showEverything shows all that a cluster's state holds, each resource under its name.
func showEverything(ctx context.Context, get *getCommand, cluster *remote.Connection) error {
	state, err := cluster.State(ctx)
	if err != nil {
		return err
	}
	if get.output.isDocument() {
		state.Nodes = listing.Nodes(state, get.filter)
		return get.output.document(listing.Message{Message: state})
	}
	return get.writeState(state, stateResources)
}

// writeState writes the tables of some resources, each under its name.
func (g *getCommand) writeState(state *sluicev1.GetClusterResponse, shown []stateResource) error {
	for i, each := range shown {
		if i > 0 {
			fmt.Fprintln(g.environment.Stdout)
		}
		fmt.Fprintln(g.environment.Stdout, strings.ToUpper(each.name))
		if err := g.write(each.view(g, state)); err != nil {
			return err
		}
	}
	return nil
}

func resourceNames() []string {
	var names []string
	for _, each := range resources() {
		names = append(names, each.name)
	}
	return names
}

func findResource(command *cobra.Command, arguments []string) (resource, error) {
	if len(arguments) == 0 {
		return resource{name: "everything", show: showEverything}, nil
	}
	for _, each := range resources() {
		if each.name == arguments[0] {
			return each, nil
		}
	}
	names := strings.Join(resourceNames(), ", ")
	return resource{}, usagef(command, "%q is nothing to get: there are %s", arguments[0], names)
}
