package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/cli/remote"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/store"
)

const startLong = `Start a background task now. With a setting the task begins at that pace, which is a lease as with
sluice set: it ends after the time of --for, and the task goes on at the store's own pace. Without one
no lease begins or ends: the task has the pace in force, a lease's or the store's own.

Some stores have variants of a task: --variant minor compacts some files, as the store itself would
choose them, --variant major all of them. Without --variant the choice is the store's.

Which kinds a store can start, with which variants and settings, is shown by sluice get stores -o wide.

` + connectionHelp

// startCommand is one call of `sluice start`.
type startCommand struct {
	environment Environment
	session     session
	output      *output
	flags       orderFlags
	variant     string
}

func newStart(environment Environment) *cobra.Command {
	start := &startCommand{environment: environment, session: session{environment: environment}}
	start.flags.timeToLive = positiveDuration(30 * time.Second)
	command := &cobra.Command{
		Use:   "start NODE/STORE/INSTANCE KIND [SETTING[=VALUE]]",
		Short: "Start a background task now",
		Long:  startLong,
		Example: `  sluice start db1/postgres/main checkpoint
  sluice start db1/postgres/main checkpoint rate_bytes_per_second=20MB --for 1m
  sluice start db2/rocksdb/orders compaction --scope default
  sluice start db3/hbase/regionserver compaction --scope orders/cf --variant major`,
		Args:              positional("NODE/STORE/INSTANCE", "KIND", "[SETTING]"),
		ValidArgsFunction: start.session.completeOrder,
		RunE:              start.run,
	}
	start.session.register(command)
	start.output = registerOutput(command, environment, "text", formJSON, formYAML)
	start.flags.registerLease(command, "`TIME` after which the lease on the pace ends")
	command.Flags().StringVar(&start.variant, "variant", "", "`WORD` for what sort of task to start, such as minor or major")
	command.RegisterFlagCompletionFunc("variant", start.session.completeVariants)
	return command
}

func (s *startCommand) run(command *cobra.Command, arguments []string) error {
	order, err := s.flags.parseOrder(command, arguments)
	if err != nil {
		return err
	}
	order.Variant = store.Variant(s.variant)
	return s.session.reaching(func(ctx context.Context, cluster *remote.Connection, _ []string) error {
		order.Owner = s.flags.ownerOn(cluster)
		if err := checkVariant(ctx, cluster, order); err != nil {
			return err
		}
		if err := cluster.StartTask(ctx, order.ref, order.Order); err != nil {
			return err
		}
		if s.output.isDocument() {
			return s.output.document(startedDocument{order.ref.String(), order.Kind, order.Scope, order.Variant})
		}
		_, err := fmt.Fprintf(s.environment.Stdout, "%s: asked to start%s%s\n", order, variantText(order), paceText(order))
		return err
	})(command, arguments)
}

// startedDocument is what programs read of a start.
type startedDocument struct {
	Target  string        `json:"target"`
	Kind    store.Kind    `json:"kind"`
	Scope   string        `json:"scope"`
	Variant store.Variant `json:"variant"`
}

// checkVariant looks at what the instance offers before anything is started: an agent of a release
// without variants takes no notice of one, and would start something else.
func checkVariant(ctx context.Context, cluster *remote.Connection, order order) error {
	if order.Variant == "" {
		return nil
	}
	state, err := cluster.State(ctx)
	if err != nil {
		return err
	}
	offered, described := offeredVariants(listing.Instances(state, listing.Filter{}), order.ref.String(), order.Kind)
	switch {
	case !described:
		return store.Errorf(store.CodeNotFound, "nothing is known of what %s can start", order.ref).
			WithHint("sluice get stores shows which stores there are, and which of them answer.")
	case slices.Contains(offered, string(order.Variant)):
		return nil
	case len(offered) == 0:
		return store.Errorf(store.CodeUnsupported, "%s offers no variants of %s", order.ref, order.Kind).
			WithHint("Start without --variant; a newer agent or plug-in may have some.")
	}
	return store.Errorf(store.CodeUnsupported, "%s offers no variant %q of %s", order.ref, order.Variant, order.Kind).
		WithHint("It offers: %s.", strings.Join(offered, ", "))
}

// offeredVariants are those of a kind, and whether the instance has described itself.
func offeredVariants(
	instances []listing.Located[listing.Instance], target string, kind store.Kind,
) (offered []string, described bool) {
	for _, instance := range instances {
		if instance.Target() != target || instance.Part.Description == nil {
			continue
		}
		described = true
		for _, capability := range instance.Part.Description.GetCapabilities() {
			if listing.Word(capability.GetKind()) == string(kind) {
				offered = append(offered, capability.GetVariants()...)
			}
		}
	}
	return offered, described
}

func variantText(order order) string {
	if order.Variant == "" {
		return ""
	}
	return fmt.Sprintf(", variant %s", order.Variant)
}

func paceText(order order) string {
	if order.Setting == (store.Setting{}) {
		return ""
	}
	return fmt.Sprintf(", %s for %s, owner %s", quantity.FormatSetting(order.Setting),
		quantity.FormatDuration(order.TimeToLive), order.Owner)
}
