package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"sluice.dev/control/internal/store"
)

const docsLong = `Write the reference of all commands, for packages.

  man DIR     a man page for each command; SOURCE_DATE_EPOCH gives the date
  markdown    one Markdown page, on the standard output`

func newDocs(environment Environment) *cobra.Command {
	return hidden(group(&cobra.Command{
		Use:     "docs",
		Short:   "Write the reference of all commands",
		Long:    docsLong,
		Example: "  sluice docs man ./man1\n  sluice docs markdown",
	}, newDocsMan(), newDocsMarkdown(environment)))
}

func hidden(command *cobra.Command) *cobra.Command {
	command.Hidden = true
	return command
}

func newDocsMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write man pages",
		Long:    "Write a man page for each command into a folder, which is made if it is not there.",
		Example: "  sluice docs man ./man1",
		Args:    positional("DIR"),
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := os.MkdirAll(arguments[0], 0o755); err != nil {
				return store.Invalidf("making the folder for man pages: %w", err)
			}
			header := &doc.GenManHeader{Section: "1", Source: "sluice", Manual: "Sluice"}
			return doc.GenManTree(forDocuments(command.Root()), header, arguments[0])
		},
	}
}

func newDocsMarkdown(environment Environment) *cobra.Command {
	return &cobra.Command{
		Use:     "markdown",
		Short:   "Write one Markdown page",
		Long:    "Write the reference of all commands as one Markdown page, on the standard output.",
		Example: "  sluice docs markdown",
		Args:    positional(),
		RunE: func(command *cobra.Command, _ []string) error {
			return writeMarkdown(environment.Stdout, forDocuments(command.Root()))
		},
	}
}

// writeMarkdown writes a command and those below it, with links within the page.
func writeMarkdown(w io.Writer, command *cobra.Command) error {
	if !command.IsAvailableCommand() && command.HasParent() {
		return nil
	}
	if err := doc.GenMarkdownCustom(command, w, inPage); err != nil {
		return fmt.Errorf("writing the reference of %s: %w", command.CommandPath(), err)
	}
	for _, member := range command.Commands() {
		if err := writeMarkdown(w, member); err != nil {
			return err
		}
	}
	return nil
}

// inPage turns the name of the page of a command into the place of the command within the one page.
func inPage(page string) string {
	return "#" + strings.ReplaceAll(strings.TrimSuffix(page, ".md"), "_", "-")
}

// forDocuments makes lists in the texts of commands what Markdown and man pages keep as they are.
func forDocuments(command *cobra.Command) *cobra.Command {
	command.DisableAutoGenTag = true
	command.Long = strings.ReplaceAll(command.Long, "\n  ", "\n    ")
	for _, member := range command.Commands() {
		forDocuments(member)
	}
	return command
}
