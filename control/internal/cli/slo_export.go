package cli

import (
	"context"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/remote"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/wire"
)

const sloExportLong = `Write the service levels that are kept as a file for sluice slo apply, and nothing of how they fare.
Each has its version: what has changed since is not written over. Leave the versions out for another
cluster, or to have the file as it is in any case.

`

func newSLOExport(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	command := &cobra.Command{
		Use:   "export",
		Short: "Write service levels as a file for sluice slo apply",
		Long:  sloExportLong + connectionHelp,
		Example: `  sluice slo export
  sluice slo export -o json`,
		Args: positional(),
	}
	session.register(command)
	output := registerOutput(command, environment, formYAML, formJSON)
	command.RunE = session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
		decider, err := cluster.Decider()
		if err != nil {
			return err
		}
		listed, err := decider.ListServiceLevels(ctx, &sluicev1.ListServiceLevelsRequest{})
		if err != nil {
			return err
		}
		kept := servicelevel.File{ServiceLevels: []servicelevel.Object{}}
		for _, state := range listed.GetServiceLevels() {
			object, err := wire.DecodeServiceLevel(state.GetServiceLevel())
			if err != nil {
				return err
			}
			kept.ServiceLevels = append(kept.ServiceLevels, object)
		}
		return output.document(kept)
	})
	return command
}
