package repair

import (
	"context"
	"errors"
	"slices"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/wire"
)

// move makes a segment anew on a server, has the metadata say so, and removes what was in its place before. The file
// is then as the metadata has it.
func (p *pass) move(ctx context.Context, file *entry.File, place entry.Place, to, reason string) error {
	from := serverOf(*file, place)
	if to == from {
		if err := p.giveUp(ctx, file, place); err != nil {
			return err
		}
	}
	if err := p.remove(ctx, to, file.ID, place); err != nil {
		p.lookAgain(to)
		return stripe.TargetFailure{Cause: err}
	}
	err := p.copy(ctx, *file, place, to)
	if err == nil {
		err = p.list(ctx, file, place, to)
	}
	if err != nil {
		p.lookAgain(from, to)
		return p.unlessRemoved(ctx, to, file.ID, err)
	}
	p.metrics.remade(reason, bytesOf(*file, place.Slot))
	delete(p.damaged, segmentAt{from, file.ID, place})
	p.servers.moved(to, bytesOf(*file, place.Slot))
	if to != from {
		p.removeOld(ctx, from, *file, place, reason)
	}
	return nil
}

// giveUp has nobody read a segment that is to be made anew where it is, once all of it was read from other copies.
func (p *pass) giveUp(ctx context.Context, file *entry.File, place entry.Place) error {
	if slices.Contains(file.Missing, place) {
		return nil
	}
	alone := *file
	alone.Missing = append(slices.Clone(file.Missing), place)
	wanted, reader, err := p.remaking(alone, place)
	if err != nil {
		return err
	}
	if err := stripe.Verify(ctx, wanted, reader); err != nil {
		return err
	}
	if err := p.metadata.MarkMissing(ctx, p.part(file, place)); err != nil {
		return err
	}
	file.Missing = alone.Missing
	return nil
}

func (p *pass) part(file *entry.File, place entry.Place) metadata.Part {
	return metadata.Part{ID: file.ID, Epoch: p.epoch, Place: place}
}

// copy writes a segment to a server, from all that can be read.
func (p *pass) copy(ctx context.Context, file entry.File, place entry.Place, to string) error {
	wanted, reader, err := p.remaking(file, place)
	if err != nil {
		return err
	}
	wanted.To = to
	return stripe.Remake(ctx, wanted, reader, p.services, p.config.Options)
}

// remaking gives what is to be made, and who reads it.
func (p *pass) remaking(file entry.File, place entry.Place) (stripe.Remaking, *stripe.Reader, error) {
	from := files.StripesOf(file)
	for _, other := range placesOf(file.Layout, place.Slot) {
		if !p.survey.isReadable(file, other) {
			from.Missing[stripe.Place{Slot: int(other.Slot), Copy: int(other.Copy)}] = true
		}
	}
	damaged := func(place stripe.Place, cause error) {
		p.logger.Warn("a copy of a file cannot be read", "file", file.ID.String(), "slot", place.Slot, "copy", place.Copy, "error", cause)
	}
	wanted := stripe.Remaking{
		File: from, LengthBytes: int64(file.LengthBytes), Place: stripe.Place{Slot: int(place.Slot), Copy: int(place.Copy)},
		Epoch: p.epoch, Pace: p.pace.wait,
	}
	reader, err := stripe.NewReader(from, wanted.LengthBytes, p.services, p.config.Options, p.suspect, damaged)
	return wanted, reader, err
}

// list has the metadata say where the segment is, if the file still is where it was.
func (p *pass) list(ctx context.Context, file *entry.File, place entry.Place, to string) error {
	var err error
	if from := serverOf(*file, place); to == from {
		err = p.metadata.ClearMissing(ctx, p.part(file, place))
	} else {
		err = p.metadata.ReplaceServer(ctx, p.part(file, place), from, to)
	}
	if err != nil {
		return err
	}
	file.Layout.Servers[place.Copy][place.Slot] = to
	file.Missing = slices.DeleteFunc(file.Missing, func(missing entry.Place) bool { return missing == place })
	return nil
}

// removeOld removes what the metadata no longer has. Where that fails, looking at all segments of the server finds it.
func (p *pass) removeOld(ctx context.Context, from string, file entry.File, place entry.Place, reason string) {
	if reason == forBalance {
		p.servers.moved(from, -bytesOf(file, place.Slot))
	}
	if p.servers[from].Standing != Answering {
		p.lookAgain(from)
		return
	}
	if err := p.remove(ctx, from, file.ID, place); err != nil {
		p.lookAgain(from)
		p.logger.Info("a segment that was moved is removed later", "node", from, "file", file.ID.String(), "error", err)
	}
}

// remove removes a segment that no pass before can have listed since.
func (p *pass) remove(ctx context.Context, node string, file entry.FileID, place entry.Place) error {
	service, err := p.services(node)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.Options.Patience)
	defer cancel()
	id := segment.ID{File: file, Slot: int(place.Slot), Copy: int(place.Copy)}
	answer, err := service.RemoveSegment(ctx, &sluicev1.RemoveSegmentRequest{Segment: wire.EncodeSegmentID(id), Epoch: p.epoch})
	if err != nil {
		return err
	}
	return wire.DecodeBlockProblem(answer.GetProblem())
}

// tryAnother says whether a segment could be made on another server, and leaves the one that has failed alone.
func (p *pass) tryAnother(err error, to string) bool {
	if !errors.As(err, new(stripe.TargetFailure)) {
		return false
	}
	p.metrics.failures.Inc()
	p.logger.Warn("a server cannot take a segment, and gets no more for now", "node", to, "error", err)
	server := p.servers[to]
	server.Refuses = true
	p.servers[to] = server
	return true
}

// lookAgain has the next pass look at all segments of servers, where something may be left that no file has.
func (p *pass) lookAgain(nodes ...string) {
	for _, node := range nodes {
		delete(p.listed, node)
	}
}

// unlessRemoved has a failure be none where the file was removed meanwhile, and removes what was made of it: it never
// comes back.
func (p *pass) unlessRemoved(ctx context.Context, to string, id entry.FileID, failure error) error {
	if file, err := p.metadata.File(ctx, id); err != nil || file != nil {
		return failure
	}
	return p.removeFile(ctx, to, id)
}

func (p *pass) removeFile(ctx context.Context, node string, id entry.FileID) error {
	service, err := p.services(node)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.Options.Patience)
	defer cancel()
	_, err = service.RemoveFile(ctx, &sluicev1.RemoveFileRequest{FileId: id[:]})
	return err
}
