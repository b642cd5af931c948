package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

const sloLong = `Say what applications need of a store, and see whether they get it.

A service level is a response time of reads (a mean or a percentile) of a table or family, up to a
load. It is admitted if the cluster can give it beside all others, by the cost of a read of the
devices and the cache that may be reserved; else it is refused, with the arithmetic and the nearest
that is possible. The controller's policy of type service-level then gives it cache, a step at a time.`

func newSLO(environment Environment) *cobra.Command {
	return group(&cobra.Command{
		Use:     "slo",
		Short:   "Promise response times to applications, and see how they fare",
		Long:    sloLong,
		Example: "  sluice slo get\n  sluice slo apply --file levels.yaml --dry-run",
	}, newSLOApply(environment), newSLOGet(environment), newSLOExplain(environment), newSLOExport(environment),
		newSLODelete(environment))
}

const sloApplyLong = `Keep the service levels of a file, all of them or none: each must be admitted beside those that are
kept and those before it in the file. One that is there under the same name is replaced; with a
version, as sluice slo get shows it, only if it has not changed since. It needs the role operator.

The arithmetic is written line by line: of several, that of each one that is admitted alone, and that of
all of one that is refused. The exit code is 3 if one was refused; nothing is changed then.

`

func newSLOApply(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	var path string
	var isDryRun bool
	command := &cobra.Command{
		Use:   "apply",
		Short: "Keep service levels, if they can be promised",
		Long:  sloApplyLong + connectionHelp,
		Example: `  sluice slo apply --file levels.yaml --dry-run
  sluice slo apply --file -`,
		Args: positional(),
	}
	session.register(command)
	command.Flags().StringVarP(&path, "file", "f", "", "`FILE` of service levels; - for the standard input")
	command.Flags().BoolVar(&isDryRun, "dry-run", false, "say what would become of them, and change nothing")
	output := registerOutput(command, environment, formTable, formJSON, formYAML)
	apply := session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
		request, err := readServiceLevels(environment, path)
		if err != nil {
			return err
		}
		request.IsDryRun = isDryRun
		decider, err := cluster.Decider()
		if err != nil {
			return err
		}
		response, err := decider.ApplyServiceLevels(ctx, request)
		if err != nil {
			return err
		}
		return writeApplied(environment, output, response, isDryRun)
	})
	command.RunE = func(command *cobra.Command, arguments []string) error {
		if path == "" {
			return usagef(command, "--file must be given")
		}
		return apply(command, arguments)
	}
	return command
}

// readServiceLevels reads a file before anybody is asked.
func readServiceLevels(environment Environment, path string) (*sluicev1.ApplyServiceLevelsRequest, error) {
	read := func() ([]byte, error) { return os.ReadFile(path) }
	if path == "-" {
		read = func() ([]byte, error) { return io.ReadAll(environment.Stdin) }
	}
	text, err := read()
	if err != nil {
		return nil, store.Invalidf("reading the service levels: %w", err)
	}
	objects, err := servicelevel.Parse(text)
	if err != nil {
		return nil, store.Invalidf("%s: %w", path, err)
	}
	request := &sluicev1.ApplyServiceLevelsRequest{}
	for _, object := range objects {
		request.ServiceLevels = append(request.ServiceLevels, wire.EncodeServiceLevel(object))
	}
	return request, nil
}

// writeApplied says what has become of each, and fails if one was refused.
func writeApplied(
	environment Environment, output *output, response *sluicev1.ApplyServiceLevelsResponse, isDryRun bool,
) error {
	if output.isDocument() {
		if err := output.document(listing.Message{Message: response}); err != nil {
			return err
		}
	}
	for _, admission := range response.GetAdmissions() {
		if !output.isDocument() {
			writeAdmission(environment, admission)
		}
		if !admission.GetIsAdmitted() {
			return store.Errorf(store.CodeRefused, "%s is refused, and nothing has changed: %s",
				admission.GetServiceLevel().GetName(), admission.GetReason()).WithHint("%s.", admission.GetNearest())
		}
	}
	if output.isDocument() {
		return nil
	}
	done := "kept"
	if isDryRun {
		done = "could be kept; nothing has changed"
	}
	_, err := fmt.Fprintf(environment.Stdout, "%d service levels: %s\n", len(response.GetAdmissions()), done)
	return err
}

func writeAdmission(environment Environment, admission *sluicev1.ServiceLevelAdmission) {
	for _, line := range admission.GetLines() {
		fmt.Fprintln(environment.Stdout, listing.Printable(line))
	}
	fmt.Fprintln(environment.Stdout)
}

func newSLOGet(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	command := &cobra.Command{
		Use:   "get",
		Short: "List service levels: target, what it is, load, cache, state",
		Long: `List service levels with what their targets come to. The state is reached, missed, wants-node (it needs
a node that is not there), above-load (it asks for more than it was promised for), refused (it behaves
otherwise than its profile says, and cannot be promised so) or unknown. What is marked with ~ is worked
out of all requests of its servers and its own misses.

With -o json and -o yaml, "service_levels" has them with their last actions.

` + connectionHelp,
		Example: "  sluice slo get\n  sluice slo get -o yaml",
		Args:    positional(),
	}
	session.register(command)
	output := registerOutput(command, environment, formTable, formWide, formJSON, formYAML)
	command.RunE = session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
		decider, err := cluster.Decider()
		if err != nil {
			return err
		}
		levels, err := decider.ListServiceLevels(ctx, &sluicev1.ListServiceLevelsRequest{})
		if err != nil {
			return err
		}
		if output.isDocument() {
			return output.document(listing.Message{Message: levels})
		}
		return output.table(listing.ServiceLevelTable(levels.GetServiceLevels(), output.isWide()))
	})
	return command
}

func newSLOExplain(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	command := &cobra.Command{
		Use:   "explain NAME",
		Short: "Show the arithmetic of a service level, how it fares and what was done",
		Long: `Show the arithmetic by which a service level can be promised beside the others, on the nodes as they
are now, line by line; then how it fares, and the last actions, the newest last. To see that of one
which is not kept, use sluice slo apply with --dry-run.

` + connectionHelp,
		Example: "  sluice slo explain orders\n  sluice slo explain orders -o json",
		Args:    positional("NAME"),
	}
	session.register(command)
	output := registerOutput(command, environment, formTable, formJSON, formYAML)
	command.RunE = session.reaching(func(ctx context.Context, cluster *remote.Connection, arguments []string) error {
		decider, err := cluster.Decider()
		if err != nil {
			return err
		}
		explained, err := decider.ExplainServiceLevel(ctx, &sluicev1.ExplainServiceLevelRequest{Name: arguments[0]})
		if err != nil {
			return err
		}
		if output.isDocument() {
			return output.document(listing.Message{Message: explained})
		}
		writeAdmission(environment, explained.GetAdmission())
		state := explained.GetState()
		fmt.Fprintf(environment.Stdout, "%s: %s\n\n", state.GetState(), listing.Printable(state.GetReason()))
		return output.table(listing.ServiceLevelActionTable(state.GetActions(), environment.Now()))
	})
	return command
}

func newSLODelete(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	var version string
	command := &cobra.Command{
		Use:   "delete NAME",
		Short: "Take a promise back",
		Long: `Take a promise back. The cache that was kept for it goes back to the others when its leases run out,
within their time to live. It needs the role operator.

` + connectionHelp,
		Example: "  sluice slo delete orders\n  sluice slo delete orders --version 7",
		Args:    positional("NAME"),
	}
	session.register(command)
	command.Flags().StringVar(&version, "version", "", "`VERSION` that it must still be of")
	command.RunE = session.reaching(func(ctx context.Context, cluster *remote.Connection, arguments []string) error {
		decider, err := cluster.Decider()
		if err != nil {
			return err
		}
		request := &sluicev1.DeleteServiceLevelRequest{Name: arguments[0], Version: version}
		if _, err := decider.DeleteServiceLevel(ctx, request); err != nil {
			return err
		}
		_, err = fmt.Fprintf(environment.Stdout, "service level %s: deleted\n", arguments[0])
		return err
	})
	return command
}
