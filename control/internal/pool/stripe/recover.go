package stripe

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/wire"
)

// recovery ends a file whose writer is gone.
type recovery struct {
	file     File
	epoch    uint64
	services Services
	options  Options
	// length is what segments are sealed for, 0 while they are fenced.
	length int64

	mutex   sync.Mutex
	lengths map[Place]int64
	failed  map[Place]error
}

// Recover ends a file whose writer is gone: it fences all segments, and seals them with as much of the file as
// every copy has, which is at least what was synced. Segments that have less, or cannot be reached, are lost.
// It returns the length of the file, and may be called again if it has failed.
func Recover(
	ctx context.Context, file File, epoch uint64, synced int64, services Services, options Options, lost Lost,
) (int64, error) {
	if err := file.check(); err != nil {
		return 0, err
	}
	r := &recovery{file: file, epoch: epoch, services: services, options: options}
	if err := r.ask(ctx, file.places(), func(Place) *sluicev1.WriteSegmentsRequest {
		return &sluicev1.WriteSegmentsRequest{Change: &sluicev1.WriteSegmentsRequest_Fence{Fence: &sluicev1.FenceSegment{}}}
	}); err != nil {
		return 0, err
	}
	for place, length := range r.lengths {
		if needed := file.Stripes.SegmentBytes(synced, place.Slot); length < needed {
			delete(r.lengths, place)
			r.failed[place] = segment.Failf(segment.Short, "%s has %d bytes of the %d that were synced", file.segment(place), length, needed)
		}
	}
	length, err := r.common()
	if err != nil {
		return 0, err
	}
	// What is cut off is gone: lengths that cannot be, as of a server with a fault, must not come to that.
	if length < synced {
		return 0, fmt.Errorf("the servers' lengths of the file %s come to %d bytes, of which %d were synced", file.ID, length, synced)
	}
	return length, r.seal(ctx, length, lost)
}

// common is how long the file is in all copies of all slots.
func (r *recovery) common() (int64, error) {
	shortest := make([]int64, r.file.Stripes.Slots)
	for slot := range shortest {
		shortest[slot] = -1
	}
	for place, length := range r.lengths {
		if known := shortest[place.Slot]; known < 0 || length < known {
			shortest[place.Slot] = length
		}
	}
	for slot, length := range shortest {
		if length < 0 {
			return 0, fmt.Errorf("no server has slot %d of the file %s: %w", slot, r.file.ID, errors.Join(r.causes(slot)...))
		}
	}
	return r.file.Stripes.FileBytes(shortest), nil
}

func (r *recovery) causes(slot int) []error {
	var causes []error
	for place, cause := range r.failed {
		if place.Slot == slot {
			causes = append(causes, fmt.Errorf("%s: %w", r.file.server(place), cause))
		}
	}
	return causes
}

// seal tells of the lost segments before anybody can read the file as a sealed one.
func (r *recovery) seal(ctx context.Context, length int64, lost Lost) error {
	var live []Place
	for place := range r.lengths {
		live = append(live, place)
	}
	missing := r.failed
	r.length = length
	if err := r.ask(ctx, live, func(place Place) *sluicev1.WriteSegmentsRequest {
		end := &sluicev1.SealSegment{LengthBytes: uint64(r.file.Stripes.SegmentBytes(length, place.Slot))}
		return &sluicev1.WriteSegmentsRequest{Change: &sluicev1.WriteSegmentsRequest_Seal{Seal: end}}
	}); err != nil {
		return err
	}
	for place, cause := range r.failed {
		missing[place] = cause
	}
	if _, err := r.common(); err != nil {
		return err
	}
	for place, cause := range missing {
		if err := lost(ctx, place, cause); err != nil {
			return fmt.Errorf("tell that a copy of the file %s was lost: %w", r.file.ID, err)
		}
	}
	return nil
}

// ask has each segment's server do something, and notes the length of the segment then, or why it failed. It
// is an error that another writer has the file.
func (r *recovery) ask(ctx context.Context, places []Place, request func(Place) *sluicev1.WriteSegmentsRequest) error {
	r.lengths, r.failed = make(map[Place]int64), make(map[Place]error)
	group, groupContext := errgroup.WithContext(ctx)
	for _, place := range places {
		group.Go(func() error {
			length, err := r.askOne(groupContext, place, request(place))
			return r.note(place, length, err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (r *recovery) note(place Place, length int64, err error) error {
	var failure *segment.Failure
	isFailure := errors.As(err, &failure)
	if isFailure && failure.Reason == segment.Fenced {
		return fmt.Errorf("another writer has taken the file %s over: %w", r.file.ID, err)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case err == nil:
		r.lengths[place] = length
	case isFailure && failure.Reason == segment.NotFound && r.file.Stripes.SegmentBytes(r.length, place.Slot) == 0:
		// Nothing has come to it yet. One that was fenced and is gone when it is to be sealed is lost.
		r.lengths[place] = 0
	case isFailure && failure.Reason == segment.Sealed:
		// Its writer, or a recovery before this one, has sealed more of it: what is beyond the file's end is never read.
		r.lengths[place] = length
	default:
		r.failed[place] = err
	}
	return nil
}

func (r *recovery) askOne(ctx context.Context, place Place, request *sluicev1.WriteSegmentsRequest) (int64, error) {
	service, err := r.services(r.file.server(place))
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Patience)
	defer cancel()
	stream, err := service.WriteSegments(ctx)
	if err != nil {
		return 0, err
	}
	request.Segment, request.Epoch = wire.EncodeSegmentID(r.file.segment(place)), r.epoch
	if err := stream.Send(request); err != nil {
		return 0, err
	}
	answer, err := stream.Recv()
	if err != nil {
		return 0, err
	}
	if err := wire.DecodeBlockProblem(answer.GetProblem()); err != nil {
		return 0, err
	}
	return wire.DecodeBlockOffset(answer.GetLengthBytes())
}
