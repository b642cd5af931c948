package stripe

import (
	"context"
	"fmt"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/wire"
)

// Remaking is a segment of a sealed file that is to be made anew.
type Remaking struct {
	// File is where its copies are: those that are not to be read are missing.
	File        File
	LengthBytes int64
	Place       Place
	// To is a server that has nothing of the segment.
	To string
	// Epoch is higher than all that the segment was written with.
	Epoch uint64
	// Pace returns once so many more bytes may be read and written.
	Pace func(ctx context.Context, bytes int64) error
}

// TargetFailure is why a segment could not be made on a server, and may be on another.
type TargetFailure struct{ Cause error }

// Error gives the cause.
func (f TargetFailure) Error() string { return f.Cause.Error() }

// Unwrap gives the cause.
func (f TargetFailure) Unwrap() error { return f.Cause }

// Remake reads a segment from the copies that there are, with their checksums compared, and writes it to a server. It
// is whole and sealed there, on the disk, when this returns.
func Remake(ctx context.Context, wanted Remaking, reader *Reader, services Services, options Options) error {
	service, err := services(wanted.To)
	if err != nil {
		return TargetFailure{Cause: err}
	}
	to := newChannel(ctx, wanted.To, service, options)
	defer to.close()
	add := func(offset int64, data []byte) error {
		_, err := wanted.push(to, &sluicev1.WriteSegmentsRequest{Change: &sluicev1.WriteSegmentsRequest_Append{
			Append: &sluicev1.AppendBytes{OffsetBytes: uint64(offset), Data: data},
		}})
		return targetFailed(ctx, err)
	}
	if err := wanted.read(ctx, reader, add); err != nil {
		return err
	}
	number, err := wanted.push(to, &sluicev1.WriteSegmentsRequest{Change: &sluicev1.WriteSegmentsRequest_Seal{
		Seal: &sluicev1.SealSegment{LengthBytes: uint64(wanted.bytes())},
	}})
	if err == nil {
		err = to.wait(number)
	}
	if err != nil {
		return targetFailed(ctx, err)
	}
	return wanted.confirm(ctx, service, options)
}

// Verify reads all of a segment from the copies that there are, with their checksums compared.
func Verify(ctx context.Context, wanted Remaking, reader *Reader) error {
	return wanted.read(ctx, reader, func(int64, []byte) error { return nil })
}

// read has something done with what the other copies have, one part after the other.
func (w Remaking) read(ctx context.Context, reader *Reader, do func(offset int64, data []byte) error) error {
	bytes := w.bytes()
	for offset := int64(0); offset < bytes; {
		inBlock := w.File.Stripes.BlockBytes - offset%w.File.Stripes.BlockBytes
		data := make([]byte, min(bytes-offset, inBlock, segment.MaxRequestBytes))
		if err := w.Pace(ctx, int64(len(data))); err != nil {
			return err
		}
		if n, err := reader.ReadAt(ctx, data, w.File.Stripes.FileOffset(w.Place.Slot, offset)); n < len(data) {
			return fmt.Errorf("read what is to be copied: %w", err)
		}
		if err := do(offset, data); err != nil {
			return err
		}
		offset += int64(len(data))
	}
	return nil
}

func (w Remaking) bytes() int64 {
	return w.File.Stripes.SegmentBytes(w.LengthBytes, w.Place.Slot)
}

func (w Remaking) push(to *channel, request *sluicev1.WriteSegmentsRequest) (uint64, error) {
	request.Segment, request.Epoch = wire.EncodeSegmentID(w.File.segment(w.Place)), w.Epoch
	return to.push(request)
}

// confirm has the server say that it has the segment with this epoch: one that somebody else had sealed before, under
// a lower one, might still be removed by them.
func (w Remaking) confirm(ctx context.Context, service sluicev1.BlockServiceClient, options Options) error {
	asked, cancel := context.WithTimeout(ctx, options.Patience)
	defer cancel()
	listed, err := service.ListSegments(asked, &sluicev1.ListSegmentsRequest{FileId: w.File.ID[:]})
	if err != nil {
		return targetFailed(ctx, err)
	}
	want := segment.State{ID: w.File.segment(w.Place), Length: w.bytes(), Sealed: true, Epoch: w.Epoch}
	for _, each := range listed.GetSegments() {
		if state, err := wire.DecodeSegmentState(each); err == nil && state == want {
			return nil
		}
	}
	return TargetFailure{Cause: fmt.Errorf("%s does not have %s sealed with epoch %d", w.To, want.ID, w.Epoch)}
}

// targetFailed takes the end of the caller's context for no failure of the server.
func targetFailed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return TargetFailure{Cause: err}
}
