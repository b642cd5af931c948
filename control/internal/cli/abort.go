package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/remote"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const abortLong = `Abort one background task: it ends within some seconds, and what it has done is thrown away. A task that
waits for its turn is dropped. The id of a task is shown by sluice get tasks -o wide.

No lease begins or ends, and the work is still to be done: a store may start the same again by itself.
To keep it from that for a time, set defer_until_debt_bytes first; to keep the work and only pause it,
set hold.

Which kinds a store can abort is shown by sluice get stores -o wide.

` + connectionHelp

func newAbort(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	var flags orderFlags
	command := &cobra.Command{
		Use:   "abort NODE/STORE/INSTANCE KIND TASK",
		Short: "Abort one background task",
		Long:  abortLong,
		Example: `  sluice abort db3/hbase/regionserver compaction compaction-17
  sluice abort db3/hbase/regionserver compaction compaction-17 --owner operator/night`,
		Args:              positional("NODE/STORE/INSTANCE", "KIND", "TASK"),
		ValidArgsFunction: session.completeAbortion,
	}
	session.register(command)
	output := registerOutput(command, environment, "text", formJSON, formYAML)
	command.Flags().StringVar(&flags.owner, "owner", "", "who asks; operator/NAME of your certificate by default")
	command.RunE = func(command *cobra.Command, arguments []string) error {
		ref, abortion, err := parseAbortion(command, arguments)
		if err != nil {
			return err
		}
		return session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
			abortion.Owner = flags.ownerOn(cluster)
			if err := cluster.AbortTask(ctx, ref, abortion); err != nil {
				return err
			}
			if output.isDocument() {
				return output.document(abortedDocument{ref.String(), abortion.Kind, abortion.Task})
			}
			_, err := fmt.Fprintf(environment.Stdout, "%s %s %s: asked to end\n", ref, abortion.Kind, abortion.Task)
			return err
		})(command, arguments)
	}
	return command
}

func parseAbortion(command *cobra.Command, arguments []string) (policy.Ref, store.Abortion, error) {
	ref, err := parseTarget(arguments[0])
	if err != nil {
		return policy.Ref{}, store.Abortion{}, usage(command, err)
	}
	kind, err := parseKind(arguments[1])
	if err != nil {
		return policy.Ref{}, store.Abortion{}, usage(command, err)
	}
	return ref, store.Abortion{Kind: kind, Task: arguments[2]}, nil
}

// abortedDocument is what programs read of an abort.
type abortedDocument struct {
	Target string     `json:"target"`
	Kind   store.Kind `json:"kind"`
	Task   string     `json:"task"`
}
