package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/remote"
	"sluice.dev/control/internal/store"
)

const clearLong = `End leases of one owner before their time: all of them on an instance, or those of a kind, and scope.
The store goes back to what its own configuration says. Leases of policies come back with their next
decision, unless the policy is paused first (sluice policy pause).

` + connectionHelp

func newClear(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	var flags orderFlags
	command := &cobra.Command{
		Use:   "clear NODE/STORE/INSTANCE [KIND]",
		Short: "End leases before their time",
		Long:  clearLong,
		Example: `  sluice clear db1/postgres/main
  sluice clear db1/postgres/main checkpoint
  sluice clear db2/rocksdb/orders compaction --scope default --owner operator/night`,
		Args:              positional("NODE/STORE/INSTANCE", "[KIND]"),
		ValidArgsFunction: session.completeSelection,
	}
	session.register(command)
	output := registerOutput(command, environment, "text", formJSON, formYAML)
	flags.registerTarget(command)
	command.RunE = func(command *cobra.Command, arguments []string) error {
		ref, err := parseTarget(arguments[0])
		if err != nil {
			return usage(command, err)
		}
		selection := store.Selection{Scope: flags.scope}
		if len(arguments) > 1 {
			if selection.Kind, err = parseKind(arguments[1]); err != nil {
				return usage(command, err)
			}
		}
		if selection.Scope != "" && selection.Kind == "" {
			return usagef(command, "--scope needs a KIND")
		}
		return session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
			selection.Owner = flags.ownerOn(cluster)
			cleared, err := cluster.ClearLeases(ctx, ref, selection)
			if err != nil {
				return err
			}
			if output.isDocument() {
				return output.document(map[string]uint32{"cleared": cleared})
			}
			_, err = fmt.Fprintf(environment.Stdout, "%s: %s of %s ended\n", ref, counted(cleared, "lease"), selection.Owner)
			return err
		})(command, arguments)
	}
	return command
}

// counted writes a number of things: "1 lease", "2 leases".
func counted(count uint32, thing string) string {
	if count == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", count, thing)
}
