package blocks

import (
	"errors"
	"io"
	"sync"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/payload"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/wire"
)

// mostBegun bounds the requests of a stream that have no answer yet.
const mostBegun = 64

// WriteSegments does requests until the caller ends or one fails. Those of a segment follow each other; while one segment
// is brought to the disk others go on, so that the disk has all of a file's at once.
func (s *Server) WriteSegments(stream sluicev1.BlockService_WriteSegmentsServer) error {
	w := &writes{server: s, stream: stream, busy: make(map[segment.ID]*write), begun: make(chan *write, mostBegun)}
	go w.receive()
	defer w.end()
	return w.answer()
}

// write is a request that was begun.
type write struct {
	// done is closed when the rest is known.
	done    chan struct{}
	length  int64
	failure error
	// broken is why there is no request.
	broken error
}

func (w *write) finish(length int64, failure error) {
	w.length, w.failure = length, failure
	close(w.done)
}

// writes are those of a stream.
type writes struct {
	server *Server
	stream sluicev1.BlockService_WriteSegmentsServer
	// begun are in the order in which they came, and are answered.
	begun chan *write
	// busy are the last ones that bring a segment to the disk.
	busy map[segment.ID]*write

	// beginning is held while a request is begun: none is once the stream has ended.
	beginning sync.Mutex
	hasEnded  bool
	running   sync.WaitGroup
}

func (w *writes) receive() {
	defer close(w.begun)
	request := &payload.Request{}
	defer request.Free()
	for {
		err := w.stream.RecvMsg(request)
		if errors.Is(err, io.EOF) {
			return
		}
		next := &write{done: make(chan struct{}), broken: err}
		isLast := !w.begin(next, &request.WriteSegmentsRequest)
		select {
		case w.begun <- next:
		case <-w.stream.Context().Done():
			return
		}
		if isLast {
			return
		}
	}
}

// begin does a request, or has it done, and says whether another one may follow.
func (w *writes) begin(next *write, request *sluicev1.WriteSegmentsRequest) bool {
	w.beginning.Lock()
	defer w.beginning.Unlock()
	if w.hasEnded || next.broken != nil {
		close(next.done)
		return false
	}
	id, err := wire.DecodeSegmentID(request.GetSegment())
	if err != nil {
		next.finish(0, err)
		return false
	}
	if before := w.busy[id]; before != nil {
		<-before.done
		delete(w.busy, id)
	}
	if request.GetSync() == nil && request.GetSeal() == nil {
		next.finish(w.server.write(id, request.GetEpoch(), request.GetChange()))
		return next.failure == nil
	}
	w.busy[id] = next
	epoch, change := request.GetEpoch(), request.GetChange()
	w.running.Go(func() { next.finish(w.server.write(id, epoch, change)) })
	return true
}

// answer tells what has become of the requests, up to the first that has failed.
func (w *writes) answer() error {
	for each := range w.begun {
		<-each.done
		if each.broken != nil {
			return each.broken
		}
		answer := &sluicev1.WriteSegmentsResponse{LengthBytes: uint64(each.length), Problem: wire.EncodeBlockProblem(each.failure)}
		if err := w.stream.Send(answer); err != nil {
			return err
		}
		if each.failure != nil {
			return nil
		}
	}
	return nil
}

// end waits for what was begun.
func (w *writes) end() {
	w.beginning.Lock()
	w.hasEnded = true
	w.beginning.Unlock()
	w.running.Wait()
}
