package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/agent"
	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/controller"
	"sluice.dev/control/internal/store"
)

const agentLong = `Run the agent of this node: it finds the stores, takes a snapshot of each once a period, passes orders on,
and serves all that over mutual TLS, with metrics for Prometheus. docs/agent.md explains the configuration.
The log is on the standard error, one JSON object a line. SIGTERM ends it, SIGHUP changes nothing;
leases stay in the stores, and run out there.`

func newAgent(environment Environment) *cobra.Command {
	command := &cobra.Command{
		Use:     "agent --config FILE",
		Short:   "Run the agent of a node",
		Long:    agentLong,
		Example: "  sluice agent --config /etc/sluice/agent/agent.yml\n  sluice agent check /etc/sluice/agent/agent.yml",
	}
	serve := func(ctx context.Context, path string) error {
		config, err := agent.Load(path)
		if err != nil {
			return store.Invalidf("%w", err).WithHint("docs/agent.md explains the keys.")
		}
		return agent.Run(ctx, config, environment.logger(config.Level()))
	}
	return service(command, serve, newCheck(environment, "agent", checkAgent))
}

const controllerLong = `Run a controller of the cluster: it reads every agent once a period, runs the policies, and gives leases.
Of several controllers one is active, the others stand by. docs/controller.md explains the
configuration, which is read again when the file changes, and on SIGHUP. The log is on the standard error,
one JSON object a line. SIGTERM ends it; leases stay in the stores, and run out there.`

func newController(environment Environment) *cobra.Command {
	command := &cobra.Command{
		Use:     "controller --config FILE",
		Short:   "Run a controller of a cluster",
		Long:    controllerLong,
		Example: "  sluice controller --config /etc/sluice/controller/controller.yml\n  sluice controller check /etc/sluice/controller/controller.yml",
	}
	serve := func(ctx context.Context, path string) error {
		config, err := controller.Load(path)
		if err != nil {
			return store.Invalidf("%w", err).WithHint("docs/controller.md explains the keys.")
		}
		return controller.Run(ctx, config, environment.logger(config.Level()), environment.Hangups)
	}
	return service(command, serve, newCheck(environment, "controller", checkController))
}

// serviceAnnotation marks the commands that service makes.
const serviceAnnotation = "service"

// service makes a command that runs until its context ends, with commands below it.
func service(
	command *cobra.Command, serve func(ctx context.Context, path string) error, members ...*cobra.Command,
) *cobra.Command {
	var path string
	command.Flags().StringVar(&path, "config", "", "configuration `FILE`; needed")
	group(command, members...)
	command.Annotations = map[string]string{serviceAnnotation: ""}
	command.RunE = func(command *cobra.Command, arguments []string) error {
		if len(arguments) > 0 {
			return unknownCommand(command, arguments[0])
		}
		if path == "" {
			return usagef(command, "--config is missing")
		}
		return serve(command.Context(), path)
	}
	return command
}

func (e Environment) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(e.Stderr, &slog.HandlerOptions{Level: level}))
}

// newCheck makes the command that says what is wrong with a configuration file.
func newCheck(environment Environment, name string, check func(path string) []string) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Say everything that is wrong with a configuration file",
		Long: fmt.Sprintf(`Say everything that is wrong with a configuration file: a line for each problem, with the line of the
file, the key, and what to do. Nothing is started. The exit code is 1 if there is a problem.
docs/%s.md explains the keys.`, name),
		Example: fmt.Sprintf("  sluice %s check /etc/sluice/%s/%s.yml", name, name, name),
		Args:    positional("FILE"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			problems := check(arguments[0])
			if len(problems) == 0 {
				_, err := fmt.Fprintf(environment.Stdout, "%s: nothing is wrong with it\n", arguments[0])
				return err
			}
			for _, problem := range problems {
				fmt.Fprintln(environment.Stdout, listing.Printable(problem))
			}
			fmt.Fprintf(environment.Stdout, "%s: %s\n", arguments[0], counted(uint32(len(problems)), "problem"))
			return errReported
		},
	}
}

func checkController(path string) []string {
	var texts []string
	for _, problem := range controller.Check(path) {
		texts = append(texts, problem.String())
	}
	return texts
}

// checkAgent gives a line for each of the errors that were joined.
func checkAgent(path string) []string {
	_, err := agent.Load(path)
	if err == nil {
		return nil
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return strings.Split(err.Error(), "\n")
}
