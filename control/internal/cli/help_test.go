package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func everyCommand(command *cobra.Command) []*cobra.Command {
	commands := []*cobra.Command{command}
	for _, member := range command.Commands() {
		commands = append(commands, everyCommand(member)...)
	}
	return commands
}

func TestEveryCommandTeaches(t *testing.T) {
	for _, command := range everyCommand(newRoot(newWorld(t).environment)) {
		if command.Short == "" || command.Long == "" || command.Long == command.Short || command.Example == "" {
			t.Errorf("%s: a text is missing", command.CommandPath())
		}
		if strings.HasSuffix(command.Short, ".") {
			t.Errorf("%s: the short text ends in a dot", command.CommandPath())
		}
		for line := range strings.Lines(command.Long) {
			if len(line) > 115 {
				t.Errorf("%s: a line of %d bytes: %s", command.CommandPath(), len(line), line)
			}
		}
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Usage == "" {
				t.Errorf("%s: flag %s is not explained", command.CommandPath(), flag.Name)
			}
		})
	}
}

// An example that does not parse teaches nothing.
func TestEveryExampleParses(t *testing.T) {
	environment := newWorld(t).environment
	for _, command := range everyCommand(newRoot(environment)) {
		for example := range strings.Lines(command.Example) {
			words := strings.Fields(example)
			if len(words) < 2 || words[0] != "sluice" {
				t.Errorf("%s: the example %q is no command", command.CommandPath(), example)
				continue
			}
			// Flags keep what was parsed, so that each example needs a tree of its own.
			found, arguments, err := newRoot(environment).Find(words[1:])
			if err != nil {
				t.Errorf("%q: %v", example, err)
				continue
			}
			if !strings.HasPrefix(found.CommandPath(), command.CommandPath()) {
				t.Errorf("%q is an example of %s, not of %s", example, found.CommandPath(), command.CommandPath())
			}
			if err := found.ParseFlags(arguments); err != nil {
				t.Errorf("%q: %v", example, err)
				continue
			}
			if err := found.ValidateArgs(found.Flags().Args()); err != nil {
				t.Errorf("%q: %v", example, err)
			}
			expectOrderParses(t, found, example)
		}
	}
}

// expectOrderParses looks at the arguments that only the body of a command reads.
func expectOrderParses(t *testing.T, command *cobra.Command, example string) {
	t.Helper()
	name := command.Name()
	if name != "set" && name != "start" && name != "clear" {
		return
	}
	arguments := command.Flags().Args()
	if name == "clear" && len(arguments) == 1 {
		arguments = append(arguments, "flush")
	}
	if _, err := (&orderFlags{}).parseOrder(command, arguments); err != nil {
		t.Errorf("%q: %v", example, err)
	}
}

func TestDocumentationNamesEveryCommand(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range everyCommand(newRoot(newWorld(t).environment)) {
		if command.HasSubCommands() && command.Name() != "agent" && command.Name() != "controller" {
			continue
		}
		if !strings.Contains(string(page), "`"+command.CommandPath()) {
			t.Errorf("docs/cli.md does not name `%s`", command.CommandPath())
		}
	}
}

func TestManPages(t *testing.T) {
	w := newWorld(t)
	t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
	folder := filepath.Join(t.TempDir(), "man1")
	if got := w.run(t, "docs", "man", folder); got.code != exitOK {
		t.Fatalf("exit code %d, error %q", got.code, got.stderr)
	}
	for name, want := range map[string]string{
		"sluice.1":                 `"SLUICE" "1" "Sep 2001"`,
		"sluice-set.1":             "rate_bytes_per_second=6MB     write at most so much in a second",
		"sluice-start.1":           "for what sort of task to start, such as minor or major",
		"sluice-abort.1":           "sluice abort db3/hbase/regionserver compaction compaction-17",
		"sluice-policy-show.1":     "sluice policy show nightly",
		"sluice-agent.1":           "sluice agent --config",
		"sluice-policy-simulate.1": "sluice policy simulate controller.yml nightly --load steady",
	} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if text := strings.ReplaceAll(string(content), `\-`, "-"); !strings.Contains(text, want) {
			t.Errorf("%s does not hold %q:\n%s", name, want, text)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "sluice-docs.1")); !os.IsNotExist(err) {
		t.Errorf("the hidden command has a page: %v", err)
	}
}

func TestMarkdownLinksLeadToTheCommands(t *testing.T) {
	w := newWorld(t)
	got := w.run(t, "docs", "markdown")
	if got.code != exitOK {
		t.Fatalf("exit code %d, error %q", got.code, got.stderr)
	}
	for _, want := range []string{"## sluice policy show\n", "(#sluice-policy-show)", "    hold      "} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("it does not hold %q", want)
		}
	}
}

func TestVersion(t *testing.T) {
	w := newWorld(t)
	for command, want := range map[string]string{
		"version":         "sluice 1.2.3, protocol 1.10, go",
		"version -o json": "\"version\": \"1.2.3\",\n  \"protocol_version\": \"1.10\"",
		"version -o yaml": "version: 1.2.3\nprotocol_version: \"1.10\"\n",
	} {
		if got := w.run(t, strings.Fields(command)...); got.code != exitOK || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: exit code %d, output %q", command, got.code, got.stdout)
		}
	}
}
