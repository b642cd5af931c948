package cli

import (
	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
)

// The forms of output.
const (
	formTable = "table"
	formWide  = "wide"
	formJSON  = "json"
	formYAML  = "yaml"
)

// output writes results in the form that the user asked for.
type output struct {
	environment Environment
	form        choice
}

// registerOutput gives a command the flag --output with these forms, the first one by default.
func registerOutput(command *cobra.Command, environment Environment, forms ...string) *output {
	written := &output{environment: environment, form: choice{value: forms[0], allowed: forms}}
	command.Flags().VarP(&written.form, "output", "o", "form of the output")
	command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
	return written
}

func (o *output) isWide() bool { return o.form.value == formWide }

// isDocument says whether programs are to read it.
func (o *output) isDocument() bool { return o.form.value == formJSON || o.form.value == formYAML }

func (o *output) table(table listing.Table) error {
	return table.Write(o.environment.Stdout, o.environment.colours())
}

// document writes what programs read.
func (o *output) document(document any) error {
	if o.form.value == formYAML {
		return listing.WriteYAML(o.environment.Stdout, document)
	}
	return listing.WriteJSON(o.environment.Stdout, document)
}
