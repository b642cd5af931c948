package repair

import (
	"context"
	"fmt"
	"slices"

	"sluice.dev/control/internal/pool/metadata/entry"
)

// confirmRemovals ends removals that wait for servers that are not known any more. If one of them comes back, its
// segments are of no file, and are removed.
func (p *pass) confirmRemovals(ctx context.Context) (isDone bool, err error) {
	var page entry.Page[*entry.FileID]
	for {
		removals, more, err := p.metadata.Removals(ctx, page)
		if err != nil {
			return true, err
		}
		for _, removal := range removals {
			if err := p.confirmRemoval(ctx, removal); err != nil {
				return true, fmt.Errorf("end the removal of %s: %w", removal.ID, err)
			}
			page.After = &removal.ID
		}
		if !more || len(removals) == 0 {
			return true, nil
		}
	}
}

// confirmRemoval leaves a removal to the sweeper of sessions whose servers are all known.
func (p *pass) confirmRemoval(ctx context.Context, removal entry.Removal) error {
	known, hasUnknown := p.knownServers(removal.Layout)
	if !hasUnknown {
		return nil
	}
	for _, node := range known {
		if p.servers[node].Standing != Answering {
			return nil
		}
		if err := p.removeFile(ctx, node, removal.ID); err != nil {
			return err
		}
	}
	return p.metadata.ConfirmRemoval(ctx, removal.ID)
}

func (p *pass) knownServers(layout entry.Layout) (known []string, hasUnknown bool) {
	for _, node := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(layout.Servers...)))) {
		if _, isKnown := p.servers[node]; !isKnown {
			hasUnknown = true
			continue
		}
		known = append(known, node)
	}
	return known, hasUnknown
}
