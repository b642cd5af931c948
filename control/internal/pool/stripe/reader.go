package stripe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/payload"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/wire"
)

// Damaged is told of a segment that did not give what it should have, and why; another copy did.
type Damaged func(place Place, cause error)

// Locate gives where a file is now: repair and balance move segments of sealed files.
type Locate func(ctx context.Context) (File, error)

// Reader reads a file. Its methods may be called at the same time.
type Reader struct {
	stripes  layout.Stripes
	length   int64
	services Services
	options  Options
	damaged  Damaged
	// suspects are asked last.
	suspects *Suspects

	// locating lets one ask where the file is, for all that find it moved.
	locating sync.Mutex
	locate   Locate
	file     atomic.Pointer[File]
}

// NewReader reads a file of that length. Readers share what they know of nodes that fail.
func NewReader(file File, length int64, services Services, options Options, suspects *Suspects, damaged Damaged) (*Reader, error) {
	if err := file.check(); err != nil {
		return nil, err
	}
	reader := &Reader{
		stripes: file.Stripes, length: length, services: services, options: options, suspects: suspects, damaged: damaged,
	}
	reader.file.Store(&file)
	return reader, nil
}

// Follow has the reader ask where the file is once segments are not where they were. It is called before the first read.
func (r *Reader) Follow(locate Locate) {
	r.locate = locate
}

// ReadAt fills a buffer as io.ReaderAt does: with fewer bytes, and io.EOF, where the file ends.
func (r *Reader) ReadAt(ctx context.Context, buffer []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, fmt.Errorf("there is no byte %d in a file", offset)
	}
	wanted := min(int64(len(buffer)), max(r.length-offset, 0))
	var parts []layout.Piece
	for _, piece := range r.stripes.Pieces(offset, wanted) {
		parts = append(parts, cut(piece, int64(r.options.RequestBytes))...)
	}
	if err := r.fillAll(ctx, parts, buffer); err != nil {
		return 0, err
	}
	if wanted < int64(len(buffer)) {
		return int(wanted), io.EOF
	}
	return int(wanted), nil
}

// fillAll reads parts that follow each other into a buffer, several at a time.
func (r *Reader) fillAll(ctx context.Context, parts []layout.Piece, buffer []byte) error {
	if len(parts) == 1 {
		return r.fill(ctx, parts[0], buffer[:parts[0].Bytes])
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.options.ReadRequests)
	for _, part := range parts {
		into := buffer[part.FileOffset-parts[0].FileOffset:][:part.Bytes]
		group.Go(func() error { return r.fill(ctx, part, into) })
	}
	return group.Wait()
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

// search is a piece that is looked for in one copy after the other.
type search struct {
	file *File
	slot int
	// places are those that were not asked yet.
	places   []Place
	failed   map[Place]error
	problems []error
}

// fill reads a piece from the first of the copies that has it.
func (r *Reader) fill(ctx context.Context, piece layout.Piece, into []byte) error {
	looked := &search{slot: piece.Slot}
	r.begin(looked, r.file.Load())
	for len(looked.places) > 0 {
		place := looked.places[0]
		looked.places = looked.places[1:]
		err := r.ask(ctx, looked.file, place, piece.SegmentOffset, into)
		if err == nil {
			r.report(looked.failed)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.goOn(ctx, looked, place, err)
	}
	return fmt.Errorf("no copy of bytes %d to %d of the file %s can be read: %w",
		piece.FileOffset, piece.FileOffset+piece.Bytes, looked.file.ID, errors.Join(looked.problems...))
}

func (r *Reader) begin(looked *search, file *File) {
	looked.file, looked.places, looked.failed = file, r.candidates(file, looked.slot), make(map[Place]error)
}

// goOn has the piece looked for where the file is now, if it was moved, and else in the other copies.
func (r *Reader) goOn(ctx context.Context, looked *search, place Place, failure error) {
	node := looked.file.server(place)
	looked.problems = append(looked.problems, fmt.Errorf("%s: %w", node, failure))
	if isNotFound(failure) || len(looked.places) == 0 {
		now, err := r.newer(ctx, looked.file)
		if now != nil {
			r.begin(looked, now)
			return
		}
		looked.problems = append(looked.problems, err)
	}
	r.suspects.Add(node)
	looked.failed[place] = failure
}

func isNotFound(err error) bool {
	var failure *segment.Failure
	return errors.As(err, &failure) && failure.Reason == segment.NotFound
}

// newer gives where the file is now, nil if that is where it was.
func (r *Reader) newer(ctx context.Context, old *File) (*File, error) {
	r.locating.Lock()
	defer r.locating.Unlock()
	if known := r.file.Load(); known != old {
		return known, nil
	}
	if r.locate == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Patience)
	defer cancel()
	now, err := r.locate(ctx)
	if err != nil {
		return nil, fmt.Errorf("where the file is now: %w", err)
	}
	if now.isWhere(*old) {
		return nil, nil
	}
	if err := now.check(); err != nil {
		return nil, err
	}
	r.file.Store(&now)
	return &now, nil
}

func (r *Reader) report(failed map[Place]error) {
	for place, cause := range failed {
		r.damaged(place, cause)
	}
}

// candidates gives the segments of a slot, those of servers that have failed last.
func (r *Reader) candidates(file *File, slot int) []Place {
	var good, bad []Place
	for c := range file.Servers {
		place := Place{Slot: slot, Copy: c}
		switch {
		case file.Missing[place]:
		case r.suspects.Has(file.server(place)):
			bad = append(bad, place)
		default:
			good = append(good, place)
		}
	}
	return append(good, bad...)
}

func (r *Reader) ask(ctx context.Context, file *File, place Place, offset int64, into []byte) error {
	service, err := r.services(file.server(place))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Patience)
	defer cancel()
	answer, err := service.ReadSegment(ctx, &sluicev1.ReadSegmentRequest{
		Segment: wire.EncodeSegmentID(file.segment(place)), OffsetBytes: uint64(offset), LengthBytes: uint32(len(into)),
	}, payload.Into(into))
	if err != nil {
		return err
	}
	if err := wire.DecodeBlockProblem(answer.GetProblem()); err != nil {
		return err
	}
	if n := take(answer.GetData(), into); n < len(into) {
		return segment.Failf(segment.Short, "%s ends at byte %d, before what was synced", file.segment(place), offset+int64(n))
	}
	return nil
}

// take has data in a buffer, where they mostly are already.
func take(data, into []byte) int {
	if len(data) > 0 && len(into) > 0 && &data[0] == &into[0] {
		return len(data)
	}
	return copy(into, data)
}
