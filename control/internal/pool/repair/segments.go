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
	// isWhole is false once something is left to another look.
	isWhole bool
	// failure is the last one of many that are alike.
	failure error
}

// lookAtSegments compares all segments of a server with what the metadata has there: it removes those that no file has,
// and notes which are damaged or lost.
func (p *pass) lookAtSegments(ctx context.Context, node string) error {
	begin := time.Now()
	maps.DeleteFunc(p.damaged, func(at segmentAt, _ bool) bool { return at.server == node })
	look := &segmentsLook{pass: p, node: node, files: newFilesOn(node, p.metadata.FilesOn), isWhole: true}
	err := look.run(ctx)
	if err != nil {
		return fmt.Errorf("look at the segments of %s: %w", node, err)
	}
	if look.isWhole {
		p.listed[node] = begin
	}
	return look.failure
}

func (l *segmentsLook) run(ctx context.Context) error {
	err := l.eachFile(ctx, func(id entry.FileID, states []segment.State) error {
		file, err := l.files.upTo(ctx, id, func(lost entry.File) error { return l.lookForLost(ctx, lost, nil) })
		if err != nil {
			return err
		}
		for _, state := range states {
			l.note(l.lookAt(ctx, file, state))
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

func (l *segmentsLook) note(isLeft bool, err error) {
	l.isWhole = l.isWhole && !isLeft && err == nil
	if err != nil {
		l.metrics.failures.Inc()
		l.failure = fmt.Errorf("a segment on %s: %w", l.node, err)
	}
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

// lookAt compares a segment with its file, as it was a while ago. What seems to be an orphan is asked for again: the file
// may have been made since, and is in the metadata before there is any segment of it. An orphan that this pass has
// made itself is left to the next one.
func (l *segmentsLook) lookAt(ctx context.Context, file *entry.File, state segment.State) (isLeft bool, err error) {
	place := entry.Place{Slot: uint32(state.ID.Slot), Copy: uint32(state.ID.Copy)}
	if isOn(file, l.node, place) {
		if state.Damaged && file.Sealed {
			l.damaged[segmentAt{l.node, state.ID.File, place}] = true
		}
		return false, nil
	}
	file, err = l.metadata.File(ctx, state.ID.File)
	if err != nil || isOn(file, l.node, place) {
		return false, err
	}
	if state.Epoch >= l.epoch {
		return true, nil
	}
	if err := l.remove(ctx, l.node, state.ID.File, place); err != nil {
		return true, err
	}
	l.metrics.removedOrphan()
	return false, nil
}

// isOn says whether the metadata has a part of a file on a server. Nil is a file that there is none of.
func isOn(file *entry.File, node string, place entry.Place) bool {
	return file != nil && file.Layout.Has(place) && serverOf(*file, place) == node
}

// lookForLost notes the segments of a sealed file that are not on the server, though the metadata has them there: its
// disk may be another one than before. The file may have been sealed or removed since: both are asked for again.
func (l *segmentsLook) lookForLost(ctx context.Context, file entry.File, states []segment.State) error {
	if len(lost(file, l.node, states)) == 0 {
		return nil
	}
	states, _, err := l.listSegments(ctx, l.node, &sluicev1.ListSegmentsRequest{FileId: file.ID[:]})
	if err != nil {
		return err
	}
	now, err := l.metadata.File(ctx, file.ID)
	if err != nil || now == nil {
		return err
	}
	for _, place := range lost(file, l.node, states) {
		if isOn(now, l.node, place) && now.Sealed {
			l.logger.Warn("a segment of the pool is lost", "node", l.node, "file", file.ID.String(), "slot", place.Slot, "copy", place.Copy)
			l.damaged[segmentAt{l.node, file.ID, place}] = true
		}
	}
	return nil
}

// lost are the parts of a sealed file that should be among what a server has, and are not.
func lost(file entry.File, node string, states []segment.State) []entry.Place {
	if !file.Sealed {
		return nil
	}
	return slices.DeleteFunc(allPlaces(file.Layout), func(place entry.Place) bool {
		id := segment.ID{File: file.ID, Slot: int(place.Slot), Copy: int(place.Copy)}
		return serverOf(file, place) != node || slices.Contains(file.Missing, place) ||
			slices.ContainsFunc(states, func(state segment.State) bool { return state.ID == id })
	})
}
