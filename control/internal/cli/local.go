package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/control/internal/cli/listing"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/localprotocol/contract"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/local"
	"sluice.dev/control/internal/wire"
)

const localLong = `Speak to the plug-in of a store on this host, through its Unix socket, without an agent. It is there for
who writes a plug-in, and for who looks for a fault. It needs the rights of the socket: group sluice.`

func newLocal(environment Environment) *cobra.Command {
	return group(&cobra.Command{
		Use:     "local",
		Short:   "Speak to a store's plug-in on this host",
		Long:    localLong,
		Example: "  sluice local snapshot /run/sluice/rocksdb/orders.sock\n  sluice local check /run/sluice/rocksdb/orders.sock",
	}, newLocalCheck(environment), newLocalSnapshot(environment))
}

const localCheckLong = `Check that a plug-in keeps the contract of the local protocol. A line is written for each check, in the
form of TAP, and a summary at the end; the exit code is 1 if a check failed.

The checks give orders: the mildest that the plug-in offers, for a minute at most. They start tasks
if the plug-in can, and end what they gave. Run them against a store that nobody depends on.

On a machine that has much else to do a right plug-in may be slow to answer: give it the time with
--patience. Times that the contract itself names do not become longer: a lease ends at most 500 ms late,
and a task that is aborted within 5 s.`

func newLocalCheck(environment Environment) *cobra.Command {
	patience := positiveDuration(contract.DefaultPatience)
	command := &cobra.Command{
		Use:     "check SOCKET",
		Short:   "Check that a plug-in keeps the contract of the local protocol",
		Long:    localCheckLong,
		Example: "  sluice local check /run/sluice/rocksdb/orders.sock\n  sluice local check /run/sluice/rocksdb/orders.sock --patience 1m",
		Args:    positional("SOCKET"),
		RunE: func(command *cobra.Command, arguments []string) error {
			return checkSocket(command.Context(), environment, arguments[0], time.Duration(patience))
		},
	}
	command.Flags().Var(&patience, "patience", "`TIME` that an answer may take: more on a busy machine")
	return command
}

func checkSocket(ctx context.Context, environment Environment, socketPath string, patience time.Duration) error {
	outcomes := map[contract.Outcome]int{}
	number := 0
	contract.Run(ctx, socketPath, patience, func(check contract.Check) {
		number++
		outcomes[check.Outcome]++
		fmt.Fprint(environment.Stdout, checkLines(number, check))
	})
	fmt.Fprintf(environment.Stdout, "1..%d\n# %d passed, %d failed, %d skipped\n", number,
		outcomes[contract.Passed], outcomes[contract.Failed], outcomes[contract.Skipped])
	if outcomes[contract.Failed] > 0 {
		return errReported
	}
	return ctx.Err()
}

// checkLines are those of one check in the Test Anything Protocol, version 12.
func checkLines(number int, check contract.Check) string {
	name, problem := listing.Cell{Text: check.Name}.Shown(), listing.Cell{Text: check.Problem}.Shown()
	switch check.Outcome {
	case contract.Passed:
		return fmt.Sprintf("ok %d - %s\n", number, name)
	case contract.Skipped:
		return fmt.Sprintf("ok %d - %s # SKIP %s\n", number, name, problem)
	default:
		return fmt.Sprintf("not ok %d - %s\n#   problem: %s\n#   required: %s\n", number, name, problem,
			listing.Cell{Text: check.Requirement}.Shown())
	}
}

const localSnapshotLong = `Show what a plug-in says of its store: description, tasks, leases, debts and latencies. Nothing is
ordered. With -o json, the messages Description and Snapshot of proto/sluice/v1.`

// localNode stands for the host in the targets of tables.
const localNode = "local"

func newLocalSnapshot(environment Environment) *cobra.Command {
	timeout := defaultTimeout
	command := &cobra.Command{
		Use:     "snapshot SOCKET",
		Short:   "Show what a plug-in says of its store",
		Long:    localSnapshotLong,
		Example: "  sluice local snapshot /run/sluice/rocksdb/orders.sock\n  sluice local snapshot /run/sluice/rocksdb/orders.sock -o json",
		Args:    positional("SOCKET"),
	}
	get := &getCommand{environment: environment}
	get.output = registerOutput(command, environment, formTable, formWide, formJSON, formYAML)
	command.Flags().Var(&timeout, "timeout", "longest `TIME` to wait for an answer")
	command.RunE = func(command *cobra.Command, arguments []string) error {
		ctx, cancel := context.WithTimeout(command.Context(), time.Duration(timeout))
		defer cancel()
		state, err := localState(ctx, arguments[0])
		if err != nil {
			return err
		}
		if get.output.isDocument() {
			instance := listing.Instances(state, listing.Filter{})[0]
			return get.output.document(listing.PartOf(instance, listing.SetInstance))
		}
		return get.writeState(state, stateResources[1:])
	}
	return command
}

// localState is what a plug-in says, as the state of a cluster of one node.
func localState(ctx context.Context, socketPath string) (*sluicev1.GetClusterResponse, error) {
	driver := local.Open(socketPath)
	defer driver.Close()
	description, err := driver.Describe(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, err := driver.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return stateOfOne(description, snapshot), nil
}

func stateOfOne(description store.Description, snapshot store.Snapshot) *sluicev1.GetClusterResponse {
	ref := policy.Ref{Node: localNode, Store: description.Store, Instance: description.Instance}
	instance := wire.InstanceSnapshot{Ref: ref, Snapshot: snapshot}
	return &sluicev1.GetClusterResponse{Nodes: []*sluicev1.NodeState{{
		Node: localNode, Age: durationpb.New(0),
		Snapshot: &sluicev1.GetSnapshotResponse{
			Node:         localNode,
			Descriptions: []*sluicev1.Description{wire.EncodeDescription(description)},
			Snapshots:    []*sluicev1.Snapshot{wire.EncodeSnapshot(instance, time.Now())},
		},
	}}}
}
