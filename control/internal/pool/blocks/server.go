// Package blocks serves the segments of a node to the agents that read and write the files of a pool.
package blocks

import (
	"context"
	"errors"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/payload"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// filesInPage keeps a page of ListSegments far below the largest message, however many segments a file has.
const filesInPage = 16

// Server is BlockService.
type Server struct {
	sluicev1.UnimplementedBlockServiceServer
	segments *segment.Store
	metrics  *Metrics
	damaged  damaged
}

// NewServer serves the segments of a store.
func NewServer(segments *segment.Store, metrics *Metrics) *Server {
	return &Server{segments: segments, metrics: metrics, damaged: newDamaged()}
}

// write does what a request has as its change.
func (s *Server) write(id segment.ID, epoch uint64, change any) (int64, error) {
	switch change := change.(type) {
	case *sluicev1.WriteSegmentsRequest_Append:
		return s.add(id, epoch, change.Append)
	case *sluicev1.WriteSegmentsRequest_Sync:
		defer s.metrics.timeSync()()
		return s.segments.Sync(id, epoch)
	case *sluicev1.WriteSegmentsRequest_Seal:
		length, err := wire.DecodeBlockOffset(change.Seal.GetLengthBytes())
		if err != nil {
			return 0, err
		}
		defer s.metrics.timeSync()()
		return s.segments.Seal(id, epoch, length)
	case *sluicev1.WriteSegmentsRequest_Fence:
		return s.segments.Fence(id, epoch)
	}
	return 0, store.Invalidf("a request to write says neither append nor sync, seal or fence")
}

func (s *Server) add(id segment.ID, epoch uint64, bytes *sluicev1.AppendBytes) (int64, error) {
	offset, err := wire.DecodeBlockOffset(bytes.GetOffsetBytes())
	if err != nil {
		return 0, err
	}
	length, err := s.segments.Append(id, epoch, offset, bytes.GetData())
	if err == nil {
		s.metrics.wrote(len(bytes.GetData()))
	}
	return length, err
}

// ReadSegment reads what has been checked against its checksums.
func (s *Server) ReadSegment(_ context.Context, request *sluicev1.ReadSegmentRequest) (*sluicev1.ReadSegmentResponse, error) {
	id, err := wire.DecodeSegmentID(request.GetSegment())
	if err != nil {
		return nil, err
	}
	offset, err := wire.DecodeBlockOffset(request.GetOffsetBytes())
	if err != nil {
		return nil, err
	}
	if request.GetLengthBytes() > segment.MaxRequestBytes {
		return nil, store.Invalidf("%d bytes are asked for: at most %d are read at once", request.GetLengthBytes(), segment.MaxRequestBytes)
	}
	data := payload.Buffer(int(request.GetLengthBytes()))
	n, err := s.segments.Read(id, offset, data)
	s.metrics.read(n, err)
	return &sluicev1.ReadSegmentResponse{Data: data[:n], Problem: wire.EncodeBlockProblem(err)}, nil
}

// ListSegments lists a page of all segments, or those of one file.
func (s *Server) ListSegments(_ context.Context, request *sluicev1.ListSegmentsRequest) (*sluicev1.ListSegmentsResponse, error) {
	states, more, err := s.list(request)
	if err != nil {
		return nil, unavailable(err)
	}
	answer := &sluicev1.ListSegmentsResponse{More: more}
	for _, state := range states {
		state.Damaged = state.Damaged || s.damaged.has(state)
		answer.Segments = append(answer.Segments, wire.EncodeSegmentState(state))
	}
	return answer, nil
}

func (s *Server) list(request *sluicev1.ListSegmentsRequest) ([]segment.State, bool, error) {
	if len(request.GetFileId()) > 0 {
		file, err := wire.DecodeFileID(request.GetFileId())
		if err != nil {
			return nil, false, err
		}
		states, err := s.segments.ListFile(file)
		return states, false, err
	}
	var after layout.FileID
	if len(request.GetAfterFileId()) > 0 {
		var err error
		if after, err = wire.DecodeFileID(request.GetAfterFileId()); err != nil {
			return nil, false, err
		}
	}
	return s.segments.List(after, filesInPage)
}

// RemoveFile removes the segments of a file.
func (s *Server) RemoveFile(_ context.Context, request *sluicev1.RemoveFileRequest) (*sluicev1.RemoveFileResponse, error) {
	file, err := wire.DecodeFileID(request.GetFileId())
	if err != nil {
		return nil, err
	}
	removed, err := s.segments.Remove(file)
	if err != nil {
		return nil, unavailable(err)
	}
	return &sluicev1.RemoveFileResponse{Segments: uint32(removed)}, nil
}

// RemoveSegment removes one segment.
func (s *Server) RemoveSegment(_ context.Context, request *sluicev1.RemoveSegmentRequest) (*sluicev1.RemoveSegmentResponse, error) {
	id, err := wire.DecodeSegmentID(request.GetSegment())
	if err != nil {
		return nil, err
	}
	return &sluicev1.RemoveSegmentResponse{Problem: wire.EncodeBlockProblem(s.segments.RemoveOne(id, request.GetEpoch()))}, nil
}

// GetBlockSpace tells what the file system has left for the pool.
func (s *Server) GetBlockSpace(context.Context, *sluicev1.GetBlockSpaceRequest) (*sluicev1.GetBlockSpaceResponse, error) {
	total, free, err := s.segments.Space()
	if err != nil {
		return nil, unavailable(err)
	}
	return &sluicev1.GetBlockSpaceResponse{TotalBytes: uint64(total), FreeBytes: uint64(free)}, nil
}

// unavailable makes an error of calls of a failure of segments, which is always of the file system here.
func unavailable(err error) error {
	if reasonOf(err) == 0 {
		return err
	}
	return store.Errorf(store.CodeUnavailable, "%w", err).WithHint("Look at the node's disk and the log of its kernel.")
}

func reasonOf(err error) segment.Reason {
	var failure *segment.Failure
	if errors.As(err, &failure) {
		return failure.Reason
	}
	return 0
}
