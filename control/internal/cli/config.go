package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/contexts"
	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/store"
)

const configLong = `Show and change the contexts: how clusters are reached, and with which certificate.

They are kept in a file of yours, ~/.config/sluice/config.yaml, or the one that SLUICE_CONFIG names, over
one of the host, /etc/sluice/cli.yaml. A context of yours hides one of the host with the same name. The
context in use is that of --context, or else of SLUICE_CONTEXT, or else current_context of the files:

  current_context: demo
  contexts:
    demo:
      cluster: demo                        # name of the cluster in its certificates
      controller: db1.example:7413         # or agent: HOST:PORT with node: NAME
      certificate_file: ann.crt            # relative paths start at the folder of the file
      key_file: ann.key
      ca_file: /etc/sluice/tls/ca.crt`

func newConfig(environment Environment) *cobra.Command {
	return group(&cobra.Command{
		Use:     "config",
		Short:   "Show and change how clusters are reached",
		Long:    configLong,
		Example: "  sluice config view\n  sluice config use demo",
	}, newConfigView(environment), newConfigUse(environment), newConfigSetContext(environment))
}

// contextDocument is a context as `sluice config view -o json` writes it.
type contextDocument struct {
	Name            string `json:"name"`
	Current         bool   `json:"current"`
	File            string `json:"file"`
	Cluster         string `json:"cluster"`
	Controller      string `json:"controller"`
	Agent           string `json:"agent"`
	Node            string `json:"node"`
	CertificateFile string `json:"certificate_file"`
	KeyFile         string `json:"key_file"`
	CAFile          string `json:"ca_file"`
}

func newConfigView(environment Environment) *cobra.Command {
	command := &cobra.Command{
		Use:   "view",
		Short: "Show the contexts",
		Long: `Show the contexts of both files, the current one marked with "*". SLUICE_CONTEXT, if it is set, names the
current one. Paths are shown as they are opened.`,
		Example: "  sluice config view\n  sluice config view -o yaml",
		Args:    positional(),
	}
	output := registerOutput(command, environment, formTable, formJSON, formYAML)
	command.RunE = func(*cobra.Command, []string) error {
		documents, err := contextDocuments(environment)
		if err != nil {
			return err
		}
		if output.isDocument() {
			return output.document(map[string]any{"contexts": documents})
		}
		return output.table(contextTable(documents))
	}
	return command
}

func contextDocuments(environment Environment) ([]contextDocument, error) {
	set, err := environment.contexts()
	if err != nil {
		return nil, err
	}
	current := environment.Getenv("SLUICE_CONTEXT")
	if current == "" {
		current = set.Current()
	}
	documents := []contextDocument{}
	for _, name := range set.Names() {
		found, file, err := set.Find(name)
		if err != nil {
			return nil, err
		}
		documents = append(documents, contextDocument{
			name, name == current, file, found.Cluster, found.Controller, found.Agent, found.Node,
			found.CertificateFile, found.KeyFile, found.CAFile,
		})
	}
	return documents, nil
}

func contextTable(documents []contextDocument) listing.Table {
	table := listing.Table{Header: []string{"CURRENT", "CONTEXT", "CLUSTER", "REACHED-THROUGH", "CERTIFICATE", "FILE"}}
	for _, each := range documents {
		mark, way := "", "controller "+each.Controller
		if each.Current {
			mark = "*"
		}
		if each.Agent != "" {
			way = "agent " + each.Agent + " of " + each.Node
		}
		table.Rows = append(table.Rows, []listing.Cell{
			{Text: mark}, {Text: each.Name}, {Text: each.Cluster}, {Text: way}, {Text: each.CertificateFile}, {Text: each.File},
		})
	}
	return table
}

func newConfigUse(environment Environment) *cobra.Command {
	return &cobra.Command{
		Use:     "use CONTEXT",
		Short:   "Make a context the current one",
		Long:    "Make a context the current one, in the file of yours. The context may be one of the host.",
		Example: "  sluice config use demo",
		Args:    positional("CONTEXT"),
		ValidArgsFunction: func(command *cobra.Command, arguments []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(arguments) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeContexts(environment)(command, arguments, typed)
		},
		RunE: func(_ *cobra.Command, arguments []string) error {
			set, err := environment.contexts()
			if err != nil {
				return err
			}
			if _, _, err := set.Find(arguments[0]); err != nil {
				return err
			}
			set.User.CurrentContext = arguments[0]
			if err := set.User.Save(set.UserPath); err != nil {
				return err
			}
			_, err = fmt.Fprintf(environment.Stdout, "%s: current context is %s\n", set.UserPath, arguments[0])
			return err
		},
	}
}

func newConfigSetContext(environment Environment) *cobra.Command {
	var given contexts.Context
	var use bool
	command := &cobra.Command{
		Use:   "set-context NAME",
		Short: "Make or change a context",
		Long: `Make or change a context in the file of yours. What is not given stays as it is. Comments of the file are
lost. The context becomes the current one with --use, and where neither your file nor that of the host
names one.`,
		Example: `  sluice config set-context demo --cluster demo --controller db1.example:7413 --certificate-file ann.crt --key-file ann.key --ca-file ca.crt
  sluice config set-context demo --controller db2.example:7413
  sluice config set-context db1 --cluster demo --agent db1.example:7411 --node db1 --certificate-file ann.crt --key-file ann.key --ca-file ca.crt --use`,
		Args: positional("NAME"),
	}
	flags := command.Flags()
	flags.StringVar(&given.Cluster, "cluster", "", "`NAME` of the cluster in its certificates")
	flags.StringVar(&given.Controller, "controller", "", "`HOST:PORT` of a controller")
	flags.StringVar(&given.Agent, "agent", "", "`HOST:PORT` of an agent, with --node")
	flags.StringVar(&given.Node, "node", "", "`NAME` of the agent's node")
	flags.StringVar(&given.CertificateFile, "certificate-file", "", "your certificate, a PEM `FILE`")
	flags.StringVar(&given.KeyFile, "key-file", "", "key of your certificate, a PEM `FILE`")
	flags.StringVar(&given.CAFile, "ca-file", "", "certificate of the cluster's authority, a PEM `FILE`")
	flags.BoolVar(&use, "use", false, "make it the current context")
	command.RunE = func(command *cobra.Command, arguments []string) error {
		return setContext(command, environment, arguments[0], given, use)
	}
	return command
}

func setContext(
	command *cobra.Command, environment Environment, name string, given contexts.Context, use bool,
) error {
	if err := contexts.ValidateName(name); err != nil {
		return usage(command, err)
	}
	set, err := environment.contexts()
	if err != nil {
		return err
	}
	given, err = given.WithAbsoluteFiles()
	if err != nil {
		return err
	}
	changed := given.Over(set.User.Contexts[name])
	if err := changed.Validate(); err != nil {
		return usage(command, store.Invalidf("the context %s would not be complete: %w", name, err))
	}
	if set.User.Contexts == nil {
		set.User.Contexts = map[string]contexts.Context{}
	}
	set.User.Contexts[name] = changed
	if use || set.Current() == "" {
		set.User.CurrentContext = name
	}
	if err := set.User.Save(set.UserPath); err != nil {
		return err
	}
	_, err = fmt.Fprintf(environment.Stdout, "%s: context %s is set\n", set.UserPath, name)
	return err
}
