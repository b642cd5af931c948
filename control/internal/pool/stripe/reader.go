package stripe

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/wire"
)

// Damaged is told of a segment that did not give what it should have, and why; another copy did.
type Damaged func(place Place, cause error)

// Reader reads a file. Its methods may be called at the same time.
type Reader struct {
	file     File
	length   int64
	services Services
	options  Options
	damaged  Damaged
	// suspects are asked last.
	suspects *Suspects
}

// NewReader reads a file of that length. Readers share what they know of nodes that fail.
func NewReader(file File, length int64, services Services, options Options, suspects *Suspects, damaged Damaged) (*Reader, error) {
	if err := file.check(); err != nil {
		return nil, err
	}
	return &Reader{file: file, length: length, services: services, options: options, suspects: suspects, damaged: damaged}, nil
}

// ReadAt fills a buffer as io.ReaderAt does: with fewer bytes, and io.EOF, where the file ends.
func (r *Reader) ReadAt(ctx context.Context, buffer []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, fmt.Errorf("there is no byte %d in a file", offset)
	}
	wanted := min(int64(len(buffer)), max(r.length-offset, 0))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.options.ReadRequests)
	for _, piece := range r.file.Stripes.Pieces(offset, wanted) {
		for _, part := range cut(piece, int64(r.options.RequestBytes)) {
			into := buffer[part.FileOffset-offset:][:part.Bytes]
			group.Go(func() error { return r.fill(ctx, part, into) })
		}
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	if wanted < int64(len(buffer)) {
		return int(wanted), io.EOF
	}
	return int(wanted), nil
}

// cut makes pieces of at most so many bytes of one.
func cut(piece layout.Piece, most int64) []layout.Piece {
	var parts []layout.Piece
	for piece.Bytes > 0 {
		part := piece
		part.Bytes = min(piece.Bytes, most)
		parts = append(parts, part)
		piece.SegmentOffset += part.Bytes
		piece.FileOffset += part.Bytes
		piece.Bytes -= part.Bytes
	}
	return parts
}

// fill reads a piece from the first of the copies that has it.
func (r *Reader) fill(ctx context.Context, piece layout.Piece, into []byte) error {
	problems := []error{fmt.Errorf("no copy of bytes %d to %d of the file %s can be read",
		piece.FileOffset, piece.FileOffset+piece.Bytes, r.file.ID)}
	failed := make(map[Place]error)
	for _, place := range r.candidates(piece.Slot) {
		err := r.ask(ctx, place, piece.SegmentOffset, into)
		if err == nil {
			r.report(failed)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.suspects.Add(r.file.server(place))
		failed[place] = err
		problems = append(problems, fmt.Errorf("%s: %w", r.file.server(place), err))
	}
	return errors.Join(problems...)
}

func (r *Reader) report(failed map[Place]error) {
	for place, cause := range failed {
		r.damaged(place, cause)
	}
}

// candidates gives the segments of a slot, those of servers that have failed last.
func (r *Reader) candidates(slot int) []Place {
	var good, bad []Place
	for c := range r.file.Servers {
		place := Place{Slot: slot, Copy: c}
		switch {
		case r.file.Missing[place]:
		case r.suspects.Has(r.file.server(place)):
			bad = append(bad, place)
		default:
			good = append(good, place)
		}
	}
	return append(good, bad...)
}

func (r *Reader) ask(ctx context.Context, place Place, offset int64, into []byte) error {
	service, err := r.services(r.file.server(place))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Patience)
	defer cancel()
	answer, err := service.ReadSegment(ctx, &sluicev1.ReadSegmentRequest{
		Segment: wire.EncodeSegmentID(r.file.segment(place)), OffsetBytes: uint64(offset), LengthBytes: uint32(len(into)),
	})
	if err != nil {
		return err
	}
	if err := wire.DecodeBlockProblem(answer.GetProblem()); err != nil {
		return err
	}
	if n := copy(into, answer.GetData()); n < len(into) {
		return segment.Failf(segment.Short, "%s ends at byte %d, before what was synced", r.file.segment(place), offset+int64(n))
	}
	return nil
}
