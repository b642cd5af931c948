package wire

import (
	"errors"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/store"
)

var blockFailures = map[sluicev1.BlockFailure]segment.Reason{
	sluicev1.BlockFailure_BLOCK_FAILURE_FENCED:    segment.Fenced,
	sluicev1.BlockFailure_BLOCK_FAILURE_SEALED:    segment.Sealed,
	sluicev1.BlockFailure_BLOCK_FAILURE_SHORT:     segment.Short,
	sluicev1.BlockFailure_BLOCK_FAILURE_DIFFERENT: segment.Different,
	sluicev1.BlockFailure_BLOCK_FAILURE_NOT_FOUND: segment.NotFound,
	sluicev1.BlockFailure_BLOCK_FAILURE_FULL:      segment.Full,
	sluicev1.BlockFailure_BLOCK_FAILURE_CORRUPT:   segment.Corrupt,
	sluicev1.BlockFailure_BLOCK_FAILURE_DEVICE:    segment.Device,
	sluicev1.BlockFailure_BLOCK_FAILURE_INVALID:   segment.Invalid,
}

// EncodeSegmentID gives the name of a segment.
func EncodeSegmentID(id segment.ID) *sluicev1.SegmentId {
	return &sluicev1.SegmentId{FileId: id.File[:], Slot: uint32(id.Slot), Copy: uint32(id.Copy)}
}

// DecodeSegmentID reads and checks the name of a segment.
func DecodeSegmentID(message *sluicev1.SegmentId) (segment.ID, error) {
	file, err := DecodeFileID(message.GetFileId())
	if err != nil {
		return segment.ID{}, err
	}
	if message.GetSlot() >= segment.MaxSlots || message.GetCopy() >= layout.MaxCopies {
		return segment.ID{}, store.Invalidf("slot %d of copy %d: a file has at most %d slots of %d copies",
			message.GetSlot(), message.GetCopy(), segment.MaxSlots, layout.MaxCopies)
	}
	return segment.ID{File: file, Slot: int(message.GetSlot()), Copy: int(message.GetCopy())}, nil
}

// DecodeFileID reads and checks the id of a file.
func DecodeFileID(raw []byte) (layout.FileID, error) {
	if len(raw) != layout.FileIDBytes {
		return layout.FileID{}, store.Invalidf("the id of a file has %d bytes, not %d", layout.FileIDBytes, len(raw))
	}
	return layout.FileID(raw), nil
}

// DecodeBlockOffset reads and checks a place in a segment.
func DecodeBlockOffset(offset uint64) (int64, error) {
	const most = 1 << 62
	if offset > most {
		return 0, store.Invalidf("there is no byte %d in a segment", offset)
	}
	return int64(offset), nil
}

// EncodeBlockProblem gives why a request was not done, or nothing. What is no failure of a segment is one of
// the request.
func EncodeBlockProblem(err error) *sluicev1.BlockProblem {
	if err == nil {
		return nil
	}
	reason := segment.Invalid
	var failure *segment.Failure
	if errors.As(err, &failure) {
		reason = failure.Reason
	}
	return &sluicev1.BlockProblem{Failure: encodeName(blockFailures, reason), Detail: sentence(err.Error())}
}

// DecodeBlockProblem reads why a request was not done; nil says that it was. A reason that is not known here,
// of a newer node, is one of its device.
func DecodeBlockProblem(message *sluicev1.BlockProblem) error {
	if message == nil {
		return nil
	}
	reason, known := blockFailures[message.GetFailure()]
	if !known {
		reason = segment.Device
	}
	return segment.Failf(reason, "%s", sentence(message.GetDetail()))
}

// EncodeSegmentState gives what a node knows of a segment.
func EncodeSegmentState(state segment.State) *sluicev1.SegmentState {
	return &sluicev1.SegmentState{
		Segment: EncodeSegmentID(state.ID), LengthBytes: uint64(state.Length), Sealed: state.Sealed, Epoch: state.Epoch,
		Damaged: state.Damaged,
	}
}

// DecodeSegmentState reads and checks what a node knows of a segment.
func DecodeSegmentState(message *sluicev1.SegmentState) (segment.State, error) {
	id, err := DecodeSegmentID(message.GetSegment())
	if err != nil {
		return segment.State{}, err
	}
	length, err := DecodeBlockOffset(message.GetLengthBytes())
	return segment.State{
		ID: id, Length: length, Sealed: message.GetSealed(), Epoch: message.GetEpoch(), Damaged: message.GetDamaged(),
	}, err
}
