package payload

import (
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// Numbers of fields in proto/sluice/v1/pool_blocks.proto.
const (
	requestSegment = 1
	requestEpoch   = 2
	requestAppend  = 3
	appendOffset   = 1
	appendData     = 2
)

// Request is a WriteSegmentsRequest whose bytes are in a buffer that is used again: RecvMsg of a stream of a server with
// ServerOptions takes one. Free ends its use, and is called before it is received into again.
type Request struct {
	sluicev1.WriteSegmentsRequest
	buffer mem.Buffer
}

// Free gives the buffer back. What was got from the request is not to be used any more.
func (r *Request) Free() {
	if r.buffer != nil {
		r.buffer.Free()
		r.buffer = nil
	}
	r.WriteSegmentsRequest.Reset()
}

// marshalAppend puts the data last, after all that comes before them.
func marshalAppend(request *sluicev1.WriteSegmentsRequest, data []byte) (mem.BufferSlice, error) {
	head, err := proto.Marshal(&sluicev1.WriteSegmentsRequest{Segment: request.GetSegment(), Epoch: request.GetEpoch()})
	if err != nil {
		return nil, err
	}
	var within []byte
	if offset := request.GetAppend().GetOffsetBytes(); offset > 0 {
		within = protowire.AppendTag(within, appendOffset, protowire.VarintType)
		within = protowire.AppendVarint(within, offset)
	}
	within = protowire.AppendTag(within, appendData, protowire.BytesType)
	within = protowire.AppendVarint(within, uint64(len(data)))
	head = protowire.AppendTag(head, requestAppend, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(within)+len(data)))
	return mem.BufferSlice{mem.SliceBuffer(append(head, within...)), mem.SliceBuffer(data)}, nil
}

func (c codec) unmarshalRequest(encoded mem.BufferSlice, request *Request) error {
	request.Free()
	buffer := encoded.MaterializeToBuffer(pool)
	if splitAppend(buffer.ReadOnlyData(), &request.WriteSegmentsRequest) {
		request.buffer = buffer
		return nil
	}
	defer buffer.Free()
	request.Reset()
	return c.CodecV2.Unmarshal(encoded, &request.WriteSegmentsRequest)
}

// splitAppend reads a request to append whose data are the last of it, and has it refer to them where they are. What is
// otherwise is not read.
func splitAppend(encoded []byte, request *sluicev1.WriteSegmentsRequest) bool {
	head, rest := takeHead(encoded)
	within, isLast := takeLast(rest, requestAppend)
	if !isLast || proto.Unmarshal(head, request) != nil {
		return false
	}
	added := &sluicev1.AppendBytes{}
	if number, kind, n := protowire.ConsumeTag(within); n > 0 && number == appendOffset && kind == protowire.VarintType {
		offset, size := protowire.ConsumeVarint(within[n:])
		if size < 0 {
			return false
		}
		added.OffsetBytes, within = offset, within[n+size:]
	}
	if added.Data, isLast = takeLast(within, appendData); !isLast {
		return false
	}
	request.Change = &sluicev1.WriteSegmentsRequest_Append{Append: added}
	return true
}

// takeHead gives the fields of a request that say where, and what follows them.
func takeHead(encoded []byte) (head, rest []byte) {
	rest = encoded
	for len(rest) > 0 {
		number, _, n := protowire.ConsumeField(rest)
		if n < 0 || number != requestSegment && number != requestEpoch {
			break
		}
		rest = rest[n:]
	}
	return encoded[:len(encoded)-len(rest)], rest
}

// takeLast gives what a field of bytes has, if it is the only one that is left.
func takeLast(encoded []byte, field protowire.Number) (content []byte, isLast bool) {
	number, kind, n := protowire.ConsumeTag(encoded)
	if n < 0 || number != field || kind != protowire.BytesType {
		return nil, false
	}
	content, size := protowire.ConsumeBytes(encoded[n:])
	return content, size >= 0 && n+size == len(encoded)
}
