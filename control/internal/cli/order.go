package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/remote"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/store"
)

// orderFlags are the flags of commands that give orders.
type orderFlags struct {
	scope      string
	owner      string
	replace    bool
	timeToLive positiveDuration
}

func (o *orderFlags) registerTarget(command *cobra.Command) {
	command.Flags().StringVar(&o.scope, "scope", "", "part of the store, such as a table; left out for all of it")
	command.Flags().StringVar(&o.owner, "owner", "", "whose lease it is; operator/NAME of your certificate by default")
}

func (o *orderFlags) registerLease(command *cobra.Command, meaning string) {
	o.registerTarget(command)
	command.Flags().BoolVar(&o.replace, "replace", false, "take the lease over from another owner")
	command.Flags().Var(&o.timeToLive, "for", meaning)
}

// ownerOn is whose orders are given on a connection.
func (o *orderFlags) ownerOn(cluster *remote.Connection) string {
	if o.owner != "" {
		return o.owner
	}
	return "operator/" + cluster.Identity.Name
}

// order is one that was written as TARGET KIND [SETTING].
type order struct {
	ref policy.Ref
	store.Order
}

// parseOrder reads the arguments of an order. What is wrong with them is known before anybody is asked.
func (o *orderFlags) parseOrder(command *cobra.Command, arguments []string) (order, error) {
	ref, err := parseTarget(arguments[0])
	if err != nil {
		return order{}, usage(command, err)
	}
	kind, err := parseKind(arguments[1])
	if err != nil {
		return order{}, usage(command, err)
	}
	parsed := order{ref, store.Order{
		Kind: kind, Scope: o.scope, TimeToLive: time.Duration(o.timeToLive), Replace: o.replace,
	}}
	if len(arguments) < 3 {
		return parsed, nil
	}
	if parsed.Setting, err = quantity.ParseSetting(arguments[2]); err != nil {
		return order{}, usage(command, err)
	}
	return parsed, nil
}

// String names the target of an order, and what it orders.
func (o order) String() string {
	text := fmt.Sprintf("%s %s", o.ref, o.Kind)
	if o.Scope != "" {
		text += fmt.Sprintf(" of %s", o.Scope)
	}
	return text
}
