// Package local is the driver for stores whose plug-ins serve the local protocol.
package local

import (
	"context"
	"errors"
	"slices"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/store"
)

// Driver speaks to the plug-in behind one Unix socket. It connects when it is first used, and again
// with the call after one that failed.
type Driver struct {
	client *localprotocol.Client
	path   string
}

var _ store.Driver = (*Driver)(nil)

// Open makes a driver for a socket. Nothing is sent yet: the plug-in need not run.
func Open(socketPath string) *Driver {
	return &Driver{client: localprotocol.NewClient(socketPath), path: socketPath}
}

// Describe asks what the store is. What it offers beyond the vocabulary of this version is left out.
func (d *Driver) Describe(ctx context.Context) (store.Description, error) {
	description, err := d.client.Describe(ctx)
	if err != nil {
		return store.Description{}, d.failure(err)
	}
	description.Capabilities = slices.DeleteFunc(description.Capabilities, func(c store.Capability) bool {
		return !isKnown(c.Kind)
	})
	for i := range description.Capabilities {
		offered := &description.Capabilities[i]
		offered.Settings = slices.DeleteFunc(offered.Settings, func(n store.SettingName) bool {
			return !slices.Contains(store.SettingNames(), n)
		})
	}
	return description, nil
}

// Snapshot asks for the state of the store. What is beyond the vocabulary of this version is left out.
func (d *Driver) Snapshot(ctx context.Context) (store.Snapshot, error) {
	snapshot, err := d.client.Snapshot(ctx)
	if err != nil {
		return store.Snapshot{}, d.failure(err)
	}
	snapshot.Tasks = slices.DeleteFunc(snapshot.Tasks, func(t store.Task) bool {
		return !isKnown(t.Kind) || !slices.Contains(store.States(), t.State)
	})
	snapshot.Debts = slices.DeleteFunc(snapshot.Debts, func(b store.Debt) bool { return !isKnown(b.Kind) })
	snapshot.Leases = slices.DeleteFunc(snapshot.Leases, func(l store.Lease) bool {
		return !isKnown(l.Kind) || l.Setting.Aspect() == ""
	})
	return snapshot, nil
}

func isKnown(kind store.Kind) bool {
	return slices.Contains(store.Kinds(), kind)
}

// Set gives, renews or replaces a lease.
func (d *Driver) Set(ctx context.Context, order store.Order) (store.Lease, error) {
	if err := order.Validate(false); err != nil {
		return store.Lease{}, err
	}
	lease, err := d.client.Set(ctx, order)
	if err != nil {
		return store.Lease{}, d.failure(err)
	}
	return lease, nil
}

// Clear ends leases before their time.
func (d *Driver) Clear(ctx context.Context, selection store.Selection) (int, error) {
	if err := selection.Validate(); err != nil {
		return 0, err
	}
	cleared, err := d.client.Clear(ctx, selection)
	if err != nil {
		return 0, d.failure(err)
	}
	return cleared, nil
}

// Start starts a task.
func (d *Driver) Start(ctx context.Context, order store.Order) error {
	if err := order.Validate(true); err != nil {
		return err
	}
	if err := d.client.Start(ctx, order); err != nil {
		return d.failure(err)
	}
	return nil
}

// Abort tells a task to end.
func (d *Driver) Abort(ctx context.Context, abortion store.Abortion) error {
	if err := abortion.Validate(); err != nil {
		return err
	}
	if err := d.client.Abort(ctx, abortion); err != nil {
		return d.failure(err)
	}
	return nil
}

// Close closes the connection.
func (d *Driver) Close() error {
	return d.client.Close()
}

// failure keeps what the plug-in has answered; everything else means that it did not answer.
func (d *Driver) failure(err error) *store.Error {
	var answered *localprotocol.Error
	if errors.As(err, &answered) {
		return answered.StoreError()
	}
	unavailable := store.Errorf(store.CodeUnavailable, "%s: %w", d.path, err)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return unavailable.WithHint("The store may have obeyed all the same: look at its snapshot.")
	}
	return unavailable.WithHint("Is the store running, with the plug-in loaded? sluice local check %s shows more.", d.path)
}
