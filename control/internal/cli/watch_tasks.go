package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	"sluice.dev/control/internal/store"
)

// taskWatch is one call of `sluice watch tasks`.
type taskWatch struct {
	environment Environment
	output      *output
	lines       *listing.Lines
	filter      listing.Filter
	interval    positiveDuration
}

func newWatchTasks(environment Environment) *cobra.Command {
	session := &session{environment: environment, showsNodes: true}
	watch := &taskWatch{
		environment: environment, interval: positiveDuration(time.Second),
		lines: listing.NewLines(environment.Stdout, environment.colours()),
	}
	command := &cobra.Command{
		Use:     "tasks",
		Short:   "Show background tasks whenever something about them changes",
		Long:    tasksWatchLong,
		Example: "  sluice watch tasks --kind compaction\n  sluice watch tasks --node db1 --interval 500ms -o json",
		Args:    positional(),
	}
	session.register(command)
	watch.output = registerOutput(command, environment, "text", formJSON)
	command.Flags().StringVar(&watch.filter.Store, "store", "", "instances of this `STORE` alone")
	command.Flags().StringVar(&watch.filter.Kind, "kind", "", "tasks of this `KIND` alone: "+joinKinds(", "))
	command.Flags().Var(&watch.interval, "interval", "`TIME` from one look to the next")
	command.RegisterFlagCompletionFunc("store", session.completeStores)
	command.RegisterFlagCompletionFunc("kind", completeKinds)
	command.RunE = func(command *cobra.Command, arguments []string) error {
		if watch.filter.Kind != "" {
			if _, err := parseKind(watch.filter.Kind); err != nil {
				return usage(command, err)
			}
		}
		watch.filter.Node = session.flags.Node
		return session.reaching(watch.run)(command, arguments)
	}
	return command
}

// run looks at the tasks again and again. That they can be looked at at all is seen at once.
func (w *taskWatch) run(ctx context.Context, cluster *remote.Connection, _ []string) error {
	state, err := cluster.State(ctx)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(time.Duration(w.interval))
	defer ticker.Stop()
	seen := &listing.TaskHistory{}
	for answered := true; ; {
		if answered {
			if err := w.write(seen.Events(state, w.filter)); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		state, err = cluster.State(ctx)
		if err != nil && store.CodeOf(err) != store.CodeUnavailable {
			return err
		}
		if err != nil && answered && ctx.Err() == nil {
			fmt.Fprintf(w.environment.Stderr, "sluice: asking again: %s\n", messageOf(err))
		}
		answered = err == nil
	}
}

// taskEventDocument is a line of `sluice watch tasks -o json`.
type taskEventDocument struct {
	Event string `json:"event"`
	listing.Part
}

func (w *taskWatch) write(events []listing.TaskEvent) error {
	for _, event := range events {
		if err := w.writeEvent(event); err != nil {
			return err
		}
	}
	return nil
}

func (w *taskWatch) writeEvent(event listing.TaskEvent) error {
	if w.output.isDocument() {
		return listing.WriteJSONLine(w.environment.Stdout, taskEventDocument{
			event.Event, listing.PartOf(event.Located, listing.SetTask),
		})
	}
	return w.lines.Write(listing.TaskLine(event, w.environment.Now()))
}
