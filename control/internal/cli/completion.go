package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

const completionLong = `Write a script that completes commands, flags, and the names of nodes, stores, settings and policies, which
it asks the cluster for.

  bash   sluice completion bash > /etc/bash_completion.d/sluice
  zsh    sluice completion zsh > "${fpath[1]}/_sluice"
  fish   sluice completion fish > ~/.config/fish/completions/sluice.fish

The Debian package installs all three.`

func newCompletion(environment Environment) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:               "completion bash|zsh|fish",
		Short:             "Write a completion script for a shell",
		Long:              completionLong,
		Example:           "  sluice completion bash\n  sluice completion zsh\n  sluice completion fish",
		Args:              positional("SHELL"),
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(command *cobra.Command, arguments []string) error {
			switch arguments[0] {
			case "bash":
				return command.Root().GenBashCompletionV2(environment.Stdout, true)
			case "zsh":
				return command.Root().GenZshCompletion(environment.Stdout)
			case "fish":
				return command.Root().GenFishCompletion(environment.Stdout, true)
			}
			return usagef(command, "there is no completion for the shell %q: there are bash, zsh and fish", arguments[0])
		},
	}
}

// completionTimeout is how long somebody who pressed tab is kept waiting.
const completionTimeout = positiveDuration(2 * time.Second)

// completions asks the cluster for words; where it cannot be reached there are none.
func (s *session) completions(
	command *cobra.Command, words func(context.Context, *remote.Connection) ([]string, error),
) ([]string, cobra.ShellCompDirective) {
	s.timeout = min(s.timeout, completionTimeout)
	connection, err := s.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer connection.Close()
	ctx := command.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	found, err := words(ctx, connection)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
}

// fromState makes a completion of words that a cluster's state holds.
func (s *session) fromState(
	command *cobra.Command, wordsOf func(*sluicev1.GetClusterResponse) []string,
) ([]string, cobra.ShellCompDirective) {
	return s.completions(command, func(ctx context.Context, cluster *remote.Connection) ([]string, error) {
		state, err := cluster.State(ctx)
		if err != nil {
			return nil, err
		}
		return wordsOf(state), nil
	})
}

func (s *session) completeNodes(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return s.fromState(command, func(state *sluicev1.GetClusterResponse) []string {
		var names []string
		for _, node := range state.GetNodes() {
			names = append(names, node.GetNode())
		}
		return names
	})
}

func (s *session) completeStores(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return s.fromState(command, func(state *sluicev1.GetClusterResponse) []string {
		var names []string
		for _, instance := range listing.Instances(state, listing.Filter{}) {
			names = append(names, instance.Ref.GetStore())
		}
		return names
	})
}

func (s *session) completePolicies(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return s.completions(command, func(ctx context.Context, cluster *remote.Connection) ([]string, error) {
		policies, err := listPolicies(ctx, cluster)
		var names []string
		for _, policy := range policies.GetPolicies() {
			names = append(names, policy.GetName())
		}
		return names, err
	})
}

func (s *session) completePolicyArgument(
	command *cobra.Command, arguments []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	if len(arguments) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.completePolicies(command, arguments, typed)
}

// completeOrder completes TARGET KIND SETTING with what the target can do.
func (s *session) completeOrder(
	command *cobra.Command, arguments []string, _ string,
) ([]string, cobra.ShellCompDirective) {
	if len(arguments) > 2 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words, directive := s.fromState(command, func(state *sluicev1.GetClusterResponse) []string {
		return orderWords(state, arguments)
	})
	if len(arguments) == 2 {
		// The value follows without a space.
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return words, directive
}

// completeVariants completes --variant with what the target and kind of the command line offer.
func (s *session) completeVariants(
	command *cobra.Command, arguments []string, _ string,
) ([]string, cobra.ShellCompDirective) {
	if len(arguments) < 2 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.fromState(command, func(state *sluicev1.GetClusterResponse) []string {
		offered, _ := offeredVariants(listing.Instances(state, listing.Filter{}), arguments[0], store.Kind(arguments[1]))
		return offered
	})
}

// completeAbortion completes TARGET KIND TASK with the tasks that there are.
func (s *session) completeAbortion(
	command *cobra.Command, arguments []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	if len(arguments) < 2 {
		return s.completeOrder(command, arguments, typed)
	}
	if len(arguments) > 2 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.fromState(command, func(state *sluicev1.GetClusterResponse) []string {
		var words []string
		for _, task := range listing.Tasks(state, listing.Filter{Kind: arguments[1]}) {
			if task.Target() == arguments[0] {
				words = append(words, task.Part.GetId())
			}
		}
		return words
	})
}

// completeSelection completes TARGET [KIND].
func (s *session) completeSelection(
	command *cobra.Command, arguments []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	if len(arguments) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.completeOrder(command, arguments, typed)
}

func orderWords(state *sluicev1.GetClusterResponse, arguments []string) []string {
	var words []string
	for _, instance := range listing.Instances(state, listing.Filter{}) {
		if len(arguments) == 0 {
			words = append(words, instance.Target())
			continue
		}
		if instance.Target() != arguments[0] {
			continue
		}
		for _, capability := range instance.Part.Description.GetCapabilities() {
			words = append(words, capabilityWords(capability, arguments[1:])...)
		}
	}
	return words
}

// capabilityWords is the kind, or the settings once the kind is there.
func capabilityWords(capability *sluicev1.Capability, kind []string) []string {
	name := listing.Word(capability.GetKind())
	if len(kind) == 0 {
		return []string{name}
	}
	if name != kind[0] {
		return nil
	}
	var words []string
	for _, setting := range capability.GetSettingNames() {
		if store.SettingName(setting).HasNumber() || store.SettingName(setting).HasText() {
			setting += "="
		}
		words = append(words, setting)
	}
	return words
}

func completeKinds(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, kind := range store.Kinds() {
		words = append(words, string(kind))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func completeContexts(environment Environment) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		set, err := environment.contexts()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return set.Names(), cobra.ShellCompDirectiveNoFileComp
	}
}
