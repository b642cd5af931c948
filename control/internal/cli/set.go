package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/store"
)

const setLong = `Set something for the background tasks of a kind, as a lease: it ends after the time of --for, and
the store goes back to what its own configuration says. The same owner renews its lease by setting it
again, and replaces it by setting something else. Another owner's lease is left alone, and the exit
code is 3, unless --replace is given.

With --keep the lease is renewed, three times in each time to live, until the command is interrupted
(ctrl-c). The lease then runs out by itself, or ends at once with --clear-at-end. If this command or
its host dies, the lease runs out as well.

Settings, as far as the store has them (sluice get stores -o wide):

  rate_bytes_per_second=6MB     write at most so much in a second
  hold                          pause running tasks, their work kept
  duration_seconds=20s          spread what is left of the running task over this time
  full                          go on without any pause
  stock                         go at the pace of the store's own configuration
  sync_gap_seconds=200ms        wait between the files that a checkpoint syncs
  defer_until_debt_bytes=200MB  put queued tasks off until debt reaches so much
  concurrency=2                 run so many tasks at once
  priority=10                   go before other kinds; higher is sooner
  reserved_bytes=1GB            keep memory for the table or family that --scope names
  added_bytes=1GB               make the cache that a table shares with others larger by so much
  rate_operations_per_second=1e3  take so many requests of clients for rows, and turn others away
  tier=slow                     send new data there; of log placement fast or slow
  redirect_queue_requests=4     send smaller and smaller data to the slow tier from this queue on
  redirect_size_bytes=256MB     send larger data there in any case
  redirect_step_ratio=0.25      make it smaller by this part at a time

The first five exclude each other: they are the pace of a task. Numbers without a suffix are in the
unit that the name ends in.

` + connectionHelp

// setCommand is one call of `sluice set`.
type setCommand struct {
	environment Environment
	session     session
	output      *output
	flags       orderFlags
	keep        bool
	clearAtEnd  bool
}

func newSet(environment Environment) *cobra.Command {
	set := &setCommand{environment: environment, session: session{environment: environment}}
	command := &cobra.Command{
		Use:   "set NODE/STORE/INSTANCE KIND SETTING[=VALUE] --for TIME",
		Short: "Give, renew or replace a lease",
		Long:  setLong,
		Example: `  sluice set db1/postgres/main checkpoint rate_bytes_per_second=6MB --for 30s
  sluice set db1/postgres/main checkpoint hold --for 10s --keep --clear-at-end
  sluice set db2/rocksdb/orders compaction concurrency=2 --scope default --for 10m --owner operator/night
  sluice set db1/postgres/main checkpoint stock --for 1m --replace --agent db1.example:7411 --node db1`,
		Args:              positional("NODE/STORE/INSTANCE", "KIND", "SETTING"),
		ValidArgsFunction: set.session.completeOrder,
		RunE:              set.run,
	}
	set.session.register(command)
	set.output = registerOutput(command, environment, "text", formJSON, formYAML)
	set.flags.registerLease(command, "`TIME` after which the lease ends, such as 30s; needed")
	command.Flags().BoolVar(&set.keep, "keep", false, "renew the lease until interrupted")
	command.Flags().BoolVar(&set.clearAtEnd, "clear-at-end", false, "with --keep, end the lease when interrupted")
	return command
}

func (s *setCommand) run(command *cobra.Command, arguments []string) error {
	if s.flags.timeToLive == 0 {
		return usage(command, store.Invalidf("--for is missing").
			WithHint("It says after what time the lease ends, as in --for 30s."))
	}
	if s.clearAtEnd && !s.keep {
		return usagef(command, "--clear-at-end means nothing without --keep")
	}
	order, err := s.flags.parseOrder(command, arguments)
	if err != nil {
		return err
	}
	return s.session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
		order.Owner = s.flags.ownerOn(cluster)
		if err := s.set(ctx, cluster, order); err != nil || !s.keep {
			return err
		}
		return s.keepUntilInterrupted(ctx, cluster, order)
	})(command, arguments)
}

func (s *setCommand) set(ctx context.Context, cluster *remote.Connection, order order) error {
	lease, err := cluster.SetLease(ctx, order.ref, order.Order)
	if err != nil {
		return err
	}
	if s.output.isDocument() {
		return s.output.document(leaseDocument(order, lease))
	}
	_, err = fmt.Fprintf(s.environment.Stdout, "%s: %s for %s, owner %s\n", order,
		listing.SettingText(lease.GetSetting()), quantity.FormatDuration(lease.GetTimeLeft().AsDuration()), lease.GetOwner())
	return err
}

func leaseDocument(order order, lease *sluicev1.Lease) listing.Part {
	return listing.PartOf(listing.Located[*sluicev1.Lease]{
		Node: order.ref.Node,
		Ref:  &sluicev1.StoreRef{Store: order.ref.Store, Instance: order.ref.Instance},
		Part: lease,
	}, listing.SetLease)
}

// renewalsPerLife is how often a lease is renewed in its time to live: two may fail.
const renewalsPerLife = 3

// keepUntilInterrupted renews the lease, and gives up when it must have run out, or when somebody says
// no. Whatever was taken over to begin with is not taken over again.
func (s *setCommand) keepUntilInterrupted(ctx context.Context, cluster *remote.Connection, order order) error {
	order.Replace = false
	ticker := time.NewTicker(max(1, order.TimeToLive/renewalsPerLife))
	defer ticker.Stop()
	for renewedAt := s.environment.Now(); ; {
		select {
		case <-ctx.Done():
			return s.end(ctx, cluster, order)
		case <-ticker.C:
		}
		_, err := cluster.SetLease(ctx, order.ref, order.Order)
		switch {
		case err == nil:
			renewedAt = s.environment.Now()
		case ctx.Err() != nil:
		case store.CodeOf(err) != store.CodeUnavailable || s.environment.Now().Sub(renewedAt) >= order.TimeToLive:
			return fmt.Errorf("the lease is no longer renewed: %w", err)
		default:
			fmt.Fprintf(s.environment.Stderr, "sluice: renewing again: %s\n", messageOf(err))
		}
	}
}

// end lets the lease run out or ends it, after an interruption.
func (s *setCommand) end(ctx context.Context, cluster *remote.Connection, order order) error {
	if !s.clearAtEnd {
		fmt.Fprintf(s.environment.Stderr, "sluice: no longer renewed, the lease runs out within %s\n",
			quantity.FormatDuration(order.TimeToLive))
		return nil
	}
	selection := store.Selection{Owner: order.Owner, Kind: order.Kind, Scope: order.Scope}
	if _, err := cluster.ClearLeases(context.WithoutCancel(ctx), order.ref, selection); err != nil {
		return fmt.Errorf("the lease was not ended, it runs out within %s: %w",
			quantity.FormatDuration(order.TimeToLive), err)
	}
	fmt.Fprintln(s.environment.Stderr, "sluice: the lease was ended")
	return nil
}
