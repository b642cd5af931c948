package stripe

import (
	"context"
	"fmt"
	"sync"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/wire"
)

// Lost is told of a segment that will not have all of the file, before anything is called synced that it
// lacks. An error of it ends the writer: nobody would know that the segment is not to be read.
type Lost func(ctx context.Context, place Place, cause error) error

// Writer adds bytes to a new file. Append does not wait for servers unless they have much to do; Sync and
// Seal do. Its methods may be called at the same time.
type Writer struct {
	file  File
	epoch uint64
	ctx   context.Context
	lost  Lost
	size  int

	// syncing lets one after the other sync: who finds nothing left to sync must not be first to return.
	syncing sync.Mutex

	mutex    sync.Mutex
	channels map[string]*channel
	live     []Place
	// dirty are the segments with bytes since the last sync.
	dirty  map[Place]bool
	length int64
	// isEnded says that the file was to be sealed with what it had.
	isEnded bool
	// failure ends the writer.
	failure error
}

// NewWriter begins a file, of which the servers have nothing yet. The context bounds all that the writer does.
func NewWriter(ctx context.Context, file File, epoch uint64, services Services, options Options, lost Lost) (*Writer, error) {
	if err := file.check(); err != nil {
		return nil, err
	}
	w := &Writer{
		file: file, epoch: epoch, ctx: ctx, lost: lost, size: options.RequestBytes,
		channels: make(map[string]*channel), live: file.places(), dirty: make(map[Place]bool),
	}
	for _, place := range w.live {
		node := file.server(place)
		if w.channels[node] != nil {
			continue
		}
		service, err := services(node)
		if err != nil {
			w.Close()
			return nil, err
		}
		w.channels[node] = newChannel(ctx, node, service, options)
	}
	return w, nil
}

// Append adds bytes at the end. They are the servers' after Sync or Seal alone.
func (w *Writer) Append(data []byte) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.isEnded {
		// Servers would refuse it, and be taken for lost, with what they have sealed.
		return fmt.Errorf("the file %s is sealed, or is being sealed: nothing can be added", w.file.ID)
	}
	for len(data) > 0 {
		part := data[:min(len(data), w.size)]
		if err := w.add(part); err != nil {
			return err
		}
		data = data[len(part):]
	}
	return w.failure
}

func (w *Writer) add(data []byte) error {
	kept := append([]byte{}, data...)
	for _, piece := range w.file.Stripes.Pieces(w.length, int64(len(data))) {
		begin := piece.FileOffset - w.length
		added := &sluicev1.WriteSegmentsRequest_Append{Append: &sluicev1.AppendBytes{
			OffsetBytes: uint64(piece.SegmentOffset), Data: kept[begin : begin+piece.Bytes],
		}}
		for _, place := range w.of(piece.Slot) {
			w.dirty[place] = true
			_, err := w.push(place, &sluicev1.WriteSegmentsRequest{Change: added})
			if err = w.judge(place, err); err != nil {
				return err
			}
		}
	}
	w.length += int64(len(data))
	return nil
}

// of gives the live segments of a slot.
func (w *Writer) of(slot int) []Place {
	var places []Place
	for _, place := range w.live {
		if place.Slot == slot {
			places = append(places, place)
		}
	}
	return places
}

func (w *Writer) push(place Place, request *sluicev1.WriteSegmentsRequest) (uint64, error) {
	request.Segment, request.Epoch = wire.EncodeSegmentID(w.file.segment(place)), w.epoch
	return w.channels[w.file.server(place)].push(request)
}

// judge says whether a writer can go on after a segment has failed, without it.
func (w *Writer) judge(place Place, err error) error {
	if err == nil || w.failure != nil {
		return w.failure
	}
	if w.failure = w.goOnWithout(place, err); w.failure != nil {
		w.closeChannels()
	}
	return w.failure
}

func (w *Writer) goOnWithout(place Place, cause error) error {
	if segment.ReasonOf(cause) == segment.Fenced {
		return fmt.Errorf("another writer has taken the file %s over: %w", w.file.ID, cause)
	}
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	var others []Place
	for _, other := range w.live {
		if other != place {
			others = append(others, other)
		}
	}
	if len(others) == len(w.live) {
		return nil
	}
	w.live = others
	if len(w.of(place.Slot)) == 0 {
		return fmt.Errorf("no server is left that can be written slot %d of the file %s to: %w", place.Slot, w.file.ID, cause)
	}
	if err := w.lost(w.ctx, place, cause); err != nil {
		return fmt.Errorf("tell that a copy of the file %s was lost: %w", w.file.ID, err)
	}
	delete(w.dirty, place)
	return nil
}

// Sync returns when all that was appended before is on the disks of all servers that are not lost.
func (w *Writer) Sync() (length int64, err error) {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.mutex.Lock()
	length = w.length
	pushed, err := w.pushAll(w.dirty, func(Place) *sluicev1.WriteSegmentsRequest {
		return &sluicev1.WriteSegmentsRequest{Change: &sluicev1.WriteSegmentsRequest_Sync{Sync: &sluicev1.SyncSegment{}}}
	})
	clear(w.dirty)
	w.mutex.Unlock()
	if err != nil {
		return 0, err
	}
	return length, w.await(pushed)
}

// Seal ends the file with the length that it has, on the disks of all servers that are not lost. Slots that no byte has
// come to have no segments.
func (w *Writer) Seal() (length int64, err error) {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.mutex.Lock()
	w.isEnded = true
	length = w.length
	all := make(map[Place]bool)
	for _, place := range w.live {
		if w.file.Stripes.SegmentBytes(length, place.Slot) > 0 {
			all[place] = true
		}
	}
	pushed, err := w.pushAll(all, func(place Place) *sluicev1.WriteSegmentsRequest {
		end := &sluicev1.SealSegment{LengthBytes: uint64(w.file.Stripes.SegmentBytes(length, place.Slot))}
		return &sluicev1.WriteSegmentsRequest{Change: &sluicev1.WriteSegmentsRequest_Seal{Seal: end}}
	})
	w.mutex.Unlock()
	if err != nil {
		return 0, err
	}
	return length, w.await(pushed)
}

func (w *Writer) pushAll(places map[Place]bool, request func(Place) *sluicev1.WriteSegmentsRequest) (map[Place]uint64, error) {
	pushed := make(map[Place]uint64)
	for place := range places {
		number, err := w.push(place, request(place))
		if err != nil {
			if err := w.judge(place, err); err != nil {
				return nil, err
			}
			continue
		}
		pushed[place] = number
	}
	return pushed, w.failure
}

// await waits for the answers to requests.
func (w *Writer) await(pushed map[Place]uint64) error {
	for place, number := range pushed {
		err := w.channels[w.file.server(place)].wait(number)
		w.mutex.Lock()
		err = w.judge(place, err)
		w.mutex.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// Close gives the file up as it is. It is to be called after Seal as well.
func (w *Writer) Close() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.failure == nil {
		w.failure = fmt.Errorf("the writer of the file %s is closed", w.file.ID)
	}
	w.closeChannels()
}

func (w *Writer) closeChannels() {
	for _, channel := range w.channels {
		channel.close()
	}
}
