package stores

import (
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// What a store says must be something that controllers take: they refuse the answer of an agent as a
// whole, so that one store would cost them all others of the node.

// checkDescription refuses what cannot be passed on, and a kind that is there twice, of which nobody knows
// which counts.
func checkDescription(description store.Description) error {
	kinds := make(map[store.Kind]bool, len(description.Capabilities))
	for _, capability := range description.Capabilities {
		if kinds[capability.Kind] {
			return unfit("its description has the kind %s twice", capability.Kind)
		}
		kinds[capability.Kind] = true
	}
	if _, err := wire.DecodeDescription(wire.EncodeDescription(description)); err != nil {
		return unfit("its description cannot be passed on: %w", err)
	}
	return nil
}

// checkSnapshot refuses what cannot be passed on.
func (i *Instance) checkSnapshot(snapshot store.Snapshot) error {
	report := wire.InstanceSnapshot{
		Ref: policy.Ref{Store: i.source.Ref.Store, Instance: i.source.Ref.Instance}, Snapshot: snapshot,
	}
	if _, err := wire.DecodeSnapshot("", wire.EncodeSnapshot(report, snapshot.TakenAt), snapshot.TakenAt); err != nil {
		return unfit("its snapshot cannot be passed on: %w", err)
	}
	return nil
}

func unfit(format string, arguments ...any) error {
	return store.Errorf(store.CodeIncompatible, format, arguments...).
		WithHint("This is a fault of its plug-in: docs/local-protocol.md says what it may report.")
}
