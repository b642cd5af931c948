package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/policies/parameters"
)

func newPolicyKinds(environment Environment) *cobra.Command {
	command := &cobra.Command{
		Use:   "kinds",
		Short: "List the kinds of policies",
		Long: `List the kinds of policies that a controller's configuration can have as the type of a policy.
sluice policy explain tells the parameters of each.`,
		Example: "  sluice policy kinds\n  sluice policy kinds -o json",
		Args:    positional(),
	}
	output := registerOutput(command, environment, "text", formJSON, formYAML)
	command.RunE = func(*cobra.Command, []string) error {
		if output.isDocument() {
			return output.document(map[string]any{"kinds": policies.Kinds()})
		}
		_, err := fmt.Fprintln(environment.Stdout, strings.Join(policies.Kinds(), "\n"))
		return err
	}
	return command
}

// parameterDocument is a parameter as `sluice policy explain -o json` writes it.
type parameterDocument struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Unit     string `json:"unit"`
	Required bool   `json:"required"`
	Default  any    `json:"default"`
	Allowed  string `json:"allowed"`
	Meaning  string `json:"meaning"`
}

func newPolicyExplain(environment Environment) *cobra.Command {
	command := &cobra.Command{
		Use:   "explain KIND",
		Short: "Explain the parameters of a kind of policy",
		Long: `Explain the parameters that a policy of this kind takes in the controller's configuration: unit, what is
allowed, what counts when it is left out, and what it means. How a policy of the kind decides is told
in docs/policies.`,
		Example: "  sluice policy explain slo\n  sluice policy explain fixed -o json",
		Args:    positional("KIND"),
		ValidArgsFunction: func(_ *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(arguments) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return policies.Kinds(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	output := registerOutput(command, environment, formTable, formJSON, formYAML)
	command.RunE = func(command *cobra.Command, arguments []string) error {
		declared, err := policies.Describe(arguments[0])
		if err != nil {
			return usage(command, err)
		}
		if output.isDocument() {
			return output.document(map[string]any{"kind": arguments[0], "parameters": parameterDocuments(declared)})
		}
		return output.table(parameterTable(declared))
	}
	return command
}

func parameterDocuments(declared []parameters.Parameter) []parameterDocument {
	documents := make([]parameterDocument, len(declared))
	for i, each := range declared {
		documents[i] = parameterDocument{
			each.Name, string(each.Type), each.Unit(), each.Required, each.Default, each.Range(), each.Meaning,
		}
	}
	return documents
}

func parameterTable(declared []parameters.Parameter) listing.Table {
	table := listing.Table{Header: []string{"PARAMETER", "TYPE", "UNIT", "DEFAULT", "ALLOWED", "MEANING"}}
	for _, each := range declared {
		table.Rows = append(table.Rows, []listing.Cell{
			{Text: each.Name}, {Text: string(each.Type)}, {Text: each.Unit()}, {Text: each.DefaultText()},
			{Text: each.Range()}, {Text: each.Meaning},
		})
	}
	return table
}
