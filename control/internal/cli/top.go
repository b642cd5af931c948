package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	"sluice.dev/control/internal/cli/top"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

const topLong = `Show a live view: nodes with CPU and their busiest device; tasks with progress and rate; debt against
the limit of each store, with the p99 of its requests; leases with the time they still hold; service levels, if
there are some, with their targets and what these come to.

Keys: tab and shift-tab go to the next and previous table, arrows move in it, s sorts it by something
else, / shows rows with a text alone, h explains, q quits.

With --once, one frame is written as text, with every row, for scripts and reports.

` + connectionHelp

func newTop(environment Environment) *cobra.Command {
	session := &session{environment: environment, showsNodes: true}
	interval := positiveDuration(time.Second)
	var once bool
	command := &cobra.Command{
		Use:     "top",
		Short:   "Show a live view of nodes, tasks, debt and leases",
		Long:    topLong,
		Example: "  sluice top\n  sluice top --interval 250ms\n  sluice top --once --context production",
		Args:    positional(),
	}
	session.register(command)
	command.Flags().Var(&interval, "interval", "`TIME` from one look to the next")
	command.Flags().BoolVar(&once, "once", false, "write one frame as text")
	command.RunE = session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
		source := top.Source{
			Fetch: session.fetch(cluster), Levels: levelsOf(cluster), Interval: time.Duration(interval), Now: environment.Now,
		}
		if once {
			return top.WriteOnce(ctx, source, environment.Stdout)
		}
		if !environment.IsTerminal {
			return store.Invalidf("the output is not a terminal").WithHint("--once writes one frame as text.")
		}
		screen, err := environment.NewScreen()
		if err != nil {
			return store.Invalidf("the terminal cannot be used: %w", err).
				WithHint("See whether TERM names it; --once writes one frame as text.")
		}
		return top.Run(ctx, source, screen, environment.colours())
	})
	return command
}

// levelsOf asks for the service levels; an agent, a controller that is older, and one that keeps none have none.
func levelsOf(cluster *remote.Connection) func(context.Context) []*sluicev1.ServiceLevelState {
	return func(ctx context.Context) []*sluicev1.ServiceLevelState {
		decider, err := cluster.Decider()
		if err != nil {
			return nil
		}
		levels, err := decider.ListServiceLevels(ctx, &sluicev1.ListServiceLevelsRequest{})
		if err != nil {
			return nil
		}
		return levels.GetServiceLevels()
	}
}

// fetch asks for the state of the cluster, or of one node of it.
func (s *session) fetch(cluster *remote.Connection) func(context.Context) (*sluicev1.GetClusterResponse, error) {
	return func(ctx context.Context) (*sluicev1.GetClusterResponse, error) {
		state, err := cluster.State(ctx)
		if err != nil {
			return nil, err
		}
		state.Nodes = listing.Nodes(state, listing.Filter{Node: s.flags.Node})
		return state, nil
	}
}
