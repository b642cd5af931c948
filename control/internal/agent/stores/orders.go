package stores

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice.dev/control/internal/store"
)

// Set gives, renews or replaces a lease, which ends one time to live after the order was received.
func (i *Instance) Set(ctx context.Context, order store.Order, received time.Time) (store.Lease, error) {
	connection, err := i.reachable()
	if err != nil {
		return store.Lease{}, err
	}
	if err := checkOrder(connection.description, order, false); err != nil {
		return store.Lease{}, err
	}
	return i.keeper.Set(ctx, connection.Session, order, received)
}

// Start starts a task.
func (i *Instance) Start(ctx context.Context, order store.Order, received time.Time) error {
	connection, err := i.reachable()
	if err != nil {
		return err
	}
	if err := checkOrder(connection.description, order, true); err != nil {
		return err
	}
	if order.Setting.Name == "" {
		// It gives no lease, but plug-ins refuse a longer time with it, too.
		order.TimeToLive = min(order.TimeToLive, connection.description.MaxTimeToLive)
	}
	return i.keeper.Start(ctx, connection.Session, order, received)
}

// Abort tells a task to end.
func (i *Instance) Abort(ctx context.Context, abortion store.Abortion) error {
	connection, err := i.reachable()
	if err != nil {
		return err
	}
	if err := checkAbortion(connection.description, abortion); err != nil {
		return err
	}
	return i.keeper.Abort(ctx, connection.Session, abortion)
}

// Clear ends leases before their time, and returns how many. The selected ones are not given again after
// a restart, even if the store cannot be reached now.
func (i *Instance) Clear(ctx context.Context, selection store.Selection) (int, error) {
	connection, err := i.reachable()
	if err != nil {
		if forgetErr := i.keeper.Forget(ctx, selection); forgetErr != nil {
			return 0, forgetErr
		}
		return 0, err
	}
	return i.keeper.Clear(ctx, connection.Session, selection)
}

func (i *Instance) reachable() (*connection, error) {
	if connection := i.connection.Load(); connection != nil {
		return connection, nil
	}
	return nil, store.Errorf(store.CodeUnavailable, "%s does not answer: %s", i.source.Ref, i.State().Problem).
		WithHint("Leases that it had run out by themselves.")
}

// checkOrder says why a store cannot obey an order, before it is asked.
func checkOrder(description store.Description, order store.Order, starts bool) error {
	capability, offered := capabilityFor(description, order.Kind)
	switch {
	case !offered:
		return notOffered(description, order.Kind)
	case starts && !capability.CanStart:
		return store.Errorf(store.CodeUnsupported, "%s starts no %s by order", refOf(description), order.Kind).
			WithHint("Set leases on the tasks that it starts by itself.")
	case order.Variant != "" && !slices.Contains(capability.Variants, order.Variant):
		return store.Errorf(store.CodeUnsupported, "%s starts no %s with the variant %q",
			refOf(description), order.Kind, order.Variant).
			WithHint("It offers: %s. A start without a variant leaves the choice to the store.", join(capability.Variants))
	case order.Setting.Name != "" && !slices.Contains(capability.Settings, order.Setting.Name):
		return store.Errorf(store.CodeUnsupported, "%s does not let %s be set for %s",
			refOf(description), order.Setting.Name, order.Kind).
			WithHint("It offers: %s.", join(capability.Settings))
	// A start without a setting gives no lease.
	case order.Setting.Name != "" && order.TimeToLive > description.MaxTimeToLive:
		return store.Invalidf("%s gives leases for at most %v, not for %v",
			refOf(description), description.MaxTimeToLive, order.TimeToLive).
			WithHint("Ask for less, and renew the lease before it ends.")
	}
	return nil
}

// checkAbortion says why a store cannot abort a task, before it is asked.
func checkAbortion(description store.Description, abortion store.Abortion) error {
	capability, offered := capabilityFor(description, abortion.Kind)
	switch {
	case !offered:
		return notOffered(description, abortion.Kind)
	case !capability.CanAbort:
		return store.Errorf(store.CodeUnsupported, "%s aborts no %s by order", refOf(description), abortion.Kind).
			WithHint("Pause it with %s, if it offers that; %s offers: %s.", store.Hold, abortion.Kind, join(capability.Settings))
	}
	return nil
}

func notOffered(description store.Description, kind store.Kind) error {
	return store.Errorf(store.CodeUnsupported, "%s takes no orders for %s", refOf(description), kind).
		WithHint("It takes them for: %s.", offeredKinds(description))
}

func capabilityFor(description store.Description, kind store.Kind) (store.Capability, bool) {
	for _, capability := range description.Capabilities {
		if capability.Kind == kind {
			return capability, true
		}
	}
	return store.Capability{}, false
}

func refOf(description store.Description) Ref {
	return Ref{description.Store, description.Instance}
}

func offeredKinds(description store.Description) string {
	kinds := make([]store.Kind, len(description.Capabilities))
	for i, capability := range description.Capabilities {
		kinds[i] = capability.Kind
	}
	return join(kinds)
}

func join[T ~string](names []T) string {
	if len(names) == 0 {
		return "nothing"
	}
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = fmt.Sprint(name)
	}
	return strings.Join(texts, ", ")
}
