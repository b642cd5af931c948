package payload

import (
	"encoding/binary"
	"io"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// readData is the number of the field in proto/sluice/v1/pool_blocks.proto.
const readData = 1

func marshalRead(data []byte) mem.BufferSlice {
	head := protowire.AppendTag(nil, readData, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(data)))
	return mem.BufferSlice{mem.SliceBuffer(head), mem.NewBuffer(&data, pool)}
}

// unmarshalRead reads an answer that has data alone, which fit into a buffer. What is otherwise is not read.
func unmarshalRead(encoded mem.BufferSlice, answer *sluicev1.ReadSegmentResponse, into []byte) bool {
	reader := encoded.Reader()
	defer func() { _ = reader.Close() }()
	tag, err := binary.ReadUvarint(reader)
	if err != nil || tag != protowire.EncodeTag(readData, protowire.BytesType) {
		return false
	}
	length, err := binary.ReadUvarint(reader)
	if err != nil || length != uint64(reader.Remaining()) || length > uint64(len(into)) {
		return false
	}
	answer.Data = into[:length]
	_, err = io.ReadFull(reader, answer.Data)
	return err == nil
}
