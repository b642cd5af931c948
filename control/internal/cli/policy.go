package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

const policyLong = `Show and pause the policies of a controller, explain the kinds of policies that there are, and try one on
a simulated store.

A policy decides once a period about each of its targets: change (a lease on another setting, or the
start of a task), keep (renew it) or stop (let it run out). Its leases have the owner policy/NAME.
Without fresh signals the verdict is stop: nothing but a fresh decision ever extends a lease.`

func newPolicy(environment Environment) *cobra.Command {
	return group(&cobra.Command{
		Use:     "policy",
		Short:   "Show, pause, explain and try policies",
		Long:    policyLong,
		Example: "  sluice policy list\n  sluice policy pause nightly\n  sluice policy explain slo",
	},
		newPolicyList(environment), newPolicyShow(environment), newPolicyPause(environment), newPolicyResume(environment),
		newPolicyKinds(environment), newPolicyExplain(environment), newPolicySimulate(environment))
}

func newPolicyList(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	command := &cobra.Command{
		Use:   "list",
		Short: "List the policies of the controller",
		Long: `List the policies of the controller, in the order of its configuration, with the number of their
targets and the verdicts of the last decisions about them.

` + connectionHelp,
		Example: "  sluice policy list\n  sluice policy list -o json",
		Args:    positional(),
	}
	session.register(command)
	output := registerOutput(command, environment, formTable, formWide, formJSON, formYAML)
	command.RunE = session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
		policies, err := listPolicies(ctx, cluster)
		if err != nil {
			return err
		}
		if output.isDocument() {
			return output.document(listing.Message{Message: policies})
		}
		return output.table(listing.PolicyTable(policies.GetPolicies(), output.isWide()))
	})
	return command
}

func listPolicies(ctx context.Context, cluster remote.Cluster) (*sluicev1.ListPoliciesResponse, error) {
	decider, err := cluster.Decider()
	if err != nil {
		return nil, err
	}
	return decider.ListPolicies(ctx, &sluicev1.ListPoliciesRequest{})
}

func newPolicyShow(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	command := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show a policy, its parameters and its last decisions",
		Long:              "Show a policy: its parameters, and its last decision about each target.\n\n" + connectionHelp,
		Example:           "  sluice policy show nightly\n  sluice policy show nightly -o yaml",
		Args:              positional("NAME"),
		ValidArgsFunction: session.completePolicyArgument,
	}
	session.register(command)
	output := registerOutput(command, environment, formTable, formWide, formJSON, formYAML)
	command.RunE = session.reaching(func(ctx context.Context, cluster *remote.Connection, arguments []string) error {
		policy, err := findPolicy(ctx, cluster, arguments[0])
		if err != nil {
			return err
		}
		if output.isDocument() {
			return output.document(listing.Message{Message: policy})
		}
		if err := writePolicy(environment, policy); err != nil {
			return err
		}
		return output.table(listing.DecisionTable(policy.GetLastDecisions(), output.isWide(), environment.Now()))
	})
	return command
}

func findPolicy(ctx context.Context, cluster remote.Cluster, name string) (*sluicev1.Policy, error) {
	policies, err := listPolicies(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, policy := range policies.GetPolicies() {
		if policy.GetName() == name {
			return policy, nil
		}
		names = append(names, policy.GetName())
	}
	failure := store.Errorf(store.CodeNotFound, "there is no policy %q", name)
	if len(names) == 0 {
		return nil, failure.WithHint("The controller has no policies; they are in its configuration file.")
	}
	return nil, failure.WithHint("There are: %s.", strings.Join(names, ", "))
}

func writePolicy(environment Environment, policy *sluicev1.Policy) error {
	state := "active"
	if policy.GetIsPaused() {
		state = "paused"
	}
	parameters := map[string]any{}
	if text := policy.GetParametersJson(); text != "" {
		if err := json.Unmarshal([]byte(text), &parameters); err != nil {
			return fmt.Errorf("reading the parameters of policy %s: %w", policy.GetName(), err)
		}
	}
	fmt.Fprintf(environment.Stdout, "%s: %s, type %s\n", policy.GetName(), state, policy.GetType())
	if len(parameters) > 0 {
		if err := listing.WriteYAML(environment.Stdout, map[string]any{"parameters": parameters}); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(environment.Stdout)
	return err
}

func newPolicyPause(environment Environment) *cobra.Command {
	return newPolicyOrder(environment, &cobra.Command{
		Use:   "pause NAME",
		Short: "Let the leases of a policy run out, and ask it for no more decisions",
		Long: `Let the leases of a policy run out, and ask it for no more decisions, until it is resumed or the
controller restarts. Stores go back to what their own configuration says within the lease's time to
live; sluice clear with --owner policy/NAME is faster. It needs the role operator.

` + connectionHelp,
		Example: "  sluice policy pause nightly",
	}, "paused", func(ctx context.Context, decider sluicev1.ControllerServiceClient, name string) error {
		_, err := decider.PausePolicy(ctx, &sluicev1.PausePolicyRequest{Name: name})
		return err
	})
}

func newPolicyResume(environment Environment) *cobra.Command {
	return newPolicyOrder(environment, &cobra.Command{
		Use:     "resume NAME",
		Short:   "End the pause of a policy",
		Long:    "End the pause of a policy: it decides again from the next period on. It needs the role operator.\n\n" + connectionHelp,
		Example: "  sluice policy resume nightly",
	}, "resumed", func(ctx context.Context, decider sluicev1.ControllerServiceClient, name string) error {
		_, err := decider.ResumePolicy(ctx, &sluicev1.ResumePolicyRequest{Name: name})
		return err
	})
}

// newPolicyOrder makes a command that orders something of a policy, and then is done.
func newPolicyOrder(
	environment Environment, command *cobra.Command, done string,
	order func(ctx context.Context, decider sluicev1.ControllerServiceClient, name string) error,
) *cobra.Command {
	session := &session{environment: environment}
	command.Args = positional("NAME")
	command.ValidArgsFunction = session.completePolicyArgument
	session.register(command)
	command.RunE = session.reaching(func(ctx context.Context, cluster *remote.Connection, arguments []string) error {
		decider, err := cluster.Decider()
		if err != nil {
			return err
		}
		if err := order(ctx, decider, arguments[0]); err != nil {
			return err
		}
		_, err = fmt.Fprintf(environment.Stdout, "policy %s: %s\n", arguments[0], done)
		return err
	})
	return command
}
