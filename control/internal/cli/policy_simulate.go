package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/simulation"
	"sluice.dev/control/internal/controller"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/store"
)

const policySimulateLong = `Run a policy of a controller's configuration against a simulated store, before it meets a real one. No
cluster is asked, and nothing is written. The clock is virtual and all chance comes from --seed: the same
call gives the same decisions each time.

A line is written for each decision: when it was made, the verdict, the setting and whether a task is
started; what background work wrote in the last second, the debt and its share of the limit, requests
and their p99 in that second; and the reason. A summary follows: whether the target was reached and the
bound kept, between which rates it went, and what the store does by itself under the same load.

NAME is the policy; it may be left out where the file has one only. Period, time to live of leases and
age of stale snapshots are those of the file. The model is one of checkpoints or of compactions, as the
policy's targets.kind says; docs/policies/README.md has its equations, and what it leaves out.

  load     --load bursts, steady, random-bursts, or ramp from --requests to --burst-requests
  store    --device-rate is what its device writes, --debt-limit the bound at which it ends all leases;
           choose them as those of your store, or the ceiling of the policy means nothing
  faults   snapshots and orders are --lost, --duplicated, --late or --reordered, all of them within
           --cut; --controller-down ends the controller's memory

With -o json, an object with "steps" and "summary"; numbers are in the unit that a name ends in.`

func newPolicySimulate(environment Environment) *cobra.Command {
	settings := simulation.Defaults()
	changesOnly := false
	command := &cobra.Command{
		Use:   "simulate FILE [NAME]",
		Short: "Run a policy against a simulated store",
		Long:  policySimulateLong,
		Example: `  sluice policy simulate /etc/sluice/controller/controller.yml
  sluice policy simulate controller.yml nightly --load steady --requests 500 --changes-only
  sluice policy simulate controller.yml hold-p99 --device-rate 200MB/s --debt-limit 4GB --duration 30m
  sluice policy simulate controller.yml hold-p99 --lost 0.2 --reordered 3s --cut 100s-120s -o json`,
		Args:              positional("FILE", "[NAME]"),
		ValidArgsFunction: completePolicyOfFile,
	}
	registerSimulation(command, &settings)
	command.Flags().BoolVar(&changesOnly, "changes-only", false, "leave out the verdict keep")
	output := registerOutput(command, environment, formTable, formJSON, formYAML)
	command.RunE = func(command *cobra.Command, arguments []string) error {
		report, err := simulate(command, arguments, settings)
		if err != nil {
			return err
		}
		if output.isDocument() {
			return output.document(report)
		}
		if err := output.table(report.Table(changesOnly)); err != nil {
			return err
		}
		fmt.Fprintln(environment.Stdout)
		return report.WriteSummary(environment.Stdout)
	}
	return command
}

func simulate(command *cobra.Command, arguments []string, settings simulation.Settings) (simulation.Report, error) {
	config, err := controller.Load(arguments[0])
	if err != nil {
		return simulation.Report{}, store.Invalidf("%w", err).
			WithHint("sluice controller check says everything that is wrong with it.")
	}
	name := ""
	if len(arguments) > 1 {
		name = arguments[1]
	}
	chosen, err := simulation.Policy(config, name)
	if err != nil {
		return simulation.Report{}, usage(command, err)
	}
	report, err := simulation.Run(config, chosen, settings)
	return report, usage(command, err)
}

// completePolicyOfFile gives the names of the policies of the file that was named before.
func completePolicyOfFile(_ *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(arguments) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	if config, err := controller.Load(arguments[0]); err == nil && len(arguments) == 1 {
		for _, each := range config.Policies {
			names = append(names, each.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func registerSimulation(command *cobra.Command, s *simulation.Settings) {
	flags := command.Flags()
	flags.Uint64Var(&s.Seed, "seed", s.Seed, "`NUMBER` that all chance comes from")
	flags.Var((*positiveDuration)(&s.Duration), "duration", "simulated `TIME`")
	flags.Var((*duration)(&s.WarmUp), "warm-up", "first `TIME`, which latency and amplitude leave out")
	flags.Var((*instant)(&s.BeginsAt), "begins-at", "`DATE` that policies which go by the time of day see at the begin")
	flags.Var((*positiveDuration)(&s.Target), "target", "p99 to judge by, a `TIME`; that of the policy by default")

	load := &choice{value: s.Load, allowed: simulation.Shapes()}
	flags.Var(loadFlag{load, s}, "load", "shape of the load")
	command.RegisterFlagCompletionFunc("load", cobra.FixedCompletions(load.allowed, cobra.ShellCompDirectiveNoFileComp))
	flags.Float64Var(&s.Requests, "requests", s.Requests, "`NUMBER` of requests a second, out of bursts")
	flags.Float64Var(&s.BurstRequests, "burst-requests", s.BurstRequests, "`NUMBER` of requests a second, in bursts")
	flags.Var((*positiveDuration)(&s.BurstEvery), "burst-every", "`TIME` from one burst to the next")
	flags.Var((*positiveDuration)(&s.BurstLength), "burst-length", "`TIME` that a burst takes")
	flags.Var(amount{&s.DeviceBytesPerSecond, quantity.BytesPerSecond}, "device-rate", "`BYTES` a second that the device writes")
	flags.Var(amount{&s.DebtLimitBytes, quantity.Bytes}, "debt-limit", "`BYTES` of debt at which the store ends all leases")

	flags.Var((*share)(&s.LostShare), "lost", "`SHARE` of snapshots and orders that get lost")
	flags.Var((*share)(&s.DuplicateShare), "duplicated", "`SHARE` of them that come twice")
	flags.Var((*duration)(&s.Late), "late", "`TIME` by which all of them come late")
	flags.Var((*duration)(&s.Reordered), "reordered", "`TIME` by which some come later than others, and so overtake each other")
	flags.Var((*spans)(&s.Cut), "cut", "`FROM-TO`, when none gets through; more than once for more")
	flags.Var((*spans)(&s.ControllerDown), "controller-down", "`FROM-TO`, when there is no controller; more than once for more")
	flags.Var((*signals)(&s.Signals), "signal", "`NAME=NUMBER`, what a query of the policy gives; more than once for more")
}
