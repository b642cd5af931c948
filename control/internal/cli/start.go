package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/quantity"
	"sluice.dev/control/internal/cli/remote"
	"sluice.dev/control/internal/store"
)

const startLong = `Start a background task now. With a setting the task begins at that pace, which is a lease as with
sluice set: it ends after the time of --for, and the task goes on at the store's own pace. Without one
no lease begins or ends: the task has the pace in force, a lease's or the store's own.

Which kinds a store can start, and with which settings, is shown by sluice get stores -o wide.

` + connectionHelp

func newStart(environment Environment) *cobra.Command {
	session := &session{environment: environment}
	flags := orderFlags{timeToLive: positiveDuration(30 * time.Second)}
	command := &cobra.Command{
		Use:   "start NODE/STORE/INSTANCE KIND [SETTING[=VALUE]]",
		Short: "Start a background task now",
		Long:  startLong,
		Example: `  sluice start db1/postgres/main checkpoint
  sluice start db1/postgres/main checkpoint rate_bytes_per_second=20MB --for 1m
  sluice start db2/rocksdb/orders compaction --scope default`,
		Args:              positional("NODE/STORE/INSTANCE", "KIND", "[SETTING]"),
		ValidArgsFunction: session.completeOrder,
	}
	session.register(command)
	flags.registerLease(command, "`TIME` after which the lease on the pace ends")
	command.RunE = func(command *cobra.Command, arguments []string) error {
		order, err := flags.parseOrder(command, arguments)
		if err != nil {
			return err
		}
		return session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
			order.Owner = flags.ownerOn(cluster)
			if err := cluster.StartTask(ctx, order.ref, order.Order); err != nil {
				return err
			}
			_, err := fmt.Fprintf(environment.Stdout, "%s: asked to start%s\n", order, paceText(order))
			return err
		})(command, arguments)
	}
	return command
}

func paceText(order order) string {
	if order.Setting == (store.Setting{}) {
		return ""
	}
	return fmt.Sprintf(", %s for %s, owner %s", quantity.FormatSetting(order.Setting),
		quantity.FormatDuration(order.TimeToLive), order.Owner)
}
