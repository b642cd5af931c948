// Package payload has the bytes of segments go over the network with as few copies of them as there can be: its codec
// is gRPC's for protobuf, and writes and reads the same messages, but handles the bytes in some of them by itself.
package payload

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// Into has the answer to ReadSegment read into a buffer, if its data fit there: they are the begin of it then.
func Into(buffer []byte) grpc.CallOption {
	return grpc.ForceCodecV2(codec{CodecV2: encoding.GetCodecV2(proto.Name), into: buffer})
}

func newCodec() codec {
	return codec{CodecV2: encoding.GetCodecV2(proto.Name)}
}

type codec struct {
	encoding.CodecV2
	into []byte
}

// Marshal does not copy the data of AppendBytes, which must stay as they are until they were sent, and not those of
// ReadSegmentResponse, which are given away.
func (c codec) Marshal(message any) (mem.BufferSlice, error) {
	switch message := message.(type) {
	case *sluicev1.WriteSegmentsRequest:
		if data := message.GetAppend().GetData(); len(data) > 0 {
			return marshalAppend(message, data)
		}
	case *sluicev1.ReadSegmentResponse:
		if len(message.GetData()) > 0 && message.GetProblem() == nil {
			return marshalRead(message.GetData()), nil
		}
	}
	return c.CodecV2.Marshal(message)
}

// Unmarshal leaves messages that are not as Marshal makes them to the library.
func (c codec) Unmarshal(encoded mem.BufferSlice, message any) error {
	switch message := message.(type) {
	case *Request:
		return c.unmarshalRequest(encoded, message)
	case *sluicev1.ReadSegmentResponse:
		if c.into != nil && unmarshalRead(encoded, message, c.into) {
			return nil
		}
	}
	return c.CodecV2.Unmarshal(encoded, message)
}
