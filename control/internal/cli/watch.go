package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

const watchLong = `Show decisions or tasks as they come, until interrupted.

With -o json each line is one object: of decisions the message WatchDecisionsResponse of
proto/sluice/v1; of tasks the event ("new", "changed" or "gone"), the target and the message Task.

When the controller or agent goes away, this is told on the standard error, and the command goes on
when it is back.

` + connectionHelp

const decisionsWatchLong = `Show decisions as policies make them. A line has the time, the policy, the target, the kind of task, the
verdict, the setting and the reason. The verdict is "change" for another setting than before or the
start of a task, "keep" to renew, "stop" to let the lease run out.

` + connectionHelp

const tasksWatchLong = `Show background tasks whenever something about them changes. A line has the time, the event, the
target, the kind of task, its state, what is done of it and the rate.

` + connectionHelp

func newWatch(environment Environment) *cobra.Command {
	return group(&cobra.Command{
		Use:     "watch",
		Short:   "Show decisions or tasks as they come",
		Long:    watchLong,
		Example: "  sluice watch decisions --changes-only\n  sluice watch tasks --node db1 -o json",
	}, newWatchDecisions(environment), newWatchTasks(environment))
}

// retryInterval is waited before a peer that went away is asked again.
const retryInterval = time.Second

// decisionWatch is one call of `sluice watch decisions`.
type decisionWatch struct {
	environment Environment
	output      *output
	lines       *listing.Lines
	request     *sluicev1.WatchDecisionsRequest
}

func newWatchDecisions(environment Environment) *cobra.Command {
	session := &session{environment: environment, showsNodes: true}
	watch := &decisionWatch{
		environment: environment, request: &sluicev1.WatchDecisionsRequest{},
		lines: listing.NewLines(environment.Stdout, environment.colours()),
	}
	command := &cobra.Command{
		Use:     "decisions",
		Short:   "Show decisions as policies make them",
		Long:    decisionsWatchLong,
		Example: "  sluice watch decisions\n  sluice watch decisions --policy nightly --changes-only\n  sluice watch decisions -o json",
		Args:    positional(),
	}
	session.register(command)
	watch.output = registerOutput(command, environment, "text", formJSON)
	command.Flags().StringVar(&watch.request.Policy, "policy", "", "decisions of this policy alone")
	command.Flags().BoolVar(&watch.request.ChangesOnly, "changes-only", false, "leave out the verdict keep")
	command.RegisterFlagCompletionFunc("policy", session.completePolicies)
	command.RunE = session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
		watch.request.Node = session.flags.Node
		return watch.run(ctx, cluster)
	})
	return command
}

// run opens the stream again whenever it breaks, as it does when the controller restarts, and in the
// end when the age of a connection is up. That a controller is there at all is asked first.
func (w *decisionWatch) run(ctx context.Context, cluster *remote.Connection) error {
	decider, err := cluster.Decider()
	if err != nil {
		return err
	}
	if _, err := decider.ListPolicies(ctx, &sluicev1.ListPoliciesRequest{}); err != nil {
		return err
	}
	for {
		err := w.follow(ctx, decider)
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(err, io.EOF) && store.CodeOf(err) != store.CodeUnavailable {
			return err
		}
		fmt.Fprintf(w.environment.Stderr, "sluice: the stream of decisions broke, opening it again: %s\n", messageOf(err))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryInterval):
		}
	}
}

func (w *decisionWatch) follow(ctx context.Context, decider sluicev1.ControllerServiceClient) error {
	stream, err := decider.WatchDecisions(ctx, w.request)
	if err != nil {
		return err
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := w.write(response); err != nil {
			return store.Errorf(store.CodeInvalid, "writing a decision: %w", err)
		}
	}
}

func (w *decisionWatch) write(response *sluicev1.WatchDecisionsResponse) error {
	if w.output.isDocument() {
		return listing.WriteJSONLine(w.environment.Stdout, listing.Message{Message: response})
	}
	if response.GetSkipped() > 0 {
		fmt.Fprintf(w.environment.Stderr, "sluice: %d decisions were left out, for this terminal was too slow\n",
			response.GetSkipped())
	}
	return w.lines.Write(listing.DecisionLine(response.GetDecision(), w.environment.Now().Location()))
}
