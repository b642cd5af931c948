package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/contexts"
	"sluice.dev/control/internal/cli/remote"
	"sluice.dev/control/internal/store"
)

// session is how one command reaches the cluster.
type session struct {
	environment Environment
	contextName string
	flags       contexts.Context
	timeout     positiveDuration
	// showsNodes says that --node selects what is shown; elsewhere it only goes with --agent.
	showsNodes bool
}

const defaultTimeout = positiveDuration(5 * time.Second)

// connectionHelp belongs to the text of commands that reach a cluster.
const connectionHelp = `The cluster is that of the context in use (sluice config view), or of --context, or of the
flags --controller, or --agent and --node, with those of the certificates.`

// register gives a command the flags that say how the cluster is reached.
func (s *session) register(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&s.contextName, "context", "", "context to use instead of the current one")
	flags.StringVar(&s.flags.Controller, "controller", "", "`HOST:PORT` of a controller")
	flags.StringVar(&s.flags.Agent, "agent", "", "`HOST:PORT` of an agent, to reach the node of --node directly")
	flags.StringVar(&s.flags.Node, "node", "", "the node alone; with --agent, the agent's `NAME`")
	flags.StringVar(&s.flags.Cluster, "cluster", "", "`NAME` of the cluster in its certificates")
	flags.StringVar(&s.flags.CertificateFile, "certificate-file", "", "your certificate, a PEM `FILE`")
	flags.StringVar(&s.flags.KeyFile, "key-file", "", "key of your certificate, a PEM `FILE`")
	flags.StringVar(&s.flags.CAFile, "ca-file", "", "certificate of the cluster's authority, a PEM `FILE`")
	s.timeout = defaultTimeout
	flags.Var(&s.timeout, "timeout", "longest `TIME` to wait for an answer")
	command.RegisterFlagCompletionFunc("context", completeContexts(s.environment))
	command.RegisterFlagCompletionFunc("node", s.completeNodes)
}

// connect connects to the cluster. The caller closes the connection.
func (s *session) connect() (*remote.Connection, error) {
	way, err := s.way()
	if err != nil {
		return nil, err
	}
	return remote.Connect(way, time.Duration(s.timeout))
}

// way is what flags say, over what the context says.
func (s *session) way() (contexts.Context, error) {
	above := s.flags
	if above.Agent == "" {
		// Without an agent, --node only selects what is shown.
		above.Node = ""
	}
	below, err := s.chosenContext()
	if err != nil {
		return contexts.Context{}, err
	}
	way := above.Over(below)
	if err := way.Validate(); err != nil {
		return contexts.Context{}, store.Invalidf("it is not known how to reach the cluster: %w", err).
			WithHint("Flags say it (--controller, --cluster, --certificate-file, --key-file, --ca-file), " +
				"or a context that sluice config set-context makes.")
	}
	return way, nil
}

// chosenContext is the one that is named, or else the current one; empty if there is none.
func (s *session) chosenContext() (contexts.Context, error) {
	set, err := s.environment.contexts()
	if err != nil {
		return contexts.Context{}, err
	}
	name := s.contextName
	if name == "" {
		name = s.environment.Getenv("SLUICE_CONTEXT")
	}
	if name == "" {
		name = set.Current()
	}
	if name == "" {
		return contexts.Context{}, nil
	}
	chosen, _, err := set.Find(name)
	return chosen, err
}

func (e Environment) contexts() (contexts.Set, error) {
	return contexts.LoadSet(contexts.UserPath(e.Getenv), e.SystemConfigPath)
}

// reaching makes the body of a command that needs the cluster.
func (s *session) reaching(
	body func(ctx context.Context, cluster *remote.Connection, arguments []string) error,
) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, arguments []string) error {
		if s.flags.Node != "" && s.flags.Agent == "" && !s.showsNodes {
			return usagef(command, "--node means nothing here without --agent")
		}
		connection, err := s.connect()
		if err != nil {
			return err
		}
		defer connection.Close()
		return body(command.Context(), connection, arguments)
	}
}
