package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/wire"
)

// lookAtAllSegments looks at those servers that it was a while ago for, or where something may be left. What is damaged or
// lost is made anew by a further pass.
func (p *pass) lookAtAllSegments(ctx context.Context) (isDone bool, err error) {
	known := len(p.damaged)
	for name, server := range p.servers {
		if server.Standing == Answering && time.Since(p.listed[name]) >= p.config.ListPeriod {
			err = errors.Join(err, p.lookAtSegments(ctx, name))
		}
	}
	return len(p.damaged) <= known, err
}

// segmentsLook is one look at all segments of a server.
type segmentsLook struct {
	*pass
	node  string
	files *filesOn
	// orphans are what seems to be of no file.
	orphans []segment.State
}

// lookAtSegments compares all segments of a server with what the metadata has there: it removes those that no file has,
// and notes which are damaged or lost.
func (p *pass) lookAtSegments(ctx context.Context, node string) error {
	begin := time.Now()
	maps.DeleteFunc(p.damaged, func(at segmentAt, _ bool) bool { return at.server == node })
	look := &segmentsLook{pass: p, node: node, files: newFilesOn(node, p.metadata.FilesOn)}
	if err := look.run(ctx); err != nil {
		return fmt.Errorf("look at the segments of %s: %w", node, err)
	}
	isAllRemoved, err := look.removeOrphans(ctx)
	if err != nil {
		return fmt.Errorf("remove segments of %s that no file has: %w", node, err)
	}
	if isAllRemoved {
		p.listed[node] = begin
	}
	return nil
}

func (l *segmentsLook) run(ctx context.Context) error {
	err := l.eachFile(ctx, func(id entry.FileID, states []segment.State) error {
		file, err := l.files.upTo(ctx, id, func(lost entry.File) error { return l.lookForLost(ctx, lost, nil) })
		if err != nil {
			return err
		}
		for _, state := range states {
			l.lookAt(file, state)
		}
		if file != nil {
			err = l.lookForLost(ctx, *file, states)
		}
		return errors.Join(err, context.Cause(ctx))
	})
	if err != nil {
		return err
	}
	return l.files.rest(ctx, func(lost entry.File) error { return l.lookForLost(ctx, lost, nil) })
}

// eachFile goes through the segments of the server, those of a file at once, in the order of the files' ids.
func (l *segmentsLook) eachFile(ctx context.Context, do func(entry.FileID, []segment.State) error) error {
	request := &sluicev1.ListSegmentsRequest{}
	for {
		states, more, err := l.listSegments(ctx, l.node, request)
		if err != nil {
			return err
		}
		for len(states) > 0 {
			id := states[0].ID.File
			end := slices.IndexFunc(states, func(state segment.State) bool { return state.ID.File != id })
			if end < 0 {
				end = len(states)
			}
			if err := do(id, states[:end]); err != nil {
				return err
			}
			states, request.AfterFileId = states[end:], id[:]
		}
		if !more {
			return nil
		}
	}
}

func (p *pass) listSegments(ctx context.Context, node string, request *sluicev1.ListSegmentsRequest) ([]segment.State, bool, error) {
	service, err := p.services(node)
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.Options.Patience)
	defer cancel()
	answer, err := service.ListSegments(ctx, request)
	if err != nil {
		return nil, false, err
	}
	var states []segment.State
	for _, each := range answer.GetSegments() {
		state, err := wire.DecodeSegmentState(each)
		if err != nil {
			return nil, false, err
		}
		states = append(states, state)
	}
	return states, answer.GetMore() && len(states) > 0, nil
}

// lookAt compares a segment with its file, as it was a while ago.
func (l *segmentsLook) lookAt(file *entry.File, state segment.State) {
	place := placeOf(state.ID)
	if !isOn(file, l.node, place) {
		l.orphans = append(l.orphans, state)
		return
	}
	if state.Damaged && file.Sealed {
		l.damaged[segmentAt{l.node, file.ID, place}] = true
	}
}

func placeOf(id segment.ID) entry.Place {
	return entry.Place{Slot: uint32(id.Slot), Copy: uint32(id.Copy)}
}

// removeOrphans removes what no file has. A segment with a later epoch than this pass that is of no file is of other
// metadata: nothing is removed then, as all that the server has may be somebody else's.
func (l *segmentsLook) removeOrphans(ctx context.Context) (isAllRemoved bool, err error) {
	for _, orphan := range l.orphans {
		isForeign, err := l.isForeign(ctx, orphan)
		if err != nil {
			return false, err
		}
		if isForeign {
			l.metrics.failures.Inc()
			return false, fmt.Errorf("%s has the epoch %d, and the last lease has %d: nothing is removed; "+
				"if this does not pass, the server is of another pool, or the metadata was begun anew", orphan.ID, orphan.Epoch, l.epoch)
		}
	}
	isAllRemoved = true
	for _, orphan := range l.orphans {
		isLeft, orphanErr := l.removeOrphan(ctx, orphan)
		if orphanErr != nil {
			l.metrics.failures.Inc()
			err = fmt.Errorf("%s: %w", orphan.ID, orphanErr)
		}
		isAllRemoved = isAllRemoved && !isLeft && orphanErr == nil
		if ctx.Err() != nil {
			break
		}
	}
	return isAllRemoved, err
}

// isForeign says whether a segment has an epoch that the metadata has not come to. One of a file that was made while this
// pass was looking, under a lease that was given since, is in the metadata.
func (l *segmentsLook) isForeign(ctx context.Context, orphan segment.State) (bool, error) {
	if orphan.Epoch <= l.epoch {
		return false, nil
	}
	file, err := l.metadata.File(ctx, orphan.ID.File)
	return !isOn(file, l.node, placeOf(orphan.ID)), err
}

// removeOrphan asks for the file again: it may have been made since, and is in the metadata before there is any segment
// of it. What this pass has made itself is left to the next one.
func (l *segmentsLook) removeOrphan(ctx context.Context, orphan segment.State) (isLeft bool, err error) {
	file, err := l.metadata.File(ctx, orphan.ID.File)
	if err != nil || isOn(file, l.node, placeOf(orphan.ID)) {
		return false, err
	}
	if orphan.Epoch == l.epoch {
		return true, nil
	}
	if err := l.remove(ctx, l.node, orphan.ID.File, placeOf(orphan.ID)); err != nil {
		return true, err
	}
	l.metrics.removedOrphan()
	return false, nil
}

// isOn says whether the metadata has a part of a file on a server. Nil is a file that there is none of.
func isOn(file *entry.File, node string, place entry.Place) bool {
	return file != nil && file.Layout.Has(place) && serverOf(*file, place) == node
}

// lookForLost notes the segments of a sealed file that are not on the server as they must be, though the metadata has them
// there: its disk may be another one than before, or be as it was at an earlier time. The file may have been sealed or removed
// since: both are asked for again.
func (l *segmentsLook) lookForLost(ctx context.Context, file entry.File, states []segment.State) error {
	if len(lost(file, l.node, states)) == 0 {
		return nil
	}
	// The file first: its segments were sealed before it was.
	now, err := l.metadata.File(ctx, file.ID)
	if err != nil || now == nil {
		return err
	}
	states, _, err = l.listSegments(ctx, l.node, &sluicev1.ListSegmentsRequest{FileId: file.ID[:]})
	if err != nil || len(lost(*now, l.node, states)) == 0 {
		return err
	}
	// And once more: its segments are removed after it was.
	if now, err = l.metadata.File(ctx, file.ID); err != nil || now == nil {
		return err
	}
	for _, place := range lost(*now, l.node, states) {
		l.logger.Warn("a segment of the pool is lost", "node", l.node, "file", file.ID.String(), "slot", place.Slot, "copy", place.Copy)
		l.damaged[segmentAt{l.node, file.ID, place}] = true
	}
	return nil
}

// lost are the parts of a sealed file that a server should have sealed, with all that the file has of them, and has not.
func lost(file entry.File, node string, states []segment.State) []entry.Place {
	if !file.Sealed {
		return nil
	}
	return slices.DeleteFunc(allPlaces(file.Layout), func(place entry.Place) bool {
		id, bytes := segment.ID{File: file.ID, Slot: int(place.Slot), Copy: int(place.Copy)}, bytesOf(file, place.Slot)
		return bytes == 0 || serverOf(file, place) != node || slices.Contains(file.Missing, place) ||
			slices.ContainsFunc(states, func(state segment.State) bool {
				return state.ID == id && state.Sealed && state.Length >= bytes
			})
	})
}
