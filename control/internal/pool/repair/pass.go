package repair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice.dev/control/internal/pool/metadata/entry"
)

// pass goes through the files once, under an epoch of its own.
type pass struct {
	*Repairer
	epoch   uint64
	servers Servers
	survey  *Survey
	ends    time.Time
}

func (p *pass) run(ctx context.Context) (isDone bool, err error) {
	if _, err := look(ctx, p.metadata.Files, p.survey); err != nil {
		return false, err
	}
	p.metrics.surveyed(p.survey)
	isDone, err = p.repair(ctx)
	for _, step := range []func(context.Context) (bool, error){p.lookAtAllSegments, p.confirmRemovals, p.balance} {
		if !isDone || ctx.Err() != nil {
			break
		}
		var stepErr error
		isDone, stepErr = step(ctx)
		err = errors.Join(err, stepErr)
	}
	return isDone, errors.Join(err, context.Cause(ctx))
}

func (p *pass) isOver() bool {
	return !time.Now().Before(p.ends)
}

// repair makes the segments anew that the survey has found, those first that have the fewest copies left. Of many
// failures it tells the last one.
func (p *pass) repair(ctx context.Context) (isDone bool, err error) {
	for _, broken := range p.survey.broken {
		if p.isOver() || ctx.Err() != nil {
			return false, err
		}
		if failure := p.repairFile(ctx, broken.id); failure != nil {
			p.metrics.failures.Inc()
			err = fmt.Errorf("file %s: %w", broken.id, failure)
		}
	}
	return true, err
}

// repairFile looks at the file as it is now: it may have been removed, or repaired.
func (p *pass) repairFile(ctx context.Context, id entry.FileID) error {
	file, err := p.metadata.File(ctx, id)
	if err != nil || file == nil {
		return err
	}
	var problems []error
	for _, place := range allPlaces(file.Layout) {
		if !p.survey.isToRemake(*file, place) {
			continue
		}
		problems = append(problems, p.remake(ctx, file, place))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(problems...)
}

// remake makes a segment anew on a server that can take it, or else on the one that should have it.
func (p *pass) remake(ctx context.Context, file *entry.File, place entry.Place) error {
	if !p.survey.isReadable(*file, place) && !p.survey.hasSource(*file, place) {
		return fmt.Errorf("slot %d of copy %d cannot be made anew: no server that answers has a copy", place.Slot, place.Copy)
	}
	for {
		to, isThere := p.target(file, place)
		if !isThere {
			return fmt.Errorf("slot %d of copy %d cannot be made anew: no server without a copy of it has %d bytes left; add servers",
				place.Slot, place.Copy, bytesOf(*file, place.Slot))
		}
		err := p.move(ctx, file, place, to, forRepair)
		if !p.tryAnother(err, to) {
			return err
		}
	}
}

// target is the server itself only if there is no other, and another copy can be read meanwhile.
func (p *pass) target(file *entry.File, place entry.Place) (name string, isThere bool) {
	bytes := bytesOf(*file, place.Slot)
	if name, isThere = p.servers.target(file.Layout, place.Slot, bytes); isThere {
		return name, true
	}
	own := serverOf(*file, place)
	return own, p.servers[own].takes(bytes) && p.survey.hasSource(*file, place)
}

// balance moves segments until servers are as full as others, or none can be moved any more. Of many failures it tells
// the last one.
func (p *pass) balance(ctx context.Context) (isDone bool, err error) {
	if p.servers.isBalanced(p.config.BalanceTolerance) {
		return true, nil
	}
	isDone = true
	listErr := each(ctx, p.metadata.Files, func(file entry.File) error {
		if p.isOver() {
			isDone = false
			return errIsOver
		}
		if failure := p.balanceFile(ctx, &file); failure != nil {
			err = fmt.Errorf("file %s: %w", file.ID, failure)
		}
		return context.Cause(ctx)
	})
	if errors.Is(listErr, errIsOver) {
		listErr = nil
	}
	return isDone, errors.Join(err, listErr)
}

var errIsOver = errors.New("the time of the pass is over")

func (p *pass) balanceFile(ctx context.Context, file *entry.File) error {
	var last error
	for _, place := range allPlaces(file.Layout) {
		if !file.Sealed || p.survey.isToRemake(*file, place) {
			continue
		}
		to, moves := p.servers.balanceTarget(file.Layout, place, bytesOf(*file, place.Slot), p.config.BalanceTolerance)
		if !moves {
			continue
		}
		if err := p.move(ctx, file, place, to, forBalance); err != nil && !p.tryAnother(err, to) {
			p.metrics.failures.Inc()
			last = err
		}
	}
	return last
}
